"""MPI libraries with a fault, preloaded into the ranks: each is found out, and the row says where."""

import re
import unittest

from mpi_support import MpiSweep, is_open_mpi, why_not
from program import shim
from sweep_support import rows_of

# An algorithm that the library is made to use, beside the one that it chooses.
FORCED = {
    "all_reduce": "ring" if is_open_mpi() else "recursive_doubling",
    "reduce_scatter": "recursive_halving",
    "all_gather": "ring",
    "broadcast": "binomial",
    "reduce": "binomial",
    "all_to_all": "pairwise",
}


@unittest.skipIf(why_not(), why_not())
class FaultyLibrary(MpiSweep):
    def assert_found(self, pattern, name, size, collective="all_reduce", flags=()):
        """In both rows, each of which says so."""
        preload = ("-x LD_PRELOAD={}" if is_open_mpi() else "-genv LD_PRELOAD {}").format(shim(name))
        algorithms = ["library", f"library:{FORCED[collective]}"]
        placement = "out_of_place" if collective == "all_to_all" else "in_place"
        done = self.sweep("--backend", "mpi", "--ranks", "2", "--collective", collective, "--placement", placement,
                          "--algorithm", ",".join(algorithms), "--sizes", size, "--launcher-args", preload,
                          "--csv", self.csv, *flags)  # fmt: skip
        self.assert_exit(done, 5)
        rows = rows_of(self.csv)
        self.csv.unlink()
        self.csv.with_suffix(".run.json").unlink()
        self.assertEqual(sorted(re.split(r"->|\+", row["algorithm"])[0] for row in rows), algorithms)
        for row in rows:
            self.assertEqual(row["status"], "failed", row["algorithm"])
            self.assertRegex(row["reason"], pattern, row["algorithm"])

    def test_one_that_communicates_nothing_is_found_in_every_collective(self):
        for collective in FORCED:
            with self.subTest(collective=collective):
                self.assert_found(r"^wrong result: rank \d, element \d+: got .* expected ", "silent", "4K", collective)
        self.assert_found(r"^wrong result: rank \d, element 0: got .* expected ", "silent", "4")

    def test_one_that_adds_nine_tenths_is_found(self):
        for size in ("4", "64K"):
            self.assert_found(r"^wrong result: rank \d, element 0: got ", "offset", size)

    def test_one_element_at_one_rank_in_one_of_200_calls_is_found(self):
        self.assert_found(r"^wrong result: rank 1, element 0: got ", "rare", "4")
        self.assert_found(r"^wrong result: rank 1, element 2048: got ", "rare", "16K")
        enough = ("-w", "200")  # warm-ups, each of which is looked at: readings may be fewer, if they agree
        self.assert_found(r"^wrong result: rank 1, element 131072: got ", "rare", "1M", flags=enough)


if __name__ == "__main__":
    unittest.main()
