"""compare_openmpi.py: its table from stored rows (ratios inside a round, near ones only), and a round of all sides."""

import csv
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from mpi_support import is_open_mpi, why_not
from program import PROGRAM

SCRIPT = Path(__file__).resolve().parent.parent / "compare_openmpi.py"
FIELDS = ["round", "ranks", "size_bytes", "placement", "side", "algorithm", "time_us_p50", "flag_ns"]
SIDES = [
    ("collmark", "ring"), ("collmark", "two_shot"), ("openmpi_default", "library"), ("openmpi_coll_sm", "library"),
    ("bound", "loop"),
]  # fmt: skip


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.csv"

    def table(self, rounds):
        """rounds: times of ring, two_shot, default, coll_sm and the bound, and how far the cores are."""
        with open(self.path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(FIELDS)
            for number, (*times, flag_ns) in enumerate(rounds):
                for (side, algorithm), time in zip(SIDES, times, strict=True):
                    far = "" if side == "bound" else flag_ns
                    writer.writerow([number, 2, 16 << 20, "in_place", side, algorithm, time, far])
        return self.run_script()

    def run_script(self):
        command = [sys.executable, "-B", SCRIPT, "--table", self.path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ratios_are_taken_inside_a_round_against_the_best_of_ours(self):
        lines = self.table([(20, 10, 80, 40, 9, 60), (40, 20, 200, 40, 18, 60), (30, 30, 180, 90, 27, 60)]).stdout
        default, sm = [line.split() for line in lines.splitlines()[1:]]
        self.assertEqual(default[:8], ["2", "16777216", "in_place", "default", "8.00", "[6.00,", "10.00]", "5.00"])
        self.assertEqual(sm[4], "3.00")
        self.assertEqual(default[10:], ["0.90", "[0.90,", "0.90]", "3/3", "two_shot"])

    def test_a_far_round_is_left_out_and_a_table_of_far_rounds_says_so(self):
        lines = self.table([(20, 10, 80, 40, 9, 60), (20, 20, 20, 20, 20, 245)]).stdout
        self.assertIn("8.00 [8.00, 8.00]", lines)
        self.assertIn("1/2", lines)
        self.assertIn("far", self.table([(20, 20, 20, 20, 20, 245)]).stdout)

    def test_another_file_is_refused_in_one_line(self):
        self.path.write_text("a,b\n1,2\n")
        done = self.run_script()
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))
        self.assertIn("first line must be round,ranks", done.stderr)
        self.path.unlink()
        self.assertIn("No such file", self.run_script().stderr)


class Round(unittest.TestCase):
    @unittest.skipUnless(not why_not() and is_open_mpi(), why_not() or "compares with Open MPI")
    def test_every_side_is_measured_with_the_flag_between_its_cores(self):
        with tempfile.TemporaryDirectory() as folder:
            few = ["--rounds", "1", "--near-ns", "1e9", "--ranks", "2", "--sizes", "4K", "--placement", "out_of_place"]
            flags = [*few, "--time-budget", "0.01", "--build", Path(PROGRAM).parent, "--out", folder]
            done = subprocess.run([sys.executable, "-B", SCRIPT, *flags], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([line.split()[3] for line in done.stdout.splitlines()[1:]], ["default", "coll_sm"])
            (path,) = Path(folder).glob("openmpi-*.csv")
            again = subprocess.run([sys.executable, "-B", SCRIPT, *flags], capture_output=True, text=True, check=False)
            self.assertEqual((again.returncode, len(again.stderr.splitlines())), (2, 1), again.stderr)
            self.assertIn("is there already", again.stderr)
            with open(path, newline="") as file:
                rows = list(csv.DictReader(file))
        sides = {(row["side"], row["algorithm"]) for row in rows}
        self.assertLessEqual(set(SIDES[:-1]), sides)  # in cache no loop bounds them
        if len(os.sched_getaffinity(0)) > 1:
            self.assertTrue(all(float(row["flag_ns"]) > 0 for row in rows), rows)


if __name__ == "__main__":
    unittest.main()
