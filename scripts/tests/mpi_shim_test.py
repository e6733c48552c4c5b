"""MPI libraries with a fault, preloaded into the ranks: each is found out, and the row says where."""

import unittest

from mpi_support import MpiSweep, is_open_mpi, shim, why_not
from sweep_support import rows_of

LIBRARY = ["--backend", "mpi", "--ranks", "2", "--algorithm", "library"]


@unittest.skipIf(why_not(), why_not())
class FaultyLibrary(MpiSweep):
    def reason_with(self, name, size):
        preload = ("-x LD_PRELOAD={}" if is_open_mpi() else "-genv LD_PRELOAD {}").format(shim(name))
        done = self.sweep(*LIBRARY, "--sizes", size, "--launcher-args", preload, "--csv", self.csv)
        self.assert_exit(done, 5)
        (row,) = rows_of(self.csv)
        self.assertEqual(row["status"], "failed")
        self.csv.unlink()
        self.csv.with_suffix(".run.json").unlink()
        return row["reason"]

    def test_one_that_communicates_nothing_is_found(self):
        for size in ("4", "64K"):
            self.assertRegex(self.reason_with("silent", size), r"^wrong result: rank \d, element \d+: got .* expected ")

    def test_one_that_adds_nine_tenths_is_found(self):
        for size in ("4", "64K"):
            self.assertRegex(self.reason_with("offset", size), r"^wrong result: rank \d, element 0: got ")

    def test_one_element_at_one_rank_in_one_of_200_calls_is_found(self):
        self.assertRegex(self.reason_with("rare", "4"), r"^wrong result: rank 1, element 0: got ")
        self.assertRegex(self.reason_with("rare", "16K"), r"^wrong result: rank 1, element 2048: got ")


if __name__ == "__main__":
    unittest.main()
