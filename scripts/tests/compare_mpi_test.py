"""The table of compare_mpi.py from stored rows: ratios inside a launch, the best of each way, targets."""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import ROOT

SCRIPT = ROOT / "scripts" / "compare_mpi.py"
FIELDS = ["run_id", "backend", "collective", "status", "ranks", "size_bytes", "placement", "launch", "algorithm",
          "time_us_p50", "flag_ns"]  # fmt: skip


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.csv"

    def table(self, launches, *flags, size=64 << 20):
        """launches: of each, the times by algorithm."""
        self.write([(0, launch, size, "in_place", times) for launch, times in enumerate(launches)])
        return self.run_script(*flags)

    def write(self, measured, backend="mpi", status="ok"):
        """measured: run, launch, size, placement and the times by algorithm."""
        with open(self.path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for run, launch, size, placement, times in measured:
                for name, time in times.items():
                    what = [run, backend, "all_reduce", status, 2, size, placement, launch]
                    writer.writerow([*what, name, time, 60 + launch])

    def run_script(self, *flags):
        command = [sys.executable, "-B", SCRIPT, "--table", self.path, *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ratios_are_taken_inside_a_launch(self):
        done = self.table([
            {"ring": 20, "two_shot": 40, "ring/window": 5, "library": 40},
            {"ring": 10, "two_shot": 25, "ring/window": 8, "library": 16},
            {"ring": 30, "two_shot": 35, "ring/window": 9, "library": 45},
        ])  # fmt: skip
        messages, window = (line.split() for line in done.stdout.splitlines()[1:])
        self.assertEqual(messages[:8], ["2", "67108864", "in_place", "messages", "1.60", "[1.50,", "2.00]", "1.4"])
        self.assertEqual(messages[-4:], ["61", "[60,", "62]", "ring"])
        self.assertEqual(window[3:7], ["window", "5.00", "[2.00,", "8.00]"])
        self.assertEqual(window[-1], "ring/window")

    def test_no_launch_is_judged_by_an_algorithm_that_it_helped_to_choose(self):
        done = self.table([
            {"ring": 10, "two_shot": 40, "library": 40},
            {"ring": 40, "two_shot": 10, "library": 40},
            {"ring": 10, "two_shot": 40, "library": 40},
            {"ring": 40, "two_shot": 10, "library": 40},
        ])  # fmt: skip
        self.assertIn(
            " 1.00 [1.00, 1.00] ", done.stdout, "either is 4 times as fast where it was chosen, and nowhere else"
        )
        self.assertTrue(done.stdout.splitlines()[1].endswith(" ring or two_shot"), done.stdout)

    def test_launches_of_several_runs_are_all_there(self):
        once = [(0, 0, 4, "in_place", {"ring": 10, "library": 20}), (0, 1, 4, "in_place", {"ring": 10, "library": 30})]
        again = [(1, launch, 4, "in_place", {"ring": 10, "library": 80}) for launch in range(2)]
        self.write([*once, *again])
        self.assertIn(" 5.50 [2.00, 8.00] ", self.run_script().stdout)

    def test_two_rows_for_one_place_are_refused(self):
        self.write([(0, 0, 4, "in_place", {"ring": 10, "library": 20})] * 2)
        done = self.run_script()
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertIn("ring twice in launch 0", done.stderr)

    def test_a_median_below_its_target_is_marked_and_fails_a_check_only(self):
        slow = [{"ring": 10, "ring/window": 5, "library": 13}]
        done = self.table(slow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" below "), 2)
        self.assertEqual(self.table(slow, "--check").returncode, 3)
        self.assertEqual(self.table(slow, "--check", size=4096).returncode, 0, "0.9 is enough, and windows have none")

    def assert_missing(self, *words):
        """A check finds them, above what is too slow; a table alone does not ask."""
        self.assertEqual(self.run_script().returncode, 0)
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 6, done.stdout + done.stderr)
        self.assertEqual(done.stderr.splitlines(), [f"compare_mpi.py: not measured: {word}" for word in words])

    def test_a_check_of_nothing_finds_nothing(self):
        times = {"ring": 10, "ring/window": 5, "library": 1000}
        self.write([(0, 0, 4, "in_place", times)], backend="threads")
        self.assert_missing("any case of two ranks that has a target")

    def test_a_way_a_library_or_a_case_that_was_not_measured_is_found(self):
        big = 64 << 20
        self.write([(0, 0, big, "in_place", {"ring": 10, "library": 1000})])
        self.assert_missing(f"{big} in_place window")
        self.write([(0, 0, big, "in_place", {"ring": 10, "ring/window": 5})])
        self.assert_missing(f"{big} in_place messages", f"{big} in_place window")
        times = {"ring": 10, "ring/window": 5, "library": 1000}
        self.write([(0, 0, 4, "in_place", times), (0, 0, big, "out_of_place", times)])
        self.assert_missing("4 out_of_place messages", f"{big} in_place messages", f"{big} in_place window")
        self.write([(0, 0, 4, "in_place", times)], status="failed")
        self.assert_missing("4 in_place messages")

    def test_what_the_run_record_says_was_asked_for_is_looked_for(self):
        self.write([(0, 0, 4, "in_place", {"ring": 10, "library": 1000})])
        asked = {"backend": ["mpi"], "collective": ["all_reduce"], "ranks": [2], "placement": ["in_place"]}
        earlier = {"configuration": {**asked, "sizes": [16]}}
        record = {"configuration": {**asked, "sizes": [4, 4096]}, "earlier": [earlier]}
        self.path.with_suffix(".run.json").write_text(json.dumps(record))
        self.assert_missing("16 in_place messages", "4096 in_place messages")

    def test_the_stored_tables_are_those_of_their_rows(self):
        tables = sorted((ROOT / "results").glob("mpi-*/table.txt"))
        self.assertGreater(len(tables), 2)
        for table in tables:
            self.path = table.with_name("rows.csv")
            self.assertEqual(self.run_script().stdout, table.read_text(), table)

    def test_another_file_is_refused_in_one_line(self):
        self.path.write_text("a,b\n1,2\n")
        done = self.run_script()
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("must be that of results.csv", done.stderr)
        self.path.unlink()
        self.assertIn("No such file", self.run_script().stderr)


if __name__ == "__main__":
    unittest.main()
