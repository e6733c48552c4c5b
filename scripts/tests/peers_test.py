"""What other benchmarks get wrong on their command lines, and what ours does instead.

Each test names the tool and the symptom: OSU micro-benchmarks 7.4, Intel MPI Benchmarks, Gloo's
benchmark, nccl-tests, Open MPI 4.1. Refusals must come before anything is measured.
"""

import csv
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program import CommandLineTest, collmark

QUICK = ("--time-budget", "0.01", "--warmups", "1")


class SweepTest(CommandLineTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = os.path.join(folder.name, "x.csv")

    def measured(self, *arguments, code=0, **environment):
        """The rows that a sweep left, after checking its exit code."""
        done = collmark("sweep", *QUICK, "--csv", self.csv, *arguments, **environment)
        self.assertEqual(done.returncode, code, done.stderr)
        with open(self.csv, newline="") as file:
            return list(csv.DictReader(file))

    def assert_sweep_refused(self, *arguments, words=()):
        message = self.assert_refused("sweep", *arguments, "--csv", self.csv, words=words)
        self.assertFalse(Path(self.csv).exists(), "refused, but a file was left")
        return message


class Osu(SweepTest):
    def test_unknown_type_does_not_measure_another_one(self):
        self.assert_sweep_refused("--dtype", "mpi_double", words=["unknown value 'mpi_double'", "f64"])
        self.assert_sweep_refused("-d", "f23", words=["did you mean 'f32'?"])

    def test_empty_range_does_not_print_an_empty_table(self):
        self.assert_sweep_refused("--sizes", "64:8:x2", words=["64:8:x2", "^"])
        self.assert_sweep_refused("-b", "64", "-e", "8", "-f", "2", words=["64:8:x2", "^"])
        self.assert_sweep_refused("--ranks", "8:2", words=["8:2", "^"])


class Imb(SweepTest):
    def test_negative_or_zero_iterations_are_refused(self):
        for count in ("-5", "0", "many", "1.5", "99999999999999999999"):
            self.assert_sweep_refused("--iterations", count, words=["iterations"])
            self.assert_sweep_refused("-n", count, words=["iterations"])

    def test_misspelt_benchmark_is_suggested_and_nothing_else_runs(self):
        self.assert_sweep_refused("--algorithm", "rnig", words=["did you mean 'ring'?"])
        self.assert_sweep_refused("--collective", "allreduce", words=["did you mean 'all_reduce'?"])
        self.assert_sweep_refused("--algorithm", "ring,", words=["empty"])


class Gloo(SweepTest):
    def test_two_million_floats_on_four_ranks_are_no_false_alarm(self):
        (row,) = self.measured("--algorithm", "ring", "--ranks", "4", "--sizes", "8M")
        self.assertEqual((row["status"], row["wrong"]), ("ok", "0"))

    def test_no_warm_up_is_legal(self):
        done = collmark(
            "sweep", "--time-budget", "0.01", "-w", "0", "--algorithm", "ring", "--ranks", "2",
            "--sizes", "8", "--csv", self.csv,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.csv, newline="") as file:
            self.assertEqual(next(csv.DictReader(file))["warmups"], "0")

    def test_negative_warm_up_is_refused(self):
        self.assert_sweep_refused("--warmups", "-1", words=["warmups"])


class NcclTests(SweepTest):
    def test_copies_without_mpi_under_a_launcher_are_refused_with_77(self):
        for size, rank in (
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
            ("PMI_SIZE", "PMI_RANK"),
            ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
        ):
            done = collmark("sweep", *QUICK, "--csv", self.csv, **{size: "4", rank: "0"})
            self.assertEqual((done.returncode, done.stdout), (77, ""), size)
            self.assertIn(f"rank 0 of 4 by {'Open' if size[0] == 'O' else ''}", done.stderr)
            self.assertFalse(Path(self.csv).exists())
            other = collmark("sweep", *QUICK, "--csv", self.csv, **{size: "4", rank: "2"})
            self.assertEqual((other.returncode, other.stdout, other.stderr), (77, "", ""), size)  # told once

    def test_every_command_that_measures_refuses_to_run_as_copies(self):
        for command in ("sweep", "step", "links"):
            done = collmark(command, PMI_SIZE="2", PMI_RANK="0")
            self.assertEqual((done.returncode, done.stdout), (77, ""), command)

    def test_ranges_that_never_end_are_refused(self):
        self.assert_sweep_refused("-b", "0", "-e", "64", "-f", "2", words=["0:64:x2", "^"])
        self.assert_sweep_refused("-b", "8", "-e", "64", "-i", "0", words=["never arrives"])
        self.assert_sweep_refused("-b", "8", "-e", "64", "-f", "1", words=["at least 2"])

    def test_fractional_factor_does_not_become_a_fixed_step(self):
        self.assert_sweep_refused("-b", "8", "-e", "64", "-f", "1.5", words=["whole number"])

    def test_zero_is_a_size_all_the_same(self):
        rows = self.measured("--algorithm", "ring", "--ranks", "2", "-b", "0", "-e", "16", "-i", "8")
        self.assertEqual(sorted(int(r["size_bytes"]) for r in rows), [0, 8, 16])
        for row in rows:
            self.assertEqual(row["status"], "ok")

    def test_output_that_cannot_be_written_is_refused_before_measuring(self):
        self.assert_refused("sweep", "--csv", "/no/such/folder/x.csv", words=["/no/such/folder"])
        self.assert_refused("sweep", "-J", "x.csv", words=["unknown flag '-J'"])

    def test_root_all_does_not_mean_rank_0(self):
        self.assert_sweep_refused("--root", "all", words=["root"])
        self.assert_sweep_refused("-r", "all", words=["unknown flag '-r'"])

    def test_size_that_does_not_fit_is_a_row_with_its_reason(self):
        rows = self.measured("--algorithm", "ring", "--ranks", "2", "--sizes", "8,1000G")
        by_size = {int(r["size_bytes"]): r for r in rows}
        self.assertEqual(by_size[8]["status"], "ok")
        self.assertEqual(by_size[1000 << 30]["status"], "skipped")
        self.assertIn("memory", by_size[1000 << 30]["reason"])

    def test_single_rank_has_no_bus_bandwidth_instead_of_0(self):
        (row,) = self.measured("--algorithm", "ring", "--ranks", "1", "--sizes", "4K")
        self.assertEqual((row["status"], row["busbw_gb_per_s"]), ("ok", ""))


class OpenMpi(SweepTest):
    def test_bad_algorithm_does_not_run_the_default(self):
        for name in ("7", "ring:4", "double_binary_tree:0", "hierarchical_ring:2x", "library:rnig"):
            done = collmark("sweep", *QUICK, "--algorithm", name, "--sizes", "8", "--ranks", "4")
            self.assertIn(done.returncode, (2, 6, 77), f"{name}: {done.stdout}{done.stderr}")
            self.assertNotIn("verified", done.stdout)

    def test_ranks_that_an_algorithm_cannot_do_are_a_row_with_its_reason(self):
        rows = self.measured("--algorithm", "swing,ring", "--ranks", "3", "--sizes", "8")
        by_name = {r["algorithm"]: r for r in rows}
        self.assertEqual(by_name["ring"]["status"], "ok")
        self.assertEqual(by_name["swing"]["status"], "skipped")
        self.assertIn("power of two", by_name["swing"]["reason"])


class OwnSlips(SweepTest):
    def test_numbers_that_are_none_are_refused(self):
        for value in ("nan", "inf", "-1", "0", "soon"):
            self.assert_sweep_refused("--time-budget", value, words=["time-budget"])
        for value in ("nan", "-1", "0"):
            self.assert_sweep_refused("--timeout", value, words=["timeout"])
        self.assert_sweep_refused("--seed", "-1", words=["seed"])
        self.assert_sweep_refused("--launches", "0", words=["launches"])

    def test_config_file_that_is_missing_or_wrong_is_refused(self):
        self.assert_sweep_refused("--config", "/no/such.toml", words=["/no/such.toml"])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sweep.toml"
            for text in ("sizes = [[[\n", 'algoritm = "ring"\n', 'sizes = "64KB"\n'):
                path.write_text(text)
                self.assert_sweep_refused("--config", str(path))

    def test_backend_that_is_not_here_is_77_and_its_rows_say_skipped(self):
        arguments = (
            "--backend",
            "threads,nccl",
            "--algorithm",
            "ring",
            "--ranks",
            "2",
            "--sizes",
            "8",
        )
        rows = self.measured(*arguments, code=77)
        self.assertEqual({r["backend"]: r["status"] for r in rows}, {"threads": "ok", "nccl": "skipped"})
        Path(self.csv).unlink()
        self.measured(*arguments, "--allow-missing", "--append", code=0)

    def test_existing_results_are_not_overwritten(self):
        Path(self.csv).write_text("mine\n")
        self.assert_refused("sweep", "--csv", self.csv, words=["exists"])
        self.assertEqual(Path(self.csv).read_text(), "mine\n")


if __name__ == "__main__":
    unittest.main()
