"""The table of compare_mpi.py from stored rows: ratios inside a launch, the best of each way, targets."""

import csv
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "compare_mpi.py"
FIELDS = ["backend", "collective", "status", "ranks", "size_bytes", "placement", "launch", "algorithm", "time_us_p50",
          "flag_ns"]  # fmt: skip


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.csv"

    def table(self, launches, *flags, size=64 << 20):
        """launches: of each, the times by algorithm."""
        with open(self.path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for launch, times in enumerate(launches):
                for name, time in times.items():
                    writer.writerow(["mpi", "all_reduce", "ok", 2, size, "in_place", launch, name, time, 60 + launch])
        return self.run_script(*flags)

    def run_script(self, *flags):
        command = [sys.executable, "-B", SCRIPT, "--table", self.path, *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ratios_are_taken_inside_a_launch_and_the_best_of_each_way_is_named(self):
        done = self.table([
            {"ring": 20, "two_shot": 25, "ring/window": 5, "library": 40},
            {"ring": 10, "two_shot": 25, "ring/window": 8, "library": 16},
            {"ring": 30, "two_shot": 15, "ring/window": 9, "library": 45},
        ])  # fmt: skip
        messages, window = (line.split() for line in done.stdout.splitlines()[1:])
        self.assertEqual(messages[:8], ["2", "67108864", "in_place", "messages", "1.60", "[1.50,", "2.00]", "1.4"])
        self.assertEqual(messages[-4:], ["61", "[60,", "62]", "ring"])
        self.assertEqual(window[3:7], ["window", "5.00", "[2.00,", "8.00]"])
        self.assertEqual(window[-1], "ring/window")

    def test_a_median_below_its_target_is_marked_and_fails_a_check_only(self):
        slow = [{"ring": 10, "ring/window": 5, "library": 13}]
        done = self.table(slow)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(" below "), 2)
        self.assertEqual(self.table(slow, "--check").returncode, 3)
        self.assertEqual(self.table(slow, "--check", size=4096).returncode, 0, "0.9 is enough, and windows have none")

    def test_another_file_is_refused_in_one_line(self):
        self.path.write_text("a,b\n1,2\n")
        done = self.run_script()
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("must be that of results.csv", done.stderr)
        self.path.unlink()
        self.assertIn("No such file", self.run_script().stderr)


if __name__ == "__main__":
    unittest.main()
