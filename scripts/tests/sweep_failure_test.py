"""What remains of a sweep when something is in its way or goes wrong."""

import os
import signal
import subprocess
import time
import unittest

from program import shim
from sweep_support import COLLMARK, LONG, QUICK, Folder, record_of, rows_of, sweep


class Existing(Folder):
    def test_an_existing_csv_is_refused_and_left_alone(self):
        self.csv.write_text("precious\n")
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 2)
        self.assertEqual(self.csv.read_text(), "precious\n")

    def test_append_adds_a_run_and_remembers_the_first(self):
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 0)
        first = record_of(self.csv)["run_id"]
        self.assert_exit(sweep(*QUICK, "--csv", self.csv, "--append"), 0)
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 8)
        self.assertEqual(len({row["run_id"] for row in rows}), 2)
        self.assertEqual([run["run_id"] for run in record_of(self.csv)["earlier"]], [first])

    def test_append_to_a_foreign_file_is_refused_with_its_line(self):
        self.csv.write_text("a,b\n1,2\n")
        done = sweep(*QUICK, "--csv", self.csv, "--append")
        self.assert_exit(done, 2)
        self.assertIn("x.csv:1:", done.stderr)

    def test_an_unwritable_path_is_refused_before_measuring(self):
        begin = time.monotonic()
        for path in ("/nowhere/x.csv", "/dev/full", self.folder.name):
            self.assert_exit(sweep(*LONG, "--csv", path), 2)
        self.assertLess(time.monotonic() - begin, 20)

    def test_dry_run_writes_nothing(self):
        done = sweep(*LONG, "--csv", self.csv, "--dry-run")
        self.assert_exit(done, 0)
        self.assertIn("at most about", done.stdout)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_resume_of_a_finished_run_has_nothing_left_to_do(self):
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 0)
        rows = rows_of(self.csv)
        self.assert_exit(sweep(*QUICK, "--csv", self.csv, "--resume"), 0)
        self.assertEqual(rows_of(self.csv), rows)
        self.assertTrue(record_of(self.csv)["complete"])


class Interrupted(Folder):
    def test_finished_rows_are_kept_and_resume_finishes_the_rest(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                self.csv.unlink(missing_ok=True)
                self.interrupt(number, "sweep", *LONG, after=3)
                kept = rows_of(self.csv)
                self.assertGreaterEqual(len(kept), 3)
                record = record_of(self.csv)
                self.assertFalse(record["complete"])
                self.assert_exit(sweep(*LONG, "--csv", self.csv, "--resume"), 0)
                rows = rows_of(self.csv)
                self.assertEqual(rows[: len(kept)], kept)
                self.assertEqual(sorted(int(r["seq"]) for r in rows), list(range(record["planned"])))
                self.assertEqual(len({row["run_id"] for row in rows}), 1)
                self.assertTrue(record_of(self.csv)["complete"])

    def test_a_terminal_that_goes_away_is_no_reason_to_stop_under_nohup(self):
        some = ("--ranks", "2", "--sizes", "8", "--algorithm", "ring", "--launches", "5", "-n", "2000")
        # A library of an MPI may have taken the signal for itself before the program began.
        taken = {"LD_PRELOAD": str(shim("hangup")), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        for variables in ({}, taken):
            self.csv.unlink(missing_ok=True)
            process = subprocess.Popen(
                ["env", "--ignore-signal=HUP", COLLMARK, "sweep", *some, "--csv", str(self.csv)],
                stdout=subprocess.DEVNULL, env={**os.environ, **variables},
            )  # fmt: skip
            while not self.csv.exists():
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            process.send_signal(signal.SIGHUP)
            self.assertEqual(process.wait(timeout=60), 0)
            self.assertTrue(record_of(self.csv)["complete"])

    def test_resume_refuses_another_configuration_and_says_which(self):
        self.interrupt(signal.SIGINT, "sweep", *LONG, after=3)
        kept = rows_of(self.csv)
        done = sweep(*LONG, "--dtype", "f64", "--csv", self.csv, "--resume")
        self.assert_exit(done, 2)
        self.assertIn("dtype", done.stderr)
        self.assertEqual(rows_of(self.csv), kept)

    def test_half_a_row_left_by_a_crash_is_measured_again(self):
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 0)
        whole = self.csv.read_text()
        self.csv.write_text(whole[:-40])
        self.assert_exit(sweep(*QUICK, "--csv", self.csv, "--resume"), 0)
        self.assert_whole_rows()
        self.assertEqual(sorted(int(r["seq"]) for r in rows_of(self.csv)), [0, 1, 2, 3])


class Failing(Folder):
    def test_a_disk_that_fills_keeps_all_finished_rows_whole(self):
        done = sweep(*LONG, "--csv", self.csv, limit=4096)
        self.assert_exit(done, 9)
        self.assert_whole_rows()
        self.assertGreater(len(rows_of(self.csv)), 3)
        self.assertLessEqual(self.csv.stat().st_size, 4096)

    def test_a_rank_that_never_arrives_is_named(self):
        done = sweep(*QUICK, "--timeout", "0.3", "--csv", self.csv, env={"COLLMARK_TEST_ABSENT_RANK": "1"})
        self.assert_exit(done, 7)
        for word in ("rank 0", "step", "rank 1"):
            self.assertIn(word, done.stderr)
        (row,) = rows_of(self.csv)
        self.assertEqual(row["status"], "failed")
        self.assertTrue(row["reason"].startswith("timed out: "), row["reason"])
        self.assertIn("rank 1", row["reason"])
        self.assertEqual(row["wrong"], "")  # nothing was looked at
        self.assertFalse(record_of(self.csv)["complete"])

    def test_a_resumed_run_that_hung_still_ends_as_a_hang(self):
        absent = {"COLLMARK_TEST_ABSENT_RANK": "1"}
        self.assert_exit(sweep(*QUICK, "--timeout", "0.3", "--csv", self.csv, env=absent), 7)
        done = sweep(*QUICK, "--timeout", "0.3", "--csv", self.csv, "--resume")
        self.assert_exit(done, 7)
        self.assertEqual(len(rows_of(self.csv)), 4)
        self.assertIn("failed before: 1", done.stderr)

    def test_a_wrong_result_fails_its_row_and_the_run(self):
        for fault in ("1", "0@3"):  # every operation, or a single timed one
            with self.subTest(fault=fault):
                self.csv.unlink(missing_ok=True)
                done = sweep(
                    "--ranks",
                    "2",
                    "--sizes",
                    "64K,256K",
                    "--algorithm",
                    "ring,two_shot",
                    "-n",
                    "5",
                    "-w",
                    "1",
                    "--csv",
                    self.csv,
                    env={"COLLMARK_TEST_CORRUPT": fault},
                )
                self.assert_exit(done, 5)
                rows = rows_of(self.csv)
                self.assertEqual(len(rows), 4)  # the others are measured all the same
                for row in rows:
                    self.assertEqual(row["status"], "failed")
                    self.assertRegex(row["reason"], r"rank \d, element \d+: got .*, expected ")
                    self.assertGreater(int(row["wrong"]), 0)


if __name__ == "__main__":
    unittest.main()
