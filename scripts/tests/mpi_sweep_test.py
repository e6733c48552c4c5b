"""`collmark sweep --backend mpi` without a launcher: it starts mpirun itself."""

import unittest
from pathlib import Path

from cuda_support import stubbed
from mpi_support import QUICK, MpiSweep, is_open_mpi
from program import PROGRAM, collmark
from sweep_support import rows_of


class StartedByUs(MpiSweep):
    def test_our_algorithms_and_the_library_stand_in_one_table(self):
        algorithms = ["ring", "two_shot", "parameter_server", "library"]
        done = self.sweep(*QUICK, "--ranks", "2:4", "--algorithm", ",".join(algorithms), "--csv", self.csv)
        self.assert_exit(done, 0)
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 3 * 2 * 4)
        self.assertEqual({row["algorithm"] for row in rows}, set(algorithms))
        for row in rows:
            self.assertEqual((row["backend"], row["status"], row["wrong"], row["nodes"]), ("mpi", "ok", "0", "1"))
            if row["algorithm"] == "library":
                self.assertRegex(row["implementation"], r"^\D+ \d+\.\d+")
                self.assertEqual(row["wire_bytes_busiest"], "")
            else:
                self.assertEqual(row["implementation"], "collmark")
                self.assertGreater(int(row["messages_busiest"]), 0)
                if int(row["count"]) % int(row["ranks"]) == 0:
                    self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"], row)

    def test_windows_are_a_variant_with_its_own_rows_and_the_bytes_of_the_same_schedule(self):
        done = self.sweep(*QUICK, "--ranks", "2:3", "--algorithm", "ring,ring/window,double_binary_tree:4/window",
                          "--op", "sum,avg", "--placement", "in_place,out_of_place", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        rows = rows_of(self.csv)
        self.assertEqual(len(rows), 2 * 2 * 3 * 2 * 2)
        counted = {}
        for row in rows:
            self.assertEqual((row["status"], row["wrong"], row["implementation"]), ("ok", "0", "collmark"), row)
            key = row["ranks"], row["size_bytes"], row["placement"], row["op"]
            bytes_and_messages = row["wire_bytes_busiest"], row["messages_busiest"], row["rounds"]
            if row["algorithm"].startswith("ring"):
                self.assertEqual(counted.setdefault(key, bytes_and_messages), bytes_and_messages, row)
            self.assertNotEqual(row["pages"], "")

    def test_all_algorithms_run_in_windows_and_a_wrong_element_there_is_found(self):
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "all/window", "--csv", self.csv)
        self.assert_exit(done, 0)
        names = {row["algorithm"] for row in rows_of(self.csv)}
        self.assertGreater(len(names), 10)
        self.assertTrue(all(name.endswith("/window") for name in names), names)
        self.csv.unlink()
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "ring/window", "--csv", self.csv,
                          COLLMARK_TEST_CORRUPT="1")  # fmt: skip
        self.assert_exit(done, 5)

    def test_threads_have_no_windows_and_nobody_knows_other_variants(self):
        done = self.sweep("--backend", "threads", *QUICK[2:], "--ranks", "2", "--algorithm", "ring/window,ring",
                          "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "ok" if row["algorithm"] == "ring" else "skipped")
        done = self.sweep(*QUICK, "--algorithm", "ring/widow")
        self.assert_exit(done, 2)
        self.assertIn("did you mean 'window'?", done.stderr)

    def test_every_collective_of_the_library_is_measured(self):
        collectives = "all_reduce,reduce_scatter,all_gather,broadcast,reduce,all_to_all,barrier"
        done = self.sweep(*QUICK, "--ranks", "3", "--collective", collectives, "--algorithm", "library",
                          "--placement", "in_place,out_of_place", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        rows = rows_of(self.csv)
        for row in rows:
            in_place = row["placement"] == "in_place"
            self.assertEqual(row["status"] == "skipped", row["collective"] == "all_to_all" and in_place, row)
        names = {(r["collective"], r["placement"]): r["algorithm"] for r in rows}
        self.assertEqual(names["reduce_scatter", "in_place"], "library+move")
        self.assertEqual(names["reduce_scatter", "out_of_place"], "library")
        self.assertEqual(names["broadcast", "out_of_place"], "library+copy")

    def test_any_rank_may_be_the_root(self):
        for root in ("1", "2"):
            self.csv.unlink(missing_ok=True)
            algorithms = "all,binomial/window,library" + (",library:all" if is_open_mpi() else "")
            done = self.sweep(*QUICK, "--collective", "reduce,broadcast", "--root", root, "--ranks", "3",
                              "--algorithm", algorithms, "--csv", self.csv)  # fmt: skip
            self.assert_exit(done, 0)
            rows = rows_of(self.csv)
            self.assertEqual({(row["root"], row["status"]) for row in rows}, {(root, "ok")})
            self.assertEqual(
                {row["collective"] for row in rows if row["algorithm"] == "library"}, {"reduce", "broadcast"}
            )

    def test_what_the_library_has_no_type_for_is_skipped_and_the_average_is_named(self):
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "ring,library", "--dtype", "f32,f16,bf16",
                          "--op", "sum,avg", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "ok" if row["dtype"] == "f32" or row["algorithm"] == "ring" else "skipped")
            if row["status"] == "skipped":
                self.assertIn(row["dtype"], row["reason"])
            elif row["algorithm"] != "ring":
                self.assertEqual(row["algorithm"], "library+divide" if row["op"] == "avg" else "library")

    def test_each_launch_has_fresh_processes_and_samples_come_from_every_rank(self):
        samples = Path(self.folder.name) / "samples.csv"
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "ring", "--launches", "2", "--csv", self.csv,
                          "--samples", samples)  # fmt: skip
        self.assert_exit(done, 0)
        self.assertEqual(sorted(row["launch"] for row in rows_of(self.csv)), ["0", "0", "1", "1"])
        readings = rows_of(samples)
        self.assertEqual({row["rank"] for row in readings}, {"0", "1"})
        self.assertEqual(len(readings), 2 * sum(int(row["iterations"]) for row in rows_of(self.csv)))

    def test_a_wrong_result_of_the_library_is_found(self):
        one_by_one = ["--backend", "mpi", "--sizes", "256K", "-n", "5", "-w", "1"]  # a batch would hide call 3
        done = self.sweep(*one_by_one, "--ranks", "2", "--algorithm", "library", "--csv", self.csv,
                          COLLMARK_TEST_CORRUPT="1@3")  # fmt: skip
        self.assert_exit(done, 5)
        (row,) = rows_of(self.csv)
        self.assertEqual(row["status"], "failed")
        self.assertIn("rank 1, element", row["reason"])

    def test_ranks_that_do_not_start_are_an_absent_backend_with_its_reason(self):
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "ring", "--hostfile", "/no/such/hosts", "--csv",
                          self.csv)  # fmt: skip
        self.assert_exit(done, 77)
        for row in rows_of(self.csv):
            self.assertEqual(row["status"], "skipped")
            self.assertIn("starts no ranks", row["reason"])

    def test_where_mpirun_counts_fewer_cores_the_ranks_start_all_the_same(self):
        """hwloc's description of another machine: one core of two threads. Of the host the kernel may say otherwise."""
        for command in (["sweep", *QUICK, "--algorithm", "ring"], ["links", "--backend", "mpi", "--size", "64K"]):
            with self.subTest(command=command[0]):
                done = self.run_program(PROGRAM, *command, "--ranks", "2", HWLOC_SYNTHETIC="core:1 pu:2",
                                        HWLOC_THISSYSTEM="1")  # fmt: skip
                self.assert_exit(done, 0)

    def test_without_mpirun_the_backend_is_absent(self):
        done = self.sweep(*QUICK, "--ranks", "2", "--algorithm", "ring", "--csv", self.csv, PATH="/nowhere")
        self.assert_exit(done, 77)
        self.assertIn("mpirun", rows_of(self.csv)[0]["reason"])

    def test_a_csv_that_cannot_be_opened_is_refused_before_anything_is_started(self):
        done = self.sweep(*QUICK, "--csv", "/no/such/folder/x.csv")
        self.assert_exit(done, 2)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)

    def test_a_quote_left_open_is_refused(self):
        done = self.sweep(*QUICK, "--launcher-args", "--mca 'a")
        self.assert_exit(done, 2)
        self.assertIn("--launcher-args", done.stderr)


class Told(unittest.TestCase):
    def test_doctor_and_version_say_what_mpi_there_is(self):
        doctor, version = collmark("doctor").stdout, collmark("--version").stdout
        self.assertRegex(doctor, r"(?m)^  mpi +(yes|no): ")
        self.assertRegex(version, r"MPI (none|\D+ \d+\.\d+)")

    @unittest.skipUnless("MPI none" in collmark("--version").stdout, "this build has MPI")
    def test_a_build_without_mpi_refuses_to_run_as_copies(self):
        for flags in (["mpi"], ["cuda", "--processes"], ["cuda"], ["threads"]):
            with self.subTest(flags=flags):
                copy = ["sweep", "--algorithm", "ring", "--sizes", "8", "--backend", *flags]
                driver = stubbed(devices=4)
                done = collmark(*copy, **driver, OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="0")
                self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
                self.assertRegex(done.stderr, r"\Acollmark: started as rank 0 of 4 by Open MPI.* has no MPI .*\n\Z")
                other = collmark(*copy, **driver, OMPI_COMM_WORLD_SIZE="4", OMPI_COMM_WORLD_RANK="3")
                self.assertEqual((other.returncode, other.stdout, other.stderr), (77, "", ""))  # told once

    @unittest.skipUnless("MPI none" in collmark("--version").stdout, "this build has MPI")
    def test_a_build_without_mpi_starts_no_process_for_each_gpu(self):
        flags = ["--backend", "cuda", "--processes", "--algorithm", "ring", "--sizes", "8", "--ranks", "2"]
        done = collmark("sweep", *flags, **stubbed(devices=2))
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertRegex(done.stderr + done.stdout, r"skipped.*not built into this version")


if __name__ == "__main__":
    unittest.main()
