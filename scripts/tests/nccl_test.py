"""`collmark sweep --backend nccl` on stubs of NCCL and the driver, and what becomes of faults."""

import os
import re
import unittest
from pathlib import Path

from program import ROOT, collmark
from sweep_support import Folder, record_of, rows_of, sweep

DRIVER = os.environ.get("COLLMARK_STUB_DRIVER", str(ROOT / "build/kernels/stub_driver/libcollmark_stub_driver.so"))
NCCL = os.environ.get("COLLMARK_STUB_NCCL", str(ROOT / "build/kernels/stub_nccl/libcollmark_stub_nccl.so"))
REAL = os.environ.get("COLLMARK_TEST_NCCL", "/usr/local/cuda/lib64/libnccl.so.2")
NCCL_NAME = "collmark stub of NCCL (CPU, no GPU)"
FEW = ["--backend", "nccl", "-n", "2", "-w", "1", "--time-budget", "0.01"]
ONE = [*FEW, "--ranks", "3", "--sizes", "1K", "--algorithm", "library"]


def stubbed(fault="", devices=4, driver_fault="", **more):
    return {
        "COLLMARK_CUDA_DRIVER": DRIVER,
        "COLLMARK_STUB_DEVICES": str(devices),
        "COLLMARK_STUB_FAULT": driver_fault,
        "COLLMARK_NCCL": NCCL,
        "COLLMARK_STUB_NCCL_FAULT": fault,
        **more,
    }


def merged(*flags):
    """Flags with a value each; the last of a name counts."""
    pairs = dict(zip(flags[::2], flags[1::2], strict=True))
    return [word for pair in pairs.items() for word in pair]


class NcclTest(Folder):
    def run_sweep(self, *flags, code=0, **stubs):
        """The rows, and what was said."""
        self.csv.unlink(missing_ok=True)
        done = sweep(*merged(*flags), "--csv", self.csv, env=stubbed(**stubs))
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def assert_all_ok(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)

    def assert_skipped(self, rows, *words):
        (row,) = rows
        self.assertEqual(row["status"], "skipped")
        for word in words:
            self.assertIn(word, row["reason"])
        self.assertEqual(row["time_us_p50"], "")


class Rows(NcclTest):
    def test_every_collective_is_checked_in_place_and_out_of_place(self):
        names = "all_reduce,reduce_scatter,all_gather,broadcast,reduce"
        both = ["--placement", "in_place,out_of_place", "--algorithm", "library"]
        rows, _ = self.run_sweep(*FEW, "--collective", names, "--ranks", "2:4", "--sizes", "0,48,12K", *both)
        self.assertEqual(len(rows), 5 * 3 * 3 * 2)
        self.assert_all_ok(rows)
        rows, _ = self.run_sweep(
            *ONE, "--collective", "all_to_all", "--root", "0", "--placement", "out_of_place", "--sizes", "1K"
        )
        self.assert_all_ok(rows)

    def test_another_root_than_0(self):
        rows, _ = self.run_sweep(*ONE, "--collective", "broadcast,reduce", "--root", "2")
        self.assert_all_ok(rows)

    def test_data_types_operators_modes_and_caches(self):
        rows, _ = self.run_sweep(
            *FEW, "--ranks", "4", "--sizes", "1K", "--algorithm", "library",
            "--dtype", "f32,f64,f16,bf16,i32,i64,u8", "--op", "sum,prod,min,max,avg",
        )  # fmt: skip
        self.assertEqual(len(rows), 35)
        self.assert_all_ok(rows)
        rows, _ = self.run_sweep(*ONE, "--mode", "latency,throughput", "--cache", "cold,touched,untouched")
        self.assertEqual(len(rows), 6)
        self.assert_all_ok(rows)

    def test_variants_are_rows_of_their_own(self):
        names = "library,library/graph,library/registered,library/registered/graph,library:tree/LL/graph"
        rows, _ = self.run_sweep(*FEW, "--ranks", "3", "--sizes", "1K", "--algorithm", names)
        self.assertEqual(sorted(row["algorithm"] for row in rows), sorted(names.split(",")))
        self.assert_all_ok(rows)

    def test_registration_in_one_process_is_switched_on_where_it_is_asked_for_and_said(self):
        variable = "NCCL_SINGLE_PROC_MEM_REG_ENABLE"
        ((row,), _) = self.run_sweep(*ONE, "--algorithm", "library/registered")
        self.assertTrue(row["tuning"].endswith(f"channels=2 {variable}=1"), row)
        self.assertEqual(record_of(self.csv)["environment"][variable], "1")
        ((row,), _) = self.run_sweep(*ONE, "--algorithm", "library/registered", **{variable: "0"})
        self.assertTrue(row["tuning"].endswith(f" {variable}=0"), row)
        ((row,), _) = self.run_sweep(*ONE)
        self.assertNotIn(variable, row["tuning"])
        self.assertNotIn(variable, record_of(self.csv)["environment"])

    def test_a_forced_algorithm_is_read_back(self):
        rows, _ = self.run_sweep(*FEW, "--ranks", "2,3", "--sizes", "1K", "--algorithm", "library,library:tree/LL128")
        said = {row["algorithm"]: row["tuning"] for row in rows}
        self.assertEqual(said["library"], "algorithm=ring protocol=simple channels=2")
        self.assertEqual(said["library:tree/LL128"], "algorithm=tree protocol=LL128 channels=2")

    def test_all_algorithms_of_the_library_are_those_of_nccl(self):
        rows, _ = self.run_sweep(
            *FEW, "--ranks", "2", "--sizes", "64", "--collective", "all_reduce,broadcast", "--algorithm", "library:all"
        )
        self.assertEqual(len(rows), 7)
        self.assertIn("library:nvls", {row["algorithm"] for row in rows})

    def test_each_launch_has_communicators_of_its_own(self):
        rows, _ = self.run_sweep(*ONE, "--ranks", "2,4", "--launches", "2")
        self.assertEqual(len(rows), 4)
        self.assert_all_ok(rows)

    def test_algorithms_lists_what_can_be_forced_and_needs_no_gpu(self):
        stubs = stubbed(COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1")
        text = collmark("algorithms", "--backend", "nccl", "--collective", "all_reduce", **stubs).stdout
        self.assertTrue(text.startswith(NCCL_NAME), text)
        self.assertRegex(text, r"all_reduce +library:nvls_tree +NVLSTree")
        gone = collmark("algorithms", "--backend", "nccl", **stubbed(COLLMARK_NCCL="/no/such/libnccl.so.2"))
        self.assertEqual(gone.returncode, 77)


class Records(NcclTest):
    def test_no_row_of_the_stub_passes_for_nccl_s(self):
        ((row,), _) = self.run_sweep(*ONE)
        self.assertEqual((row["implementation"], row["backend"]), (NCCL_NAME, "nccl"))
        self.assertEqual(row["devices"], "3")
        library, *gpus = record_of(self.csv)["devices"]
        self.assertEqual(library, f"{NCCL_NAME}, called as nccl.h of 2.28.9 declares it")
        self.assertEqual(len(gpus), 4)

    def test_what_nccl_does_not_say_is_not_guessed(self):
        ((row,), _) = self.run_sweep(*ONE, fault="silent")
        self.assertEqual(row["tuning"], "NCCL does not say what ran")
        ((row,), _) = self.run_sweep(*ONE, "--algorithm", "library:tree", fault="silent")
        self.assertEqual(row["tuning"], "asked for tree; NCCL does not say what ran")
        ((row,), _) = self.run_sweep(*ONE, NCCL_DEBUG="WARN")
        self.assertEqual(row["tuning"], "NCCL does not say what ran")

    def test_another_algorithm_than_the_one_asked_for_stands_in_the_name(self):
        ((row,), _) = self.run_sweep(*ONE, "--algorithm", "library:ring", fault="other_algorithm")
        self.assertEqual(row["algorithm"], "library:ring->tree/simple")

    def test_a_library_older_than_2_24_is_told_in_its_own_form(self):
        ((row,), _) = self.run_sweep(*ONE, "--algorithm", "library:tree", fault="old_form")
        self.assertEqual((row["status"], row["tuning"]), ("ok", "algorithm=tree protocol=simple channels=2"))


class Skipped(NcclTest):
    def test_one_rank_is_no_baseline(self):
        rows, _ = self.run_sweep(*ONE, "--ranks", "1", code=6)
        self.assert_skipped(rows, "a one-rank NCCL runs no kernel and is no baseline")

    def test_two_ranks_on_one_gpu_are_refused(self):
        rows, _ = self.run_sweep(*ONE, code=6, devices=2)
        self.assert_skipped(rows, "3 ranks, 2 GPUs", "NCCL 2.28.9 refuses two ranks on one GPU")
        rows, _ = self.run_sweep(*ONE, code=6, devices=2, fault="new")
        self.assert_skipped(rows, "NCCL 2.30.0 refuses", "unless NCCL_MULTI_RANK_GPU_ENABLE is set")

    def test_what_nccl_does_not_have(self):
        for flags, words in (
            (["--collective", "barrier"], "NCCL has no barrier"),
            (["--collective", "all_gather", "--sizes", "20"], "equal parts"),
            (["--collective", "all_to_all", "--placement", "in_place"], "in place"),
            (["--op", "avg"], "multiplies each input by 1/3"),
            (["--collective", "all_to_all", "--placement", "out_of_place", "--algorithm", "library:ring"], "to force"),
            (["--algorithm", "ring"], "--backend cuda"),
        ):
            with self.subTest(flags=flags):
                rows, _ = self.run_sweep(*ONE, *flags, code=6)
                self.assert_skipped(rows, words)

    def test_an_algorithm_that_nccl_refuses_is_a_row_in_its_words_and_the_next_goes_on(self):
        names = "library:nvls,library"
        rows, _ = self.run_sweep(*ONE, "--algorithm", names, fault="refuse_algorithm")
        by_name = {row["algorithm"]: row for row in rows}
        self.assertIn("no algorithm/protocol available for function AllReduce", by_name["library:nvls"]["reason"])
        self.assertEqual(by_name["library"]["status"], "ok")

    def test_memory_that_runs_out(self):
        rows, _ = self.run_sweep(*ONE, code=6, driver_fault="out_of_memory@3")
        self.assert_skipped(rows, "allocating")
        rows, _ = self.run_sweep(*ONE, "--algorithm", "library/registered", code=6, driver_fault="out_of_memory@1")
        self.assert_skipped(rows, "NCCL cannot allocate")

    def test_names_that_nccl_does_not_have_are_a_usage_error(self):
        for name in ("library:rnig", "library/grahp"):
            done = sweep(*merged(*ONE, "--algorithm", name), env=stubbed())
            self.assert_exit(done, 2)
            self.assertIn("did you mean", done.stderr)


class Faults(NcclTest):
    def test_a_communicator_that_is_never_finished_ends_in_7(self):
        ((row,), _) = self.run_sweep(*ONE, "--timeout", "0.1", code=7, fault="hang_init")
        self.assertEqual(
            row["reason"],
            "timed out: NCCL has not come to an end of making a communicator of 3 ranks in 100 ms",
        )

    def test_an_operation_that_never_ends_is_aborted_and_ends_in_7(self):
        for name, fault in (("library", "hang@9"), ("library/graph", "hang@5"), ("library:tree", "hang@2")):
            ((row,), _) = self.run_sweep(*ONE, "--algorithm", name, "--timeout", "0.1", code=7, fault=fault)
            self.assertTrue(row["reason"].startswith("timed out: NCCL's all_reduce on 3 ranks was aborted"), row)

    def test_an_abort_that_never_ends_either_is_left_behind(self):
        for name in ("library", "library:tree"):
            ((row,), _) = self.run_sweep(
                *ONE, "--algorithm", name, "--timeout", "0.2", code=7, fault="hang@2,hang_abort"
            )
            self.assertTrue(row["reason"].startswith("timed out: NCCL's all_reduce on 3 ranks was aborted"), row)

    def test_communicators_that_are_never_given_back_end_in_7_with_the_rows_that_are_done(self):
        flags = [*ONE, "--timeout", "0.5", "--launches", "2"]
        rows, _ = self.run_sweep(*flags, code=7, fault="hang_destroy")
        self.assertEqual([row["status"] for row in rows], ["ok"])

    def test_an_error_of_a_rank_ends_in_8_in_nccl_s_words(self):
        for fault in ("async_error", "async_error@4"):
            ((row,), _) = self.run_sweep(*ONE, code=8, fault=fault)
            self.assertRegex(row["reason"], "lost: NCCL, all_reduce: remote process exited")

    def test_a_communicator_that_cannot_be_made_ends_in_8(self):
        ((row,), _) = self.run_sweep(*ONE, code=8, fault="init_error")
        self.assertIn("Call to connect failed", row["reason"])

    def test_a_wrong_result_ends_in_5(self):
        ((row,), _) = self.run_sweep(*ONE, code=5, fault="wrong@2")
        self.assertEqual((row["status"], row["wrong"]), ("failed", "1"))
        self.assertIn("rank 0, element 128", row["reason"])

    def test_a_driver_without_graphs_is_told(self):
        rows, _ = self.run_sweep(*ONE, "--algorithm", "library/graph", code=6, driver_fault="no_graph")
        self.assert_skipped(rows, "making a graph")


class TheLibraryItself(NcclTest):
    """Where NCCL is installed and no driver is, it refuses by itself: its functions are called as it expects."""

    def test_without_a_driver_it_refuses_in_its_own_words_and_is_aborted(self):
        if not Path(REAL).exists() or Path("/proc/driver/nvidia/version").exists():
            self.skipTest(f"needs {REAL} and no driver")
        for name in ("library", "library:ring"):
            ((row,), _) = self.run_sweep(*ONE, "--algorithm", name, "--timeout", "20", code=8, COLLMARK_NCCL=REAL)
            self.assertRegex(row["implementation"] + row["reason"], "unhandled cuda error.*driver")


class Absent(NcclTest):
    def test_without_nccl_the_rows_say_so_and_the_code_is_77(self):
        rows, _ = self.run_sweep(*ONE, code=77, COLLMARK_NCCL="/no/such/libnccl.so.2")
        self.assert_skipped(rows, "no NCCL: /no/such/libnccl.so.2")
        self.assertNotIn("\n", rows[0]["reason"])

    def test_without_a_driver_it_says_that_the_library_is_there(self):
        rows, _ = self.run_sweep(*ONE, code=77, COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1")
        self.assert_skipped(rows, "no CUDA driver", f"{NCCL_NAME} is here")

    def test_one_that_is_too_old_is_named_with_what_is_needed(self):
        rows, _ = self.run_sweep(*ONE, code=77, fault="old")
        self.assert_skipped(rows, "NCCL 2.17.1 is too old", "2.18.0")

    def test_doctor_says_what_is_there_and_what_is_not(self):
        here = collmark("doctor", **stubbed()).stdout
        self.assertRegex(here, rf"nccl +yes: {re.escape(NCCL_NAME)}")
        gone = collmark("doctor", **stubbed(COLLMARK_NCCL="/no/such/libnccl.so.2")).stdout
        self.assertRegex(gone, r"nccl +no: no NCCL: /no/such")


if __name__ == "__main__":
    for library in (DRIVER, NCCL):
        if not Path(library).exists():
            raise SystemExit(f"{library} is not built")
    unittest.main()
