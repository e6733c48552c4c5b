"""`collmark links --backend mpi`: every pair of ranks, both ways, however the ranks are started."""

import csv
import itertools
import json
import os
import signal
import unittest
from pathlib import Path

from mpi_support import MPIRUN, MpiSweep, is_open_mpi, preloaded
from program import PROGRAM, ROOT

REFUSED = 77
QUICK = ["links", "--backend", "mpi", "--size", "64K"]


def ways(ranks):
    return list(itertools.permutations(range(ranks), 2))


class Links(MpiSweep):
    def assert_links(self, text, ranks):
        links = json.loads(text)["links"]
        self.assertEqual([(link["first"], link["second"]) for link in links], ways(ranks))
        for link in links:
            self.assertEqual((link["backend"], link["copy_bytes"]), ("mpi", 64 << 10))
            for number in ("flag_ns", "copy_gb_per_s", "shared_gb_per_s"):
                self.assertGreater(link[number], 0, link)

    def test_ranks_that_we_start_are_measured_both_ways(self):
        done = self.run_program(PROGRAM, *QUICK, "--ranks", "3", "--json", "--csv", self.csv)
        self.assert_exit(done, 0)
        self.assert_links(done.stdout, 3)
        with open(self.csv, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(int(r["first"]), int(r["second"])) for r in rows], ways(3))
        self.assertEqual({r["first_host"] for r in rows}, {r["second_host"] for r in rows})

    def test_a_job_that_is_joined_is_measured_whole_and_rank_0_alone_prints(self):
        done = self.run_program(MPIRUN, "-n", 3, PROGRAM, *QUICK, "--json")
        self.assert_exit(done, 0)
        self.assert_links(done.stdout, 3)

    def test_the_slowest_link_is_named(self):
        done = self.run_program(PROGRAM, *QUICK, "--ranks", "2")
        self.assert_exit(done, 0)
        for what in ("slowest flag: rank", "slowest copy: rank", "slowest copy, all pairs at once: rank"):
            self.assertIn(what, done.stdout)

    def test_one_rank_and_too_long_messages_are_refused(self):
        self.assert_exit(self.run_program(PROGRAM, *QUICK, "--ranks", "1"), 6)
        self.assert_exit(self.run_program(PROGRAM, *QUICK[:-1], "2G", "--ranks", "2"), 2)
        self.assert_exit(self.run_program(PROGRAM, *QUICK, "--ranks", "0"), 2)
        done = self.run_program(PROGRAM, *QUICK, "--hostfile", self.csv)
        self.assert_exit(done, 2)
        self.assertIn("--ranks", done.stderr)

    def test_ctrl_c_ends_it_and_leaves_nobody(self):
        process = self.start(PROGRAM, "links", "--backend", "mpi", "--ranks", "8", "--size", "64M")
        self.wait_for(lambda: self.process_of_rank(7))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)

    def test_a_rank_that_is_killed_is_named(self):
        if not is_open_mpi():
            self.skipTest("the test finds ranks by Open MPI's variables")
        process = self.start(PROGRAM, "links", "--backend", "mpi", "--ranks", "4", "--size", "64M")
        self.wait_for(lambda: self.resident_of_rank(3) >= 64 << 20)  # its message is there: it measures
        os.kill(self.process_of_rank(3), signal.SIGKILL)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 8, said)
        self.assertIn("collmark: rank 3 was killed by signal 9", said)

    def test_a_rank_that_stops_is_found_out_whoever_measures(self):
        """As likely as not it waits for its turn, as do others, who are not to be taken for it."""
        if not is_open_mpi():
            self.skipTest("the test finds ranks by Open MPI's variables")
        process = self.start(PROGRAM, "links", "--backend", "mpi", "--ranks", "4", "--size", "64M", "--timeout", "2")
        self.wait_for(lambda: self.resident_of_rank(3) >= 64 << 20)
        os.kill(self.process_of_rank(3), signal.SIGSTOP)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 7, said)
        self.assertRegex(said, r"collmark: rank [012] has waited \S+ s for [^;]*; rank 3 had said nothing 1 s later\n")

    def test_a_rank_that_is_stuck_in_a_call_is_found_out(self):
        calls = {"MPI_Comm_dup": "begin with the links", "MPI_Ibarrier": "await the next link; rank 2 had said nothing"}
        for call, words in calls.items():
            with self.subTest(call=call):
                done = self.run_program(PROGRAM, *QUICK, "--ranks", "3", "--timeout", "1", "--launcher-args",
                                        preloaded(), COLLMARK_TEST_STUCK=f"{call}@2")  # fmt: skip
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertRegex(done.stderr, rf"rank \d has waited \S+ s for [^;]* {words}")

    def test_a_turn_may_take_longer_than_any_single_wait(self):
        """14 round trips of 2 messages of 80 ms are a turn of 2.2 s."""
        done = self.run_program(PROGRAM, *QUICK, "--ranks", "3", "--timeout", "1", "--json", "--launcher-args",
                                preloaded(), COLLMARK_TEST_SLOW_MS="80")  # fmt: skip
        self.assert_exit(done, 0)
        self.assert_links(done.stdout, 3)

    def resident_of_rank(self, rank):
        """[bytes]; 0 before there is such a process."""
        number = self.process_of_rank(rank)
        if number is None:
            return 0
        return int(Path(f"/proc/{number}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_a_rank_without_memory_for_its_message_says_so(self):
        if "sanitizers none" not in self.run_program(PROGRAM, "--version").stdout:
            self.skipTest("a sanitizer's shadow takes more addresses than the limit leaves")
        links = ["prlimit", f"--as={3 << 29}", PROGRAM, "links", "--backend", "mpi", "--size", "2147483647"]
        done = self.run_program(MPIRUN, "-n", 2, *links)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"collmark: --size: rank [01] has no memory for a message of 2147483647 bytes")


class OverANetwork(MpiSweep):
    def test_hosts_are_named_and_the_slow_rack_is_found(self):
        if not is_open_mpi():
            self.skipTest("the cluster tells Open MPI where its hosts are")
        done = self.run_program(
            ROOT / "scripts" / "emulated_cluster.sh", "run", "--hosts", "4", "--racks", "2", "--rate", "400mbit",
            "--uplink", "40mbit", "--name", "links", "--", PROGRAM, *QUICK[:-1], "256K", "--ranks", "4", "--csv",
            self.csv,
        )  # fmt: skip
        if done.returncode == REFUSED:
            self.skipTest(done.stderr)
        self.assert_exit(done, 0)
        with open(self.csv, newline="") as file:
            rows = {(r["first_host"], r["second_host"]): float(r["copy_gb_per_s"]) for r in csv.DictReader(file)}
        self.assertEqual(len(rows), 12)
        self.assertLess(rows["host0", "host3"], 0.044 / 8)
        self.assertGreater(rows["host0", "host1"], 2 * rows["host0", "host3"])
        self.assertRegex(
            done.stdout, r"slowest copy: rank [01] \(host[01]\) to rank [23]|slowest copy: rank [23] .* to rank [01]"
        )


if __name__ == "__main__":
    unittest.main()
