"""`collmark sweep --backend cuda` on the stub driver: everything but the GPU, and what becomes of its faults."""

import re
import unittest
from pathlib import Path

from cuda_support import NVML, STUB, STUB_NAME, stubbed
from program import collmark
from sweep_support import Folder, record_of, rows_of, sweep

# Each thread of a kernel is a fiber: few of them, few launches.
SMALL = ["--backend", "cuda", "--threads", "4", "--channels", "2", "-n", "2", "-w", "1", "--time-budget", "0.01"]
ONE = [*SMALL, "--ranks", "3", "--sizes", "1K", "--algorithm", "ring"]


class CudaTest(Folder):
    def run_sweep(self, *flags, code=0, **driver):
        """The rows, and what was said."""
        done = sweep(*flags, "--csv", self.csv, env=stubbed(**driver))
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def assert_all_ok(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)
            self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"], row)

    def assert_skipped(self, rows, *words):
        (row,) = rows
        self.assertEqual(row["status"], "skipped")
        for word in words:
            self.assertIn(word, row["reason"])
        self.assertEqual(row["time_us_p50"], "")


class Rows(CudaTest):
    def test_every_all_reduce_is_checked_and_moves_the_bytes_of_its_formula(self):
        rows, _ = self.run_sweep(*SMALL, "--ranks", "1,4", "--sizes", "12,1K", "--algorithm", "all")
        self.assert_all_ok(rows)
        self.assertGreater(len({row["algorithm"] for row in rows}), 12)

    def test_other_collectives_run_in_the_interpreter(self):
        for collective, algorithm in (
            ("reduce_scatter", "direct"),
            ("all_gather", "ring"),
            ("broadcast", "binomial"),
            ("reduce", "star"),
            ("all_to_all", "pairwise"),
            ("barrier", "dissemination"),
        ):
            self.csv.unlink(missing_ok=True)
            flags = ["--collective", collective, "--algorithm", algorithm, "--placement", "out_of_place"]
            rows, _ = self.run_sweep(*SMALL, "--ranks", "3", "--sizes", "1K", *flags)
            self.assert_all_ok(rows)

    def test_dtypes_operators_placements_modes_and_caches(self):
        what = ["--dtype", "f16,u8,i64", "--op", "avg,max", "--placement", "in_place,out_of_place"]
        rows, _ = self.run_sweep(*SMALL, "--ranks", "2", "--sizes", "1K", "--algorithm", "two_shot/simple", *what)
        self.assertEqual(len(rows), 12)
        self.assert_all_ok(rows)
        self.csv.unlink()
        rows, _ = self.run_sweep(*ONE, "--mode", "latency,throughput", "--cache", "cold,touched,untouched")
        self.assertEqual(len(rows), 6)
        self.assert_all_ok(rows)

    def test_variants_of_kernels_have_names_of_their_own(self):
        names = "ring,ring_interpreted,one_shot/LL,parameter_server/links,ring/graph,one_shot/LL/graph,ring/LL"
        names += ",ring/simple,double_binary_tree:3/simple/graph"
        rows, _ = self.run_sweep(*SMALL, "--ranks", "3", "--sizes", "64", "--algorithm", names)
        self.assertEqual(sorted(row["algorithm"] for row in rows), sorted(names.split(",")))
        self.assert_all_ok(rows)

    def test_graphs_are_replayed_on_every_device_and_in_batches(self):
        flags = [*SMALL, "--ranks", "3", "--sizes", "64", "--algorithm", "ring/graph", "--mode", "latency,throughput"]
        rows, _ = self.run_sweep(*flags, devices=2)
        self.assert_all_ok(rows)

    def test_ranks_are_shared_out_over_devices(self):
        kernels = "ring/simple,ring/LL,two_shot/simple,two_shot/LL"
        rows, _ = self.run_sweep(*SMALL, "--ranks", "3", "--sizes", "64", "--algorithm", kernels, devices=2)
        self.assert_all_ok(rows)
        self.assertEqual({row["devices"] for row in rows}, {"2"})


class Records(CudaTest):
    def test_no_row_of_the_stub_passes_for_a_gpu_s(self):
        rows, _ = self.run_sweep(*ONE)
        for row in rows:
            self.assertEqual((row["implementation"], row["device"]), (STUB_NAME, STUB_NAME))
        (device,) = record_of(self.csv)["devices"]
        self.assertTrue(device.startswith(STUB_NAME), device)
        self.assertEqual(record_of(self.csv)["environment"]["COLLMARK_CUDA_DRIVER"], STUB)

    def test_which_ranks_a_gpu_had_and_which_gpu_is_not_used(self):
        flags = [*SMALL, "--ranks", "1,3", "--sizes", "64", "--algorithm", "ring"]
        rows, _ = self.run_sweep(*flags, devices=3, fault="device_in_use@2", CUDA_MODULE_LOADING="LAZY")
        self.assert_all_ok(rows)
        first, second, left_out = record_of(self.csv)["devices"]
        self.assertRegex(first, "had ranks 0 of 1, 0-1 of 3$")
        self.assertRegex(second, "had ranks 2 of 3$")
        self.assertRegex(left_out, "^not used: GPU 1 .*Compute Mode")
        self.assertEqual(record_of(self.csv)["environment"]["CUDA_MODULE_LOADING"], "LAZY")
        doctor = collmark("doctor", **stubbed(devices=3, fault="device_in_use@2")).stdout
        self.assertIn("not used: GPU 1", doctor)

    def test_the_tuning_that_was_used_stands_in_the_row(self):
        ((row,), _) = self.run_sweep(*ONE, "--slots", "8", "--slot-bytes", "64")
        asked = "channels=2 threads=4 slots=8 slot_bytes=64"
        self.assertEqual((row["tuning"], row["asked_tuning"]), (f"{asked} protocol=LL", asked))
        self.assertEqual(record_of(self.csv)["configuration"]["slot_bytes"], [64])

    def test_small_buffers_go_by_lines_unless_the_name_says_otherwise(self):
        names = "one_shot,one_shot/LL,one_shot/simple"
        rows, _ = self.run_sweep(*SMALL, "--ranks", "2", "--sizes", "16K,20K", "--algorithm", names)
        ran = {(row["algorithm"], row["size_bytes"]): row["tuning"].rpartition("=")[2] for row in rows}
        self.assertEqual(ran, {
            ("one_shot", "16384"): "LL", ("one_shot", "20480"): "simple",
            ("one_shot/LL", "16384"): "LL", ("one_shot/LL", "20480"): "LL",
            ("one_shot/simple", "16384"): "simple", ("one_shot/simple", "20480"): "simple",
        })  # fmt: skip

    def test_buffers_that_miss_a_multiple_of_16_bytes_give_the_same_results(self):
        kernels = "ring,ring_interpreted,one_shot/LL"
        flags = ["--ranks", "3", "--sizes", "1K", "--dtype", "f32,u8", "--placement", "in_place,out_of_place"]
        rows, _ = self.run_sweep(*SMALL, "--algorithm", kernels, *flags, "--misaligned", "3")
        self.assertEqual(len(rows), 12)
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertTrue(all(row["tuning"].endswith(" misaligned=3") for row in rows))
        self.assertTrue(all(row["asked_tuning"].endswith(" misaligned=3") for row in rows))
        self.assertEqual(record_of(self.csv)["configuration"]["misaligned"], [3])

    def test_tuning_that_makes_no_sense_is_refused(self):
        for flag, value, why in (
            ("--slots", "3", "a link has 2, 4, 8, ... slots, not 3"),
            ("--slots", "4,2:6", "a link has 2, 4, 8, ... slots, not 3"),
            ("--slots", "1", "the least --slots is 2"),
            ("--slot-bytes", "8", "the least --slot-bytes is 16"),
            ("--slot-bytes", "16K,32T", "units are K, M and G"),
            ("--slot-bytes", "16K:128K", "a range of sizes needs a step"),
            ("--slot-bytes", "128K:16K:x2", "the end of a range is not below its start"),
            ("--channels", "0", "the least --channels is 1"),
            ("--channels", "4,x", "expected a number"),
            ("--channels", "4,,8", "expected a number"),
            ("--channels", "auto,", "expected a number"),
            ("--channels", "", "empty"),
            ("--threads", "0", "the least --threads is 1"),
            ("--threads", "4,513", "the largest --threads is 512"),
            ("--misaligned", "64", "no whole number from 0 to 63"),
            ("--misaligned", "1,2", "no whole number from 0 to 63"),
        ):
            with self.subTest(flag=flag, value=value):
                done = sweep(*ONE[:2], flag, value, "--csv", self.csv, env=stubbed())
                self.assert_exit(done, 2)
                complaint = done.stderr.splitlines()[0]
                for words in ("collmark: ", flag, value, why):
                    self.assertIn(words, complaint)
                self.assertFalse(self.csv.exists())


class Clocks(CudaTest):
    """The condition of a GPU, from a management library that knows the stub alone."""

    def test_clocks_power_and_temperature_stand_in_the_row_and_nothing_held_them_back(self):
        ((row,), done) = self.run_sweep(*ONE, COLLMARK_NVML=NVML)
        before = [row[name] for name in ("sm_mhz", "memory_mhz", "power_w", "temperature_c")]
        after = [row[name] for name in ("sm_after_mhz", "memory_after_mhz", "power_after_w", "temperature_after_c")]
        self.assertEqual((before, after, row["throttled"]), (["7", "11", "1.5", "3"], before, "no"))
        self.assertNotIn("throttled", done.stdout)

    def test_a_case_whose_clocks_were_held_back_is_marked(self):
        held = {"COLLMARK_NVML": NVML, "COLLMARK_STUB_NVML_HELD_BACK": "0x44"}
        ((row,), done) = self.run_sweep(*ONE, **held)
        self.assertEqual(row["throttled"], "sw_power_cap+hw_thermal_slowdown")
        self.assertIn("verified, throttled by sw_power_cap+hw_thermal_slowdown", done.stdout)

    def test_without_the_library_cells_are_empty_and_doctor_says_why(self):
        missing = {"COLLMARK_NVML": "/no/such/libnvidia-ml.so.1"}
        ((row,), _) = self.run_sweep(*ONE, **missing)
        self.assertEqual((row["status"], row["sm_mhz"], row["throttled"]), ("ok", "", ""))
        self.assertRegex(collmark("doctor", **missing).stdout, r"GPU clocks +not recorded: no NVML: /no/such/")
        here = collmark("doctor", **stubbed(), COLLMARK_NVML=NVML).stdout
        self.assertRegex(here, r"GPU clocks +recorded with each case of cuda")


class Faults(CudaTest):
    def test_a_wrong_result_is_found_on_the_device_and_told_with_its_place(self):
        ((row,), _) = self.run_sweep(*ONE, code=5, COLLMARK_TEST_CORRUPT="1@2")
        self.assertEqual((row["status"], row["wrong"]), ("failed", "1"))
        self.assertRegex(row["reason"], r"rank 1, element 128: got -?[\d.]+, expected -?\d+ ")

    def test_a_rank_that_never_comes_is_named(self):
        one = ["1" if word in "24" else word for word in ONE[:-1]] + [
            "ring/simple"
        ]  # one thread a rank gives up sooner
        ((row,), done) = self.run_sweep(*one, "--timeout", "0.1", code=7, COLLMARK_TEST_ABSENT_RANK="2")
        who = "rank 0 waited for rank 2 in step 0: data in slot 0 on channel 0, flag 1 expected, 0 found"
        self.assertEqual(row["reason"], f"timed out: {who}")
        self.assertIn(who, done.stderr)

    def test_a_kernel_that_never_ends_is_left_behind(self):
        ((row,), _) = self.run_sweep(*ONE, "--timeout", "0.1", code=7, fault="hang@4")
        self.assertTrue(row["reason"].startswith("timed out: the GPU"), row["reason"])

    def test_a_crash_loses_the_device(self):
        ((row,), _) = self.run_sweep(*ONE, code=8, fault="crash@4")
        self.assertTrue(row["reason"].startswith(f"lost: GPU 0 ({STUB_NAME})"), row["reason"])

    def test_memory_that_runs_out_is_a_skipped_row_beside_the_others(self):
        rows, _ = self.run_sweep(*SMALL, "--ranks", "2", "--sizes", "64,10G", "--algorithm", "ring")
        by_status = {row["status"]: row for row in rows}
        self.assertIn("memory", by_status["skipped"]["reason"])
        self.assertEqual(by_status["ok"]["size_bytes"], "64")
        self.csv.unlink()
        rows, _ = self.run_sweep(*ONE, code=6, fault="out_of_memory@3")  # less is there than was said
        self.assert_skipped(rows, "GPU 0", "allocating")

    def test_a_grid_that_does_not_fit_is_refused_and_not_hung(self):
        rows, _ = self.run_sweep(*ONE, code=6, fault="small_device")
        self.assert_skipped(rows, "3 ranks", "2 channels", "6 blocks", "holds 1")

    def test_a_driver_that_makes_no_graph_is_a_skipped_row(self):
        for fault, words in (
            ("no_graph", "making a graph"),
            ("no_capture", "launching ring_ll_all_reduce_f32"),
            ("no_graph_launch", "launching a graph"),
        ):
            with self.subTest(fault=fault):
                self.csv.unlink(missing_ok=True)
                rows, _ = self.run_sweep(*ONE[:-1], "ring/graph", code=6, fault=fault)
                self.assert_skipped(rows, words)

    def test_where_a_graph_is_refused_kernels_are_launched(self):
        rows, _ = self.run_sweep(*ONE[:-1], "one_shot,ring,ring/graph,two_shot", fault="no_capture")
        status = {row["algorithm"]: row["status"] for row in rows}
        self.assertEqual(status, {"one_shot": "ok", "ring": "ok", "ring/graph": "skipped", "two_shot": "ok"})

    def test_graphs_whose_launch_waits_for_their_end_do_not_wait_for_each_other(self):
        flags = [*ONE[:-1], "ring/graph", "--timeout", "2"]
        self.assert_all_ok(self.run_sweep(*flags, fault="blocking_graph@1", devices=2)[0])

    def test_a_launch_that_waits_for_its_end_is_a_skipped_row_and_no_hang(self):
        rows, _ = self.run_sweep(*ONE, "--timeout", "0.1", code=6, fault="blocking_launch")
        self.assert_skipped(rows, "did not return", "nothing was timed")
        self.csv.unlink()
        rows, _ = self.run_sweep(*ONE, code=77, CUDA_LAUNCH_BLOCKING="1")
        self.assert_skipped(rows, "CUDA_LAUNCH_BLOCKING=1")

    def test_kernels_that_are_short_beside_the_clock_s_tick_share_a_reading(self):
        flags = [*SMALL[:4], "--channels", "1", *SMALL[6:], "--ranks", "9", "--sizes", "36", "--algorithm", "ring"]
        ((row,), _) = self.run_sweep(*flags, "--timeout", "10", COLLMARK_STUB_STEP_NS="50")
        self.assertEqual((row["status"], row["batch"]), ("ok", "200"), row)  # 10 us of 50 ns

    def test_a_launch_that_is_refused_while_others_wait_for_it_ends_all_the_same(self):
        flags = [*SMALL, "--ranks", "2", "--sizes", "64", "--algorithm", "ring,two_shot", "--timeout", "0.2"]
        rows, _ = self.run_sweep(*flags, fault="launch_error@4", devices=2)  # two write inputs
        self.assertEqual([row["status"] for row in rows], ["skipped", "ok"])
        self.csv.unlink()
        rows, _ = self.run_sweep(*flags, code=7, fault="hang@3,launch_error@4", devices=2)
        self.assertRegex(rows[0]["reason"], "timed out: .* launching .* has not come to an end")

    def test_devices_that_do_not_reach_each_other_are_named(self):
        rows, _ = self.run_sweep(*ONE, code=6, fault="no_peer_access", devices=2)
        self.assert_skipped(rows, "GPU 0", "GPU 1")

    def test_a_refused_launch_is_a_skipped_row(self):
        rows, _ = self.run_sweep(*ONE, code=6, fault="launch_error@3")
        self.assert_skipped(rows, "launching")


class Absent(CudaTest):
    def test_without_a_driver_the_rows_say_so_and_the_code_is_77(self):
        done = sweep(*ONE, "--csv", self.csv, env={"COLLMARK_CUDA_DRIVER": "/no/such/libcuda.so.1"})
        self.assert_exit(done, 77)
        self.assert_skipped(rows_of(self.csv), "no CUDA driver: /no/such/libcuda.so.1")
        self.assertNotIn("\n", rows_of(self.csv)[0]["reason"])

    def test_a_driver_without_devices_or_code_for_them_is_absent_too(self):
        for fault, word in (("no_device", "nvidia-smi"), ("no_code", "nvcc")):
            with self.subTest(fault=fault):
                self.csv.unlink(missing_ok=True)
                rows, _ = self.run_sweep(*ONE, code=77, fault=fault)
                self.assert_skipped(rows, word)

    def test_doctor_says_what_is_there_and_what_is_not(self):
        here = collmark("doctor", **stubbed(devices=2)).stdout
        self.assertEqual(here.count(STUB_NAME), 2, here)
        gone = collmark("doctor", COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1").stdout
        self.assertRegex(gone, re.compile(r"cuda +no: no CUDA driver: /no/such"))


if __name__ == "__main__":
    if not Path(STUB).exists():
        raise SystemExit(f"{STUB} is not built")
    unittest.main()
