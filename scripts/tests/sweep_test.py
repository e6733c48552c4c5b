"""Runs `collmark sweep` from outside: the rows it writes and the flags it takes."""

import ctypes
import subprocess
import unittest
from pathlib import Path

from sweep_support import COLLMARK, QUICK, Folder, rows_of, sweep

ONE_RING = ("--ranks", "2", "--algorithm", "ring", "-n", "3", "-w", "1")


class Rows(Folder):
    def test_every_case_is_a_row_with_its_counted_bytes(self):
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 0)
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertEqual(row["status"], "ok")
            self.assertEqual(row["wrong"], "0")
            self.assertEqual(row["wire_bytes_busiest"], row["size_bytes"])  # 2K(P-1)/P at P = 2
            self.assertEqual(row["wire_bytes_formula"], row["wire_bytes_busiest"])

    def test_no_cell_is_nan_or_inf(self):
        flags = ["--ranks", "1:3", "--sizes", "0,4", "--algorithm", "all", "-n", "1", "-w", "0"]
        self.assert_exit(sweep(*flags, "--csv", self.csv), 0)
        for row in rows_of(self.csv):
            for column, cell in row.items():
                self.assertNotIn(cell.lower().lstrip("-"), ("nan", "inf"), column)

    def test_below_six_readings_there_is_no_interval_and_no_p99(self):
        self.assert_exit(sweep(*QUICK, "--csv", self.csv), 0)
        for row in rows_of(self.csv):
            self.assertEqual(row["iterations"], "5")
            self.assertEqual((row["time_us_ci_low"], row["time_us_p99"]), ("", ""))
            self.assertEqual(row["stop_reason"], "count")

    def test_an_unsupported_schedule_is_a_skipped_row_with_a_reason(self):
        done = sweep("--ranks", "3", "--sizes", "8", "--algorithm", "swing", "--csv", self.csv)
        self.assert_exit(done, 6)  # nothing was measured
        (row,) = rows_of(self.csv)
        self.assertEqual(row["status"], "skipped")
        self.assertIn("3", row["reason"])

    def test_a_size_that_does_not_fit_is_a_skipped_row_beside_the_others(self):
        done = sweep(
            "--ranks", "2", "--sizes", "8,100000G", "--algorithm", "ring", "-n", "2", "-w", "0", "--csv", self.csv
        )
        self.assert_exit(done, 0)
        by_status = {row["status"]: row for row in rows_of(self.csv)}
        self.assertIn("memory", by_status["skipped"]["reason"])
        self.assertEqual(by_status["ok"]["size_bytes"], "8")

    def test_a_schedule_from_a_file_runs_like_the_catalogue_s_own(self):
        explained = subprocess.run(
            [COLLMARK, "explain", "ring", "--ranks", "2", "--json"], capture_output=True, text=True, check=True
        )
        schedule = Path(self.folder.name) / "mine.json"
        schedule.write_text(explained.stdout)
        self.assert_exit(
            sweep(
                "--ranks",
                "2,3",
                "--sizes",
                "1K",
                "--algorithm",
                f"file:{schedule}",
                "-n",
                "2",
                "-w",
                "0",
                "--csv",
                self.csv,
            ),
            0,
        )
        by_ranks = {row["ranks"]: row for row in rows_of(self.csv)}
        self.assertEqual(by_ranks["2"]["wire_bytes_busiest"], "1024")
        self.assertEqual(by_ranks["2"]["wire_bytes_formula"], "")
        self.assertEqual(by_ranks["3"]["status"], "skipped")  # the file is for 2 ranks

    def test_samples_hold_every_reading_of_every_rank(self):
        samples = Path(self.folder.name) / "s.csv"
        self.assert_exit(sweep(*QUICK, "--csv", self.csv, "--samples", samples), 0)
        lines = rows_of(samples)
        self.assertEqual(len(lines), sum(2 * int(r["iterations"]) for r in rows_of(self.csv)))
        for row in rows_of(self.csv):
            mine = [s for s in lines if s["seq"] == row["seq"]]
            slowest = max(int(s["time_ns"]) / int(s["batch"]) for s in mine)
            self.assertAlmostEqual(slowest / 1e3, float(row["time_us_max"]), delta=1e-2)

    def test_launches_are_rows_of_their_own_in_an_order_the_seed_decides(self):
        orders = []
        for name in ("a.csv", "b.csv", "c.csv"):
            path = Path(self.folder.name) / name
            seed = "7" if name != "c.csv" else "8"
            self.assert_exit(
                sweep(
                    "--ranks",
                    "2",
                    "--sizes",
                    "8:1K:x2",
                    "--algorithm",
                    "ring,two_shot",
                    "-n",
                    "1",
                    "-w",
                    "0",
                    "--launches",
                    "2",
                    "--seed",
                    seed,
                    "--csv",
                    path,
                ),
                0,
            )
            rows = rows_of(path)
            self.assertEqual([int(r["seq"]) for r in rows], list(range(len(rows))))
            self.assertEqual({r["launch"] for r in rows}, {"0", "1"})
            orders.append([(r["launch"], r["size_bytes"], r["algorithm"]) for r in rows])
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])


class Pages(Folder):
    FOUR_MIB = (*ONE_RING, "--sizes", "1K,4M", "--csv")

    def pages(self, **started):
        done = subprocess.run(
            [COLLMARK, "sweep", *self.FOUR_MIB, self.csv], capture_output=True, check=False, **started
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return {int(row["size_bytes"]): row["pages"] for row in rows_of(self.csv)}

    def test_buffers_below_one_huge_page_are_on_small_ones(self):
        self.assertEqual(self.pages()[1024], "small")

    def test_refused_huge_pages_are_not_claimed(self):
        set_thp_disable = 41  # of prctl(2); kept by the program that is started
        libc = ctypes.CDLL(None, use_errno=True)
        pages = self.pages(preexec_fn=lambda: libc.prctl(set_thp_disable, 1, 0, 0, 0))
        self.assertEqual(pages[4 << 20], "small")


class Absent(Folder):
    def test_a_backend_that_is_not_here_is_rows_with_a_reason_beside_the_others(self):
        done = sweep(*QUICK, "--backend", "threads,nccl", "--csv", self.csv)
        self.assert_exit(done, 77)
        rows = rows_of(self.csv)
        self.assertEqual({r["status"] for r in rows if r["backend"] == "threads"}, {"ok"})
        self.assertEqual({r["status"] for r in rows if r["backend"] == "nccl"}, {"skipped"})
        self.assertTrue(all(r["reason"] for r in rows if r["backend"] == "nccl"))

    def test_allow_missing_makes_it_no_error(self):
        self.assert_exit(sweep(*QUICK, "--backend", "threads,nccl", "--allow-missing"), 0)


class Flags(Folder):
    def test_short_flags_of_nccl_tests_mean_the_same(self):
        flags = [
            "-b",
            "8",
            "-e",
            "64",
            "-f",
            "2",
            "-n",
            "2",
            "-w",
            "0",
            "-d",
            "float",
            "-o",
            "sum",
            "-c",
            "1",
            "--ranks",
            "2",
            "--algorithm",
            "ring",
        ]
        self.assert_exit(sweep(*flags, "--csv", self.csv), 0)
        self.assertEqual(sorted(int(r["size_bytes"]) for r in rows_of(self.csv)), [8, 16, 32, 64])

    def test_what_means_nothing_is_refused(self):
        for flags in (
            ["-b", "0", "-e", "64", "-f", "2"],
            ["-b", "8", "-e", "64", "-f", "1.5"],
            ["-b", "8", "-e", "64", "-i", "0"],
            ["-b", "64", "-e", "8", "-f", "2"],
            ["-b", "8"],
            ["-f", "2"],
            ["-n", "0"],
            ["-n", "-5"],
            ["-w", "-1"],
            ["-c", "0"],
            ["-d", "f33"],
            ["-o", "xor"],
            ["--algorithm", "rnig"],
            ["--backend", "cudaa"],
            ["--collective", "allreduce"],
            ["--sizes", "64KB"],
            ["--sizes", ""],
            ["--ranks", "0"],
            ["--launches", "0"],
            ["--time-budget", "-1"],
            ["--cache", "warm"],
            ["--mode", "fast"],
            ["--placement", "inplace"],
            ["--resume"],
            ["--append"],
            ["--iteration", "5"],
            ["surplus"],
        ):
            with self.subTest(flags=flags):
                done = sweep(*flags)
                self.assert_exit(done, 2)
                self.assertTrue(done.stderr.strip())

    def test_zero_warmups_and_zero_bytes_are_legal(self):
        self.assert_exit(
            sweep("--ranks", "2", "--sizes", "0", "--algorithm", "ring", "-n", "3", "-w", "0", "--csv", self.csv), 0
        )
        (row,) = rows_of(self.csv)
        self.assertEqual((row["warmups"], row["algbw_gb_per_s"]), ("0", ""))

    def test_a_config_file_sets_flags_and_the_command_line_wins(self):
        config = Path(self.folder.name) / "sweep.toml"
        config.write_text('ranks = "2"\nsizes = "8"\nalgorithm = "ring"\niterations = 2\nwarmups = 0\n')
        self.assert_exit(sweep("--config", config, "--sizes", "16", "--csv", self.csv), 0)
        (row,) = rows_of(self.csv)
        self.assertEqual((row["size_bytes"], row["algorithm"], row["iterations"]), ("16", "ring", "2"))

    def test_a_bad_config_file_is_refused_with_its_line(self):
        config = Path(self.folder.name) / "sweep.toml"
        for text, line in (
            ('ranks = "2"\nrnaks = "3"\n', 2),
            ('ranks = "2"\n\nlaunches = "many"\n', 3),
            ('ranks = "2"\n[sweep]\nsizes = "8:64KB"\n', 3),
            ('ranks = ["2:x"]\n', 1),
            ('algorithm = "ring"\ndtype = ["f32", "f23"]\n', 2),
            ("sizes = [8]\nsizes = [16]\n", 2),
        ):
            config.write_text(text)
            done = sweep("--config", config)
            self.assert_exit(done, 2)
            self.assertIn(f"sweep.toml:{line}:", done.stderr)


if __name__ == "__main__":
    unittest.main()
