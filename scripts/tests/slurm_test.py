"""`srun collmark sweep --backend mpi`: the program joins a job of a real Slurm, on this host alone."""

import os
import re
import signal
import unittest
from pathlib import Path

from cuda_support import stubbed
from cuda_test import SMALL
from mpi_support import ENDLESS, QUICK, MpiSweep, is_open_mpi, why_not
from program import PROGRAM
from slurm_support import Slurm
from sweep_support import record_of, rows_of


@unittest.skipUnless(not why_not() and is_open_mpi(), why_not() or "Open MPI's ranks find each other through PMIx")
class StartedBySrun(MpiSweep):
    @classmethod
    def setUpClass(cls):
        cls.slurm = Slurm()
        cls.addClassCleanup(cls.slurm.stop)
        if "pmix" not in cls.slurm.run("srun", "--mpi=list"):
            raise unittest.SkipTest("this Slurm has no plugin for PMIx")

    def environment(self, **changes):
        return super().environment(**self.slurm.variables, **changes)

    def srun(self, ranks, *words, manager="pmix", **changes):
        return self.run_program(*self.srun_words(ranks, *words, manager=manager), **changes)

    def srun_words(self, ranks, *words, manager="pmix"):
        return self.slurm.command("srun", f"--mpi={manager}", "-n", ranks, PROGRAM, *words)

    def process_of_rank(self, rank):
        for number, variables in self.processes().items():
            if variables.get("SLURM_PROCID") == str(rank):
                return number
        return None

    def test_rank_0_alone_prints_and_ranks_beyond_the_sweep_wait(self):
        done = self.srun(3, "sweep", *QUICK, "--ranks", "2", "--algorithm", "ring,library", "--csv", self.csv)
        self.assert_exit(done, 0)
        self.assertEqual(len(rows_of(self.csv)), 4)
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})
        self.assertEqual(len(re.findall(r"^ranks +size", done.stdout, re.MULTILINE)), 1, done.stdout)
        self.assertTrue(record_of(self.csv)["complete"])

    def test_links_join_too(self):
        done = self.srun(2, "links", "--backend", "mpi", "--csv", self.csv)
        self.assert_exit(done, 0)
        self.assertEqual({(row["first"], row["second"]) for row in rows_of(self.csv)}, {("0", "1"), ("1", "0")})

    def on_gpus(self, *words):
        """Three tasks of a step, each with a GPU of the stub driver."""
        sweep = ["sweep", *SMALL, "--ranks", "3", "--sizes", "1K", "--algorithm", "ring,two_shot", "--csv", self.csv]
        command = self.slurm.command("srun", "--mpi=pmix", "-n", 3, *words, PROGRAM, *sweep)
        self.assert_exit(self.run_program(*command, **stubbed(devices=3)), 0)
        rows = rows_of(self.csv)
        self.assertEqual([(row["backend"], row["status"], row["devices"]) for row in rows], [("cuda", "ok", "3")] * 2)
        for row in rows:
            self.assertEqual((row["wrong"], row["wire_bytes_busiest"]), ("0", row["wire_bytes_formula"]), row)
            self.assertTrue(row["tuning"].startswith("processes=3 "), row)
        gpus = {line.split(": ", 1)[1] for line in record_of(self.csv)["devices"]}
        self.assertEqual(len(gpus), 3, gpus)

    def test_tasks_take_a_gpu_each_and_share_their_memory(self):
        self.on_gpus()

    def test_tasks_that_see_one_gpu_each_share_its_memory_too(self):
        self.on_gpus("sh", "-c", 'COLLMARK_STUB_VISIBLE=$SLURM_PROCID exec "$0" "$@"')

    def test_ranks_that_cannot_find_each_other_are_refused_instead_of_running_as_copies(self):
        flags = ["sweep", *QUICK, "--algorithm", "ring", "--csv", self.csv]
        done = self.srun(2, *flags, manager="none")
        self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)
        self.assertIn("--mpi=pmix", done.stderr)
        other = self.srun(2, *flags, manager="pmi2")  # of which Debian's Open MPI knows nothing, and says so
        self.assertNotEqual(other.returncode, 0)
        self.assertEqual(other.stdout, "")
        self.assertFalse(self.csv.exists())

    def test_what_joins_no_job_refuses_to_run_as_copies(self):
        done = self.srun(2, "sweep", "--algorithm", "ring", "--sizes", "8")
        self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
        self.assertIn("rank 0 of 2 by srun (SLURM_STEP_NUM_TASKS=2)", done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)

    def test_a_mistake_is_told_once(self):
        done = self.srun(3, "sweep", *QUICK, "--algorithm", "ring", "--csv", "/no/such/folder/x.csv")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)

    def test_a_hang_is_told_by_rank_0_and_its_row_is_kept(self):
        done = self.srun(3, "sweep", *QUICK, "--ranks", "3", "--algorithm", "library", "--timeout", "0.5", "--csv",
                         self.csv, COLLMARK_TEST_ABSENT_RANK="1")  # fmt: skip
        self.assertNotEqual(done.returncode, 0)  # 7, unless Slurm replaces it
        (row,) = rows_of(self.csv)
        self.assertEqual(row["status"], "failed")
        self.assertIn("in MPI_Allreduce", row["reason"])

    def started(self):
        """An endless sweep of which some rows are written."""
        sweep = self.start(*self.srun_words(2, "sweep", *ENDLESS, "--csv", self.csv))
        self.wait_for_rows(2)
        return sweep

    def assert_finished_rows_are_kept(self):
        self.assert_nobody_left()
        self.assert_whole_rows()
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})
        self.assertFalse(record_of(self.csv)["complete"])

    def test_a_killed_rank_is_named_by_slurm_and_finished_rows_are_kept(self):
        sweep = self.started()
        os.kill(self.process_of_rank(1), signal.SIGKILL)
        _, said = sweep.communicate(timeout=60)
        self.assertNotEqual(sweep.returncode, 0)
        self.assertRegex(said, "task 1: Killed")
        self.assert_finished_rows_are_kept()

    def test_an_interrupted_job_says_how_far_it_came(self):
        sweep = self.started()
        self.slurm.run("scancel", "--signal=INT", self.slurm.run("squeue", "--noheader", "--format=%i") + ".0")
        _, said = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 130, said)
        self.assertRegex(said, r"collmark: interrupted; \d+ of \d+ rows are in")
        self.assert_finished_rows_are_kept()

    def test_a_cancelled_job_leaves_finished_rows_and_nobody_behind(self):
        sweep = self.started()
        self.slurm.run("scancel", self.slurm.run("squeue", "--noheader", "--format=%i"))
        _, said = sweep.communicate(timeout=60)
        self.assertNotEqual(sweep.returncode, 0, said)
        self.assert_finished_rows_are_kept()

    def test_a_batch_script_is_launched_by_nobody_and_starts_mpirun_itself(self):
        script = Path(self.folder.name) / "job.sh"
        flags = f"--sizes 8 --algorithm ring --ranks 2 -n 5 --csv {self.csv}"
        script.write_text(
            f"#!/bin/sh\nset -e\n{PROGRAM} sweep {flags}\n{PROGRAM} sweep --backend mpi --append {flags}\n"
        )
        said = Path(self.folder.name) / "said"
        batch = ["sbatch", "--wait", "--quiet", "--ntasks=2", f"--output={said}", script]
        done = self.run_program(*self.slurm.command(*batch))
        self.assertEqual(done.returncode, 0, said.read_text() if said.exists() else done.stderr)
        self.assertEqual([row["backend"] for row in rows_of(self.csv)], ["threads", "mpi"])
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})


if __name__ == "__main__":
    unittest.main()
