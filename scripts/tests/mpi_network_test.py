"""`collmark sweep --backend mpi` over the hosts of an emulated cluster: no memory and no clock is shared."""

import subprocess
import unittest
from pathlib import Path

from mpi_support import QUICK, MpiSweep, is_open_mpi
from program import PROGRAM, ROOT
from sweep_support import rows_of

REFUSED = 77  # by the kernel: no namespaces here


class SeveralHosts(MpiSweep):
    def cluster(self, *command):
        done = self.started(*command)
        if done.returncode == REFUSED:
            self.skipTest(done.stderr)
        return done

    def started(self, *command):
        return subprocess.run(
            [
                ROOT / "scripts" / "emulated_cluster.sh", "run", "--hosts", "3", "--rate", "1gbit",
                "--name", "sweep", "--", *map(str, command),
            ],
            capture_output=True, text=True, timeout=120, env=self.environment(),
        )  # fmt: skip

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

    def test_a_file_of_hosts_alone_says_where_ranks_go(self):
        """The variables of the cluster that say it too are left out."""
        hosts = Path(self.folder.name, "hosts")
        hosts.write_text("".join(f"host{i} slots=1\n" for i in range(3)))
        names = ("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile")
        unset = ["env", *(word for name in names for word in ("-u", name))]
        sweep = [*unset, PROGRAM, "sweep", *QUICK, "--algorithm", "ring,two_shot,library", "--csv", self.csv]
        done = self.cluster(*sweep, "--ranks", "2,3", "--hostfile", hosts)
        self.assert_exit(done, 0)
        self.assert_measured_on_several_hosts()
        self.assertNotIn("oversubscribed", done.stderr)
        links = self.cluster(*unset, PROGRAM, "links", "--backend", "mpi", "--ranks", "3", "--hostfile", hosts)
        self.assert_exit(links, 0)
        for name in ("host0", "host1", "host2"):
            self.assertIn(name, links.stdout)

    def test_a_file_with_a_host_that_nobody_knows_is_told_in_the_rows(self):
        self.cluster("true")
        hosts = Path(self.folder.name, "hosts")
        hosts.write_text("host0 slots=1\nhost9 slots=1\n")
        done = self.started(PROGRAM, "sweep", *QUICK, "--ranks", "2", "--csv", self.csv, "--hostfile", hosts)
        self.assertEqual(done.returncode, 77, done.stdout)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "skipped")
            self.assertIn("starts no ranks: no host 'host9'", row["reason"])

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
