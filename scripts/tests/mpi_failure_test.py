"""What remains of a sweep over MPI when a rank or the sweep itself is killed, hangs or is interrupted."""

import os
import signal
import unittest

from mpi_support import ENDLESS, LONG, MPIRUN, QUICK, MpiSweep, is_open_mpi, preloaded
from program import PROGRAM
from sweep_support import record_of, rows_of


class Failing(MpiSweep):
    def test_a_killed_rank_is_named_and_finished_rows_are_kept(self):
        for algorithms in ("ring,two_shot", "ring/window,two_shot/window"):
            with self.subTest(algorithms=algorithms):
                self.csv.unlink(missing_ok=True)
                self.assert_a_kill_is_told(*(algorithms if word == "ring,two_shot" else word for word in ENDLESS))

    def test_a_rank_that_never_comes_is_found_out(self):
        said = {"ring": "step", "ring/window": "for rank 1 to enter the operation", "library": "in MPI_Allreduce"}
        for algorithm, words in said.items():
            with self.subTest(algorithm=algorithm):
                self.csv.unlink(missing_ok=True)
                done = self.sweep(*QUICK, "--ranks", "3", "--algorithm", algorithm, "--timeout", "0.5", "--csv",
                                  self.csv, COLLMARK_TEST_ABSENT_RANK="1")  # fmt: skip
                self.assert_exit(done, 7)
                (row,) = rows_of(self.csv)
                self.assertEqual(row["status"], "failed")
                self.assertIn(words, row["reason"])
                self.assertRegex(row["reason"], r"[^;]*; rank 1 had said nothing 0.3 s later$")

    def test_a_rank_that_never_comes_is_named_in_a_job_that_was_joined(self):
        """Even if it is rank 0, who writes the row."""
        for absent, algorithm in ((1, "ring"), (1, "library"), (0, "ring"), (0, "library")):
            with self.subTest(absent=absent, algorithm=algorithm):
                self.csv.unlink(missing_ok=True)
                done = self.mpirun(3, *QUICK, "--ranks", 3, "--algorithm", algorithm, "--timeout", 1, "--csv",
                                   self.csv, COLLMARK_TEST_ABSENT_RANK=str(absent))  # fmt: skip
                self.assert_exit(done, 7)
                (row,) = rows_of(self.csv)
                self.assertEqual(row["status"], "failed")
                self.assertRegex(row["reason"], rf"rank [012] .*[^;]*; rank {absent} had said nothing \S+ s later$")

    def test_a_rank_that_is_stuck_between_operations_is_found_out(self):
        """Started by us, and in a job that was joined."""
        calls = ["MPI_Init_thread", "MPI_Comm_split", "MPI_Win_allocate_shared", "MPI_Win_free", "MPI_Comm_free"]
        flags = ["sweep", *QUICK, "--ranks", 3, "--algorithm", "ring", "--timeout", 1, "--csv", self.csv]
        preload = preloaded()
        for call in calls:
            stuck = {"COLLMARK_TEST_STUCK": f"{call}@1", "COLLMARK_TEST_START_MS": "3000"}
            for words in (
                [PROGRAM, *flags, "--launcher-args", preload],
                [MPIRUN, "-n", 3, *preload.split(), PROGRAM, *flags],
            ):
                with self.subTest(call=call, first=words[0]):
                    self.csv.unlink(missing_ok=True)
                    done = self.run_program(*words, **stuck)
                    self.assert_exit(done, 7)
                    self.assertRegex(done.stderr, r"rank \d has waited \d s (for|in) ")
                    if self.csv.exists():  # a job that is joined has none yet while it begins
                        self.assertNotEqual([row["status"] for row in rows_of(self.csv)][-1:], ["ok"])
                    self.assert_nobody_left()

    def test_a_rank_that_does_not_come_to_the_end_of_the_job_is_found_out(self):
        """Every row is there; what is late is MPI_Finalize."""
        flags = ["sweep", *QUICK, "--ranks", 2, "--algorithm", "ring", "--timeout", 1, "--csv", self.csv]
        preload = preloaded()
        for stuck in (0, 1):
            for words in (
                [PROGRAM, *flags, "--launcher-args", preload],
                [MPIRUN, "-n", 2, *preload.split(), PROGRAM, *flags],
            ):
                with self.subTest(stuck=stuck, first=words[0]):
                    self.csv.unlink(missing_ok=True)
                    done = self.run_program(*words, COLLMARK_TEST_STUCK=f"MPI_Finalize@{stuck}")
                    if words[0] == PROGRAM or is_open_mpi():
                        self.assertEqual(done.returncode, 7, done.stderr)
                    self.assertNotEqual(done.returncode, 0, done.stderr)
                    self.assertRegex(done.stderr, r"collmark: rank \d has waited 5 s in MPI_Finalize")
                    self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})
                    self.assertTrue(record_of(self.csv)["complete"])
                    self.assert_nobody_left()

    def test_ranks_that_do_not_come_to_the_end_of_one_launch_begin_no_other(self):
        flags = [*QUICK, "--ranks", 2, "--algorithm", "ring", "--launches", 2, "--timeout", 1, "--csv", self.csv]
        done = self.sweep(*flags, "--launcher-args", preloaded(), COLLMARK_TEST_STUCK="MPI_Finalize@1")
        self.assert_exit(done, 7)
        self.assertRegex(done.stderr, r"collmark: rank \d has waited 5 s in MPI_Finalize")
        self.assertEqual({(row["launch"], row["status"]) for row in rows_of(self.csv)}, {("0", "ok")})
        self.assertFalse(record_of(self.csv)["complete"])

    def test_links_are_told_though_a_rank_does_not_come_to_the_end_of_the_job(self):
        flags = ["links", "--backend", "mpi", "--size", "64K", "--timeout", 1, "--csv", self.csv]
        preload = preloaded()
        for words in (
            [PROGRAM, *flags, "--ranks", 2, "--launcher-args", preload],
            [MPIRUN, "-n", 2, *preload.split(), PROGRAM, *flags],
        ):
            with self.subTest(first=words[0]):
                done = self.run_program(*words, COLLMARK_TEST_STUCK="MPI_Finalize@1")
                if words[0] == PROGRAM or is_open_mpi():
                    self.assertEqual(done.returncode, 7, done.stderr)
                self.assertRegex(done.stderr, r"collmark: rank \d has waited 5 s in MPI_Finalize")
                self.assertEqual(len(rows_of(self.csv)), 2)
                self.csv.unlink()
                self.assert_nobody_left()

    def test_the_links_of_the_models_may_take_longer_than_any_single_wait(self):
        """14 round trips of 2 messages of 80 ms are 2.2 s, and rank 2 waits for their end."""
        done = self.sweep(*QUICK, "--ranks", 3, "--algorithm", "ring", "--timeout", 1, "--csv", self.csv,
                          "--launcher-args", preloaded(), COLLMARK_TEST_SLOW_MS="80")  # fmt: skip
        self.assert_exit(done, 0)
        for row in rows_of(self.csv):
            self.assertGreater(float(row["model_us"]), 0)

    def test_a_rank_that_is_none_of_the_case_and_keeps_it_from_beginning_is_named(self):
        """All ranks of a job that was joined take part in forming the group of some."""
        if not is_open_mpi():
            self.skipTest("the test finds ranks by Open MPI's variables")
        sweep = self.start(MPIRUN, "-n", "3", PROGRAM, "sweep", *ENDLESS, "--timeout", "1", "--csv", self.csv)
        self.wait_for_rows(2)
        os.kill(self.process_of_rank(2), signal.SIGSTOP)
        _, said = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 7, said)
        reason = rows_of(self.csv)[-1]["reason"]
        self.assertRegex(reason, r"rank [01] has waited 1 s for [^;]*; rank 2 had said nothing \S+ s later$")
        self.assert_nobody_left()

    def test_an_interrupt_keeps_finished_rows_and_resume_finishes_the_rest(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number.name):
                self.csv.unlink(missing_ok=True)
                sweep = self.start(PROGRAM, "sweep", *LONG, "--csv", self.csv)
                self.wait_for_rows(2)
                sweep.send_signal(number)
                _, said = sweep.communicate(timeout=60)
                self.assertEqual(sweep.returncode, 130, said)
                self.assert_nobody_left()
                self.assert_whole_rows()
                self.assertFalse(record_of(self.csv)["complete"])
        self.assert_exit(self.sweep(*LONG, "--csv", self.csv, "--resume"), 0)
        self.assertTrue(record_of(self.csv)["complete"])

    def test_no_rank_outlives_a_parent_that_is_killed(self):
        sweep = self.start(PROGRAM, "sweep", *ENDLESS, "--csv", self.csv)
        self.wait_for_rows(1)
        self.assertIsNotNone(self.process_of_rank(1))
        sweep.kill()
        sweep.communicate(timeout=60)
        self.assert_nobody_left()


if __name__ == "__main__":
    unittest.main()
