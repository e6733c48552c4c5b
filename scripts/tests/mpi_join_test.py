"""`mpirun collmark sweep --backend mpi`: the program joins a job that it has not started."""

import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

from mpi_support import ENDLESS, MPIRUN, QUICK, MpiSweep, each_behind_its_own, is_open_mpi
from program import PROGRAM
from sweep_support import record_of, rows_of


class StartedByMpirun(MpiSweep):
    def test_rank_0_alone_prints_and_ranks_beyond_the_sweep_wait(self):
        done = self.mpirun(4, *QUICK, "--ranks", "2", "--algorithm", "ring,library", "--csv", self.csv)
        self.assert_exit(done, 0)
        self.assertEqual(len(rows_of(self.csv)), 4)
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})
        self.assertEqual(len(re.findall(r"^ranks +size", done.stdout, re.MULTILINE)), 1, done.stdout)
        self.assertEqual(done.stdout.count("verified"), 4)
        self.assertTrue(record_of(self.csv)["complete"])

    def test_by_default_as_many_ranks_are_measured_as_there_are(self):
        self.assert_exit(self.mpirun(3, *QUICK, "--algorithm", "ring", "--csv", self.csv), 0)
        self.assertEqual({row["ranks"] for row in rows_of(self.csv)}, {"2", "3"})

    def test_more_ranks_than_were_launched_are_skipped_rows(self):
        done = self.mpirun(2, *QUICK, "--ranks", "2,3", "--algorithm", "ring", "--csv", self.csv)
        self.assert_exit(done, 0)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "ok" if row["ranks"] == "2" else "skipped")
        self.assertIn("needs 3 ranks, the job has 2", done.stdout)

    def test_a_job_of_one_rank_measures_one_rank(self):
        done = self.mpirun(1, *QUICK, "--ranks", "1", "--algorithm", "ring,library", "--csv", self.csv)
        self.assert_exit(done, 0)
        self.assert_exit(self.mpirun(1, *QUICK, "--ranks", "2", "--algorithm", "ring"), 6)

    def test_stdout_may_be_a_file(self):
        table = Path(self.folder.name) / "table.txt"
        with open(table, "w", encoding="utf-8") as file:
            done = subprocess.run([MPIRUN, "-n", "2", PROGRAM, "sweep", *QUICK, "--ranks", "2", "--algorithm", "ring"],
                                  stdout=file, stderr=subprocess.PIPE, timeout=120, check=False,
                                  env=self.environment())  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("\x1b", table.read_text())
        self.assertEqual(table.read_text().count("verified"), 2)

    def test_a_csv_that_cannot_be_opened_ends_the_whole_job(self):
        done = self.mpirun(3, *QUICK, "--ranks", "2", "--algorithm", "ring", "--csv", "/no/such/folder/x.csv")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)

    def test_a_mistake_is_told_once(self):
        done = self.mpirun(3, *QUICK, "--algorithm", "rign")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)

    def test_a_hang_is_told_by_rank_0_and_its_row_is_kept(self):
        done = self.mpirun(3, *QUICK, "--ranks", "3", "--algorithm", "library", "--timeout", "0.5", "--csv", self.csv,
                           COLLMARK_TEST_ABSENT_RANK="1")  # fmt: skip
        if is_open_mpi():  # Hydra ends with the signal by which it ends the other ranks
            self.assertEqual(done.returncode, 7, done.stderr)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        (row,) = rows_of(self.csv)
        self.assertIn("in MPI_Allreduce", row["reason"])

    def test_an_interrupt_keeps_finished_rows(self):
        sweep = self.start(MPIRUN, "-n", "2", PROGRAM, "sweep", *ENDLESS, "--csv", self.csv)
        self.wait_for_rows(2)
        sweep.send_signal(signal.SIGINT)
        sweep.communicate(timeout=60)
        if is_open_mpi():  # whose code may replace 130; Hydra's may be 0
            self.assertNotEqual(sweep.returncode, 0)
        self.assert_whole_rows()
        self.assertFalse(record_of(self.csv)["complete"])

    def test_a_killed_rank_costs_no_finished_row(self):
        sweep = self.start(MPIRUN, "-n", "2", PROGRAM, "sweep", *ENDLESS, "--csv", self.csv)
        self.wait_for_rows(2)
        os.kill(self.process_of_rank(1), signal.SIGKILL)
        _, said = sweep.communicate(timeout=60)
        self.assertNotEqual(sweep.returncode, 0, said)  # mpirun's own code may replace 8
        self.assert_nobody_left()
        self.assert_whole_rows()
        self.assertLessEqual({row["status"] for row in rows_of(self.csv)}, {"ok", "failed"})
        self.assertFalse(record_of(self.csv)["complete"])

    def bound(self, *core_lists):
        """The oversubscribed column of each number of ranks, of a job whose ranks may use those cores each."""
        tasksets = [["taskset", "-c", ",".join(map(str, cores))] for cores in core_lists]
        sweep = [PROGRAM, "sweep", *QUICK, "--ranks", "2:3", "--algorithm", "ring,library", "--csv", self.csv]
        self.csv.unlink(missing_ok=True)
        self.assert_exit(self.run_program(*each_behind_its_own(tasksets, *sweep)), 0)
        rows = rows_of(self.csv)
        self.assertEqual((len(rows), {row["status"] for row in rows}), (8, {"ok"}))
        return {(row["ranks"], row["oversubscribed"]) for row in rows}

    def test_ranks_on_different_counts_of_cores_agree_whether_they_take_turns(self):
        first, *others = sorted(os.sched_getaffinity(0))
        if not others:
            self.skipTest("needs two cores")
        two, one = [first, others[0]], [first]
        self.assertEqual(self.bound(two, one, one), {("2", "0"), ("3", "1")})
        self.assertEqual(self.bound(one, one, two), {("2", "1"), ("3", "1")})

    def test_a_launcher_of_another_mpi_is_refused(self):
        done = self.run_program(PROGRAM, "sweep", *QUICK, "--ranks", "2", "--csv", self.csv, PMI_SIZE="4", PMI_RANK="0")
        self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
        self.assertIn("rank 0 of 4", done.stderr)
        self.assertIn("a job of 1", done.stderr)
        self.assertFalse(self.csv.exists())


if __name__ == "__main__":
    unittest.main()
