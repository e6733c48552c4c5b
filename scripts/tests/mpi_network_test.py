"""`collmark sweep --backend mpi` over the hosts of an emulated cluster: no memory and no clock is shared."""

import subprocess
import unittest

from mpi_support import QUICK, MpiSweep, is_open_mpi
from program import PROGRAM, ROOT
from sweep_support import rows_of

REFUSED = 77  # by the kernel: no namespaces here


class SeveralHosts(MpiSweep):
    def cluster(self, *command):
        done = subprocess.run(
            [
                ROOT / "scripts" / "emulated_cluster.sh", "run", "--hosts", "3", "--rate", "1gbit",
                "--name", "sweep", "--", *map(str, command),
            ],
            capture_output=True, text=True, timeout=120, env=self.environment(),
        )  # fmt: skip
        if done.returncode == REFUSED:
            self.skipTest(done.stderr)
        return done

    def assert_measured_on_several_hosts(self):
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 2 * 2 * 3)
        for row in rows:
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)
            self.assertEqual(row["nodes"], row["ranks"])
            self.assertEqual((row["flag_ns"], row["late_starts"]), ("", "0"))
            if row["algorithm"] == "ring" and int(row["count"]) % int(row["ranks"]) == 0:
                self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"], row)

    def setUp(self):
        super().setUp()
        if not is_open_mpi():
            self.skipTest("the cluster tells Open MPI where its hosts are")

    def test_a_sweep_that_starts_mpirun_measures_over_the_network(self):
        done = self.cluster(PROGRAM, "sweep", *QUICK, "--ranks", "2,3", "--algorithm", "ring,two_shot,library", "--csv",
                            self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        self.assert_measured_on_several_hosts()

    def test_a_sweep_that_joins_a_job_measures_over_the_network(self):
        done = self.cluster("mpirun", "-n", "3", PROGRAM, "sweep", *QUICK, "--ranks", "2,3", "--algorithm",
                            "ring,two_shot,library", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        self.assert_measured_on_several_hosts()

    def test_a_window_over_several_hosts_is_a_skipped_row(self):
        done = self.cluster(
            PROGRAM, "sweep", *QUICK, "--ranks", "2", "--algorithm", "ring,ring/window", "--csv", self.csv
        )
        self.assert_exit(done, 0)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "ok" if row["algorithm"] == "ring" else "skipped")
        self.assertIn("all 2 ranks on one host, they are on 2", row["reason"] or done.stdout)


if __name__ == "__main__":
    unittest.main()
