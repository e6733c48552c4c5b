"""`collmark links --backend cuda` on the stub driver: every pair of devices, and what becomes of faults."""

import json
import unittest
from pathlib import Path

from cuda_support import ABSENT, STUB, stubbed
from program import collmark
from sweep_support import Folder, rows_of

TIMES = ("flag_ns", "copy_gb_per_s", "low_latency_ns", "engine_gb_per_s", "word_ns")


class LinksOfGpus(Folder):
    def links(self, *flags, size="5000", code=0, **driver):
        done = collmark(
            "links", "--backend", "cuda", "--size", size, "--csv", str(self.csv), *flags, **stubbed(**driver)
        )
        self.assert_exit(done, code)
        return done


class Measured(LinksOfGpus):
    def test_every_pair_is_measured_both_ways_and_every_device_within(self):
        for devices in (2, 3):
            with self.subTest(devices=devices):
                done = self.links(devices=devices)
                rows = rows_of(self.csv)
                ends = [(int(row["first"]), int(row["second"])) for row in rows]
                self.assertEqual(ends, [(a, b) for a in range(devices) for b in range(devices)])
                for row in rows:
                    self.assertTrue(all(float(row[name]) > 0 for name in TIMES), row)
                    within = row["first"] == row["second"]
                    self.assertEqual(row["shared_gb_per_s"] == "", within, row)
                    self.assertEqual(row["launch_ns"] != "", within, row)
                    self.assertEqual((row["copy_bytes"], row["reason"]), ("5000", ""))
                for words in ("slowest flag: GPU", "slowest copy: GPU", "slowest copy, all pairs at once: GPU"):
                    self.assertIn(words, done.stdout)

    def test_one_device_has_no_link_and_says_so(self):
        done = self.links()
        (row,) = rows_of(self.csv)
        self.assertEqual((row["first"], row["second"]), ("0", "0"))
        self.assertIn("no link between GPUs", done.stderr)
        self.assertIn("no link: two blocks of one GPU", done.stdout)
        self.assertNotIn("slowest", done.stdout)

    def test_json_is_one_document(self):
        pairs = json.loads(self.links("--json", devices=2).stdout)["links"]
        self.assertEqual(len(pairs), 4)
        self.assertIsNone(pairs[0]["shared_gb_per_s"])
        self.assertGreater(pairs[1]["shared_gb_per_s"], 0)

    def test_the_slowest_link_is_between_devices_that_reach_each_other(self):
        done = self.links(devices=3, fault="no_peer_access@1")
        rows = {(row["first"], row["second"]): row for row in rows_of(self.csv)}
        apart = [ends for ends, row in rows.items() if row["reason"]]
        self.assertEqual(len(apart), 2, rows)
        self.assertEqual(apart[0], apart[1][::-1])
        for ends in apart:
            self.assertIn("cannot reach the memory", rows[ends]["reason"])
            self.assertTrue(all(rows[ends][name] == "" for name in (*TIMES, "shared_gb_per_s")))
        self.assertIn("slowest flag: GPU", done.stdout)
        self.assertIn("cannot reach", done.stdout)

    def test_pairs_that_all_cannot_are_cells_that_say_so(self):
        done = self.links(devices=2, fault="no_peer_access")
        self.assertEqual(sum(row["reason"] != "" for row in rows_of(self.csv)), 2)
        self.assertNotIn("slowest", done.stdout)


class Figures(LinksOfGpus):
    def test_by_a_clock_that_is_played_every_cell_is_known(self):
        """Device d takes 2 (d + 1) ms a launch and half of it a copy by the driver; 5000 B in 2 ms are 0.0025 GB/s."""
        self.links(devices=3, COLLMARK_STUB_STEP_NS="2000000")
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 9)
        for row in rows:
            first, second = int(row["first"]), int(row["second"])
            slower, reader = max(first, second) + 1, second + 1
            shared = "" if first == second else 0.0025 / reader
            launch = 2e6 * reader if first == second else ""
            for name, value in (
                ("flag_ns", slower * 2e6 / 40),  # half of a round trip, 20 of which are a launch
                ("low_latency_ns", slower * 2e6 / 40),
                ("word_ns", slower * 2e6 / 40),
                ("copy_gb_per_s", 0.0025 / reader),
                ("engine_gb_per_s", 0.005 / reader),
                ("shared_gb_per_s", shared),
                ("launch_ns", launch),
            ):
                with self.subTest(first=first, second=second, name=name):
                    if value == "":
                        self.assertEqual(row[name], "")
                    else:
                        self.assertAlmostEqual(float(row[name]), value, delta=value / 1e4)


class Faults(LinksOfGpus):
    def test_bytes_that_come_wrong_end_in_5_with_the_pair(self):
        done = self.links(devices=2, code=5, COLLMARK_TEST_CORRUPT="0")
        self.assertRegex(done.stderr, r"within GPU 0: 1 of 5000 bytes .* the first is byte 2500")
        self.assertFalse(self.csv.exists())

    def test_a_kernel_that_never_ends_is_7_and_a_crash_8(self):
        for launch in (1, 5):  # the first one writes what is copied
            said = self.links("--timeout", "1", code=7, fault=f"hang@{launch}").stderr
            self.assertIn("has not come to an end", said)
        self.assertIn("GPU 0", self.links(code=8, fault="crash@5").stderr)

    def test_no_memory_for_the_copies_is_6(self):
        self.assertIn("allocating", self.links(size="2G", code=6).stderr)

    def test_no_driver_is_77_and_others_are_measured(self):
        done = collmark("links", "--backend", "cuda", **ABSENT)
        self.assert_exit(done, 77)
        self.assertIn("cuda: skipped, no CUDA driver: /no/such", done.stderr)
        self.assert_exit(collmark("links", "--backend", "cuda", "--allow-missing", **ABSENT), 0)

    def test_nonsense_is_refused(self):
        for flags in (["--size", "0"], ["--size", "x"]):
            self.assert_exit(collmark("links", "--backend", "cuda", *flags, **stubbed()), 2)


if __name__ == "__main__":
    if not Path(STUB).exists():
        raise SystemExit(f"{STUB} is not built")
    unittest.main()
