"""`mpirun collmark sweep --backend nccl`: a process for each GPU, on stubs of NCCL and the driver."""

import unittest
from pathlib import Path

from mpi_support import MpiSweep, each_behind_its_own
from nccl_test import DRIVER, FEW, NCCL, NCCL_NAME, merged, stubbed
from program import PROGRAM
from sweep_support import record_of, rows_of

ONE = [*FEW, "--sizes", "1K", "--algorithm", "library"]
# So that a rank can be killed in the midst of it.
ENDLESS = ["--backend", "nccl", "--ranks", "2", "--sizes", "64:4K:x2", "--algorithm", "library,library:tree/graph",
           "--launches", "500", "-n", "2000", "--time-budget", "0.1"]  # fmt: skip
SECOND_GPU = "GPU-00000000-0000-0000-0000-000000000002"


class NcclJob(MpiSweep):
    """A device for each process of a host, unless a test says otherwise."""

    def join(self, ranks, *flags, code=0, **stubs):
        """The rows of a job that mpirun has started, and what was said."""
        self.csv.unlink(missing_ok=True)
        done = self.mpirun(ranks, *merged(*flags), "--csv", self.csv, **stubbed(**stubs))
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def start_ranks(self, *flags, code=0, **stubs):
        """The same of a job that the sweep starts itself."""
        self.csv.unlink(missing_ok=True)
        done = self.sweep(*merged(*flags), "--processes", "--csv", self.csv, **stubbed(**stubs))
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def join_unlike(self, *ranks, flags=ONE, code=0, **stubs):
        """A job whose ranks differ in their environment, one after the other."""
        self.csv.unlink(missing_ok=True)
        sweep = [PROGRAM, "sweep", *merged(*flags, "--csv", str(self.csv))]
        job = each_behind_its_own([["env", *changes] for changes in ranks], *sweep)
        done = self.run_program(*job, **stubbed(**stubs))
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def assert_all_ok(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)
            self.assertEqual((row["implementation"], row["devices"]), (NCCL_NAME, row["ranks"]), row)
            self.assertTrue(row["tuning"].startswith(f"processes={row['ranks']} algorithm="), row)

    def assert_skipped(self, rows, *words):
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual((row["status"], row["time_us_p50"]), ("skipped", ""), row)
            for word in words:
                self.assertIn(word, row["reason"])


class Rows(NcclJob):
    def test_every_collective_on_every_number_of_ranks_of_one_job(self):
        names = "all_reduce,reduce_scatter,all_gather,broadcast,reduce"
        both = ["--placement", "in_place,out_of_place"]
        rows, _ = self.join(4, *ONE, "--collective", names, "--ranks", "2:4", "--sizes", "0,12K", *both)
        self.assertEqual(len(rows), 5 * 3 * 2 * 2)
        self.assert_all_ok(rows)
        rows, _ = self.join(3, *ONE, "--ranks", "3", "--collective", "all_to_all", "--placement", "out_of_place")
        self.assert_all_ok(rows)

    def test_data_types_operators_modes_and_caches(self):
        rows, _ = self.join(
            4, *ONE, "--ranks", "4", "--dtype", "f32,f64,f16,bf16,i32,i64,u8", "--op", "sum,prod,min,max,avg"
        )
        self.assertEqual(len(rows), 35)
        self.assert_all_ok(rows)
        rows, _ = self.join(
            3, *ONE, "--ranks", "2,3", "--mode", "latency,throughput", "--cache", "cold,touched,untouched"
        )
        self.assertEqual(len(rows), 12)
        self.assert_all_ok(rows)

    def test_variants_and_forced_algorithms_are_rows_of_their_own(self):
        names = "library,library/graph,library/registered,library/registered/graph,library:tree/LL/graph"
        rows, _ = self.join(3, *ONE, "--ranks", "2,3", "--algorithm", names)
        self.assertEqual(len(rows), 10)
        self.assert_all_ok(rows)
        for row in rows:
            forced = row["algorithm"].startswith("library:tree")
            ran = "algorithm=tree protocol=LL" if forced else "algorithm=ring protocol=simple"
            self.assertEqual(row["tuning"], f"processes={row['ranks']} {ran} channels=2")

    def test_processes_that_we_start_do_the_same(self):
        rows, _ = self.start_ranks(*ONE, "--ranks", "2,3", "--launches", "2")
        self.assertEqual(len(rows), 4)
        self.assert_all_ok(rows)

    def test_launches_of_one_job_have_communicators_of_their_own(self):
        rows, _ = self.join(2, *ONE, "--ranks", "2", "--launches", "2", "--algorithm", "library,library:tree")
        self.assertEqual(len(rows), 4)
        self.assert_all_ok(rows)

    def test_one_job_serves_messages_our_kernels_and_nccl(self):
        small = ["--threads", "4", "--channels", "2", "--algorithm", "ring,library"]
        rows, _ = self.join(2, *ONE, *small, "--ranks", "2", "--backend", "mpi,cuda,nccl")
        ok = {(row["backend"], row["algorithm"]) for row in rows if row["status"] == "ok"}
        self.assertEqual(ok, {("mpi", "ring"), ("mpi", "library"), ("cuda", "ring"), ("nccl", "library")})

    def test_a_job_of_one_process_puts_a_rank_on_each_of_its_gpus(self):
        ((row,), _) = self.join(1, *ONE, "--ranks", "3")
        self.assertEqual((row["status"], row["devices"]), ("ok", "3"))
        self.assertNotIn("processes=", row["tuning"])


class Places(NcclJob):
    def test_the_record_has_the_library_and_each_rank_s_gpu(self):
        for run in (lambda: self.join(3, *ONE, "--ranks", "3"), lambda: self.start_ranks(*ONE, "--ranks", "3")):
            run()
            library, *gpus = record_of(self.csv)["devices"]
            self.assertEqual(library, f"{NCCL_NAME}, called as nccl.h of 2.28.9 declares it")
            self.assertEqual(len(gpus), 3)
            self.assertRegex(gpus[2], rf"^rank 2 on .*{SECOND_GPU}")

    def test_where_each_process_sees_one_gpu_it_takes_that_one(self):
        ranks = [[f"COLLMARK_STUB_VISIBLE={number}"] for number in "203"]
        rows, _ = self.join_unlike(*ranks, flags=[*ONE, "--ranks", "3"])
        self.assert_all_ok(rows)

    def test_two_ranks_on_one_gpu_are_refused_whatever_it_is_called(self):
        ranks = [[f"COLLMARK_STUB_VISIBLE={number}"] for number in "202"]
        rows, _ = self.join_unlike(*ranks, flags=[*ONE, "--ranks", "3"], code=6)
        self.assert_skipped(rows, "ranks 0 and 2", SECOND_GPU, "refuses two ranks on one GPU")

    def test_more_ranks_than_gpus_cost_those_cases_alone(self):
        rows, _ = self.join(3, *ONE, "--ranks", "2,3", devices=2)
        by_ranks = {row["ranks"]: row for row in rows}
        self.assert_all_ok([by_ranks["2"]])
        self.assert_skipped([by_ranks["3"]], "ranks 0 and 2")


class Skipped(NcclJob):
    def test_what_nccl_does_not_have(self):
        for flags, words in (
            (["--ranks", "1"], "no baseline"),
            (["--collective", "barrier"], "NCCL has no barrier"),
            (["--op", "avg"], "multiplies each input by 1/3"),
            (["--algorithm", "ring"], "--backend cuda"),
        ):
            with self.subTest(flags=flags):
                rows, _ = self.join(3, *ONE, "--ranks", "3", *flags, code=6)
                self.assert_skipped(rows, words)

    def test_what_one_rank_cannot_do_all_skip_and_go_on(self):
        rows, _ = self.join(2, *ONE, "--ranks", "2", "--sizes", "64,10G")
        by_size = {row["size_bytes"]: row for row in rows}
        self.assert_all_ok([by_size["64"]])
        self.assert_skipped([by_size[str(10 << 30)]], "memory")
        for what, words in (("library", "allocating"), ("library/registered", "NCCL cannot allocate")):
            flags = [*ONE, "--ranks", "3", "--algorithm", what, "--sizes", "1K,2K"]
            rows, _ = self.join_unlike([], ["COLLMARK_STUB_FAULT=out_of_memory@1"], [], flags=flags)
            by_status = {row["status"]: row for row in rows}
            self.assert_skipped([by_status["skipped"]], words)
            self.assert_all_ok([by_status["ok"]])

    def test_an_algorithm_that_one_rank_refuses_all_give_up_and_the_next_goes_on(self):
        flags = [*ONE, "--ranks", "2,3", "--algorithm", "library:nvls,library"]
        ranks = [[], ["COLLMARK_STUB_NCCL_FAULT=refuse_algorithm"], []]
        rows, _ = self.join_unlike(*ranks, flags=flags)
        refused = [row for row in rows if row["algorithm"] == "library:nvls"]
        self.assertEqual(len(refused), 2)
        self.assert_skipped(refused, "no algorithm/protocol available for function AllReduce")
        self.assert_all_ok([row for row in rows if row["algorithm"] == "library"])

    def test_a_driver_without_graphs_on_one_rank(self):
        flags = [*ONE, "--ranks", "2", "--algorithm", "library/graph,library"]
        rows, _ = self.join_unlike([], ["COLLMARK_STUB_FAULT=no_graph"], flags=flags)
        by_name = {row["algorithm"]: row for row in rows}
        self.assert_skipped([by_name["library/graph"]], "making a graph")
        self.assert_all_ok([by_name["library"]])


class Faults(NcclJob):
    def test_a_communicator_that_is_never_finished_ends_in_7(self):
        """Even if NCCL cannot abort it at any rank."""
        joined, started = lambda *f, **m: self.join(2, *f, **m), self.start_ranks
        for run, fault in ((joined, "hang_init"), (started, "hang_init"), (started, "hang_init,hang_abort")):
            ((row,), _) = run(*ONE, "--ranks", "2", "--timeout", "1", code=7, fault=fault)
            made = "NCCL has not come to an end of making a communicator of 2 ranks in 1000 ms"
            self.assertRegex(row["reason"], rf"^timed out: rank \d: NCCL's all_reduce on 2 ranks .*: {made}")

    def test_an_operation_that_never_ends_ends_in_7_with_the_rank_that_waited(self):
        for name, fault in (("library", "hang@4"), ("library/graph", "hang@2"), ("library:tree", "hang@2")):
            with self.subTest(name=name):
                flags = [*ONE, "--ranks", "3", "--algorithm", name, "--timeout", "1"]
                ((row,), _) = self.start_ranks(*flags, code=7, fault=fault)
                self.assertRegex(
                    row["reason"], r"^timed out: rank \d: NCCL's all_reduce on 3 ranks has not come to an end"
                )

    def test_a_rank_that_never_comes_ends_in_7(self):
        for run in (lambda *f, **m: self.join(3, *f, **m), self.start_ranks):
            ((row,), _) = run(*ONE, "--ranks", "3", "--timeout", "1", code=7, COLLMARK_TEST_ABSENT_RANK="2")
            self.assertRegex(row["reason"], r"^timed out: rank [01]")

    def test_an_error_of_a_rank_ends_in_8_in_nccl_s_words(self):
        for fault in ("async_error@4", "init_error"):
            words = "remote process exited" if fault.startswith("async") else "Call to connect failed"
            ((row,), _) = self.start_ranks(*ONE, "--ranks", "2", code=8, fault=fault)
            self.assertRegex(row["reason"], rf"^lost: rank \d: NCCL, .*{words}")

    def test_a_wrong_result_is_told_with_its_rank(self):
        ((row,), _) = self.join(3, *ONE, "--ranks", "3", code=5, COLLMARK_TEST_CORRUPT="1@2")
        self.assertRegex(row["reason"], r"rank 1, element 128: got -?[\d.]+, expected -?\d+ ")
        ((row,), _) = self.join(3, *ONE, "--ranks", "3", code=5, fault="wrong@2")
        self.assertEqual((row["status"], row["wrong"]), ("failed", "1"))

    def test_a_killed_rank_is_named_and_finished_rows_are_kept(self):
        self.assert_a_kill_is_told(*ENDLESS, "--processes", **stubbed())


class Absent(NcclJob):
    def test_one_rank_without_nccl_makes_the_backend_absent(self):
        missing = ["COLLMARK_NCCL=/no/such/libnccl.so.2"]
        rows, _ = self.join_unlike([], missing, flags=[*ONE, "--ranks", "2"], code=77)
        self.assert_skipped(rows, "rank 1 on ", "no NCCL: /no/such/libnccl.so.2")

    def test_ranks_that_we_start_may_find_no_nccl_or_no_driver_either(self):
        rows, _ = self.start_ranks(*ONE, "--ranks", "2", code=77, COLLMARK_NCCL="/no/such/libnccl.so.2")
        self.assert_skipped(rows, "rank 0 on ", "no NCCL")
        rows, _ = self.start_ranks(*ONE, "--ranks", "2", code=77, COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1")
        self.assert_skipped(rows, "rank 0 on ", "no CUDA driver")

    def test_ranks_with_different_versions_are_told_apart(self):
        rows, _ = self.join_unlike([], ["COLLMARK_STUB_NCCL_FAULT=old"], flags=[*ONE, "--ranks", "2"], code=77)
        self.assert_skipped(rows, "rank 1 on ", "NCCL 2.17.1 is too old")


if __name__ == "__main__":
    for library in (DRIVER, NCCL):
        if not Path(library).exists():
            raise SystemExit(f"{library} is not built")
    unittest.main()
