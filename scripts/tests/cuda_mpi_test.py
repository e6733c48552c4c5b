"""`mpirun collmark sweep --backend cuda`: a process for each GPU, on the stub driver, where memory goes from process to
process by the calls of CUDA IPC."""

import unittest
from pathlib import Path

from cuda_support import NVML, STUB, STUB_NAME, stubbed
from cuda_test import SMALL
from mpi_support import MpiSweep, each_behind_its_own
from program import PROGRAM
from sweep_support import record_of, rows_of

VARIANTS = (
    "ring_interpreted,ring/simple,double_binary_tree/simple,one_shot/simple,two_shot/simple,one_shot/LL,two_shot/LL,ring/LL,"
    "double_binary_tree/LL,parameter_server/LL,parameter_server/links"
)
ONE = [*SMALL, "--sizes", "1K", "--algorithm", "ring"]
# So that a rank can be killed in the midst of it.
ENDLESS = ["--backend", "cuda", "--threads", "4", "--channels", "1", "--ranks", "2", "--sizes", "64:4K:x2",
           "--algorithm", "ring,two_shot", "--launches", "500", "-n", "2000", "--time-budget", "0.1"]  # fmt: skip


class CudaJob(MpiSweep):
    """A device for each process of a host, unless a test says otherwise."""

    def join(self, ranks, *flags, code=0, fault="", devices=4, **more):
        """The rows of a job that mpirun has started, and what was said."""
        self.csv.unlink(missing_ok=True)
        done = self.mpirun(ranks, *flags, "--csv", self.csv, **{**stubbed(fault, devices), **more})
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def start_ranks(self, *flags, code=0, fault="", devices=4, **more):
        """The same of a job that the sweep starts itself."""
        self.csv.unlink(missing_ok=True)
        done = self.sweep(*flags, "--processes", "--csv", self.csv, **{**stubbed(fault, devices), **more})
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def assert_all_ok(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)
            self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"], row)
            self.assertEqual((row["device"], row["devices"]), (STUB_NAME, row["ranks"]), row)
            self.assertTrue(row["tuning"].startswith(f"processes={row['ranks']} channels="), row)

    def assert_skipped(self, rows, *words):
        for row in rows:
            self.assertEqual(row["status"], "skipped", row)
            for word in words:
                self.assertIn(word, row["reason"])


class Rows(CudaJob):
    def test_every_all_reduce_is_checked_and_moves_the_bytes_of_its_formula(self):
        algorithms = "all," + VARIANTS
        for ranks in (2, 3, 4):
            rows, _ = self.join(ranks, *SMALL, "--ranks", ranks, "--sizes", "1K", "--algorithm", algorithms)
            done = [row for row in rows if row["status"] != "skipped"]
            self.assert_all_ok(done)
            self.assertGreater(len({row["algorithm"] for row in done}), 14)
            self.assertTrue(ranks == 3 or len(done) == len(rows), rows)  # some cannot do 3 ranks

    def test_other_collectives(self):
        for collective, algorithm in (
            ("reduce_scatter", "ring"),
            ("all_gather", "ring"),
            ("broadcast", "binomial"),
            ("reduce", "star"),
            ("all_to_all", "pairwise"),
            ("barrier", "dissemination"),
        ):
            flags = ["--collective", collective, "--algorithm", algorithm, "--placement", "out_of_place"]
            rows, _ = self.join(3, *SMALL, "--ranks", "3", "--sizes", "1K", *flags)
            self.assert_all_ok(rows)

    def test_buffers_that_miss_a_multiple_of_16_bytes(self):
        what = ["--dtype", "f32,u8", "--placement", "in_place,out_of_place", "--misaligned", "3"]
        algorithms = "ring/simple,ring_interpreted,two_shot/simple,one_shot/LL"
        rows, _ = self.join(3, *SMALL, "--ranks", "3", "--sizes", "1K", "--algorithm", algorithms, *what)
        self.assertEqual(len(rows), 16)
        self.assert_all_ok(rows)
        self.assertTrue(all(row["tuning"].endswith(" misaligned=3") for row in rows))

    def test_dtypes_placements_modes_and_caches(self):
        what = ["--dtype", "bf16,i64", "--op", "avg", "--placement", "in_place,out_of_place"]
        rows, _ = self.join(3, *SMALL, "--ranks", "3", "--sizes", "1K", "--algorithm", "ring,two_shot", *what)
        self.assertEqual(len(rows), 8)
        self.assert_all_ok(rows)
        how = ["--mode", "latency,throughput", "--cache", "cold,untouched"]
        rows, _ = self.join(2, *ONE, "--ranks", "2", *how)
        self.assertEqual(len(rows), 4)
        self.assert_all_ok(rows)

    def test_every_combination_of_knobs_is_a_case(self):
        few = ["--backend", "mpi,cuda", "--ranks", "2", "--sizes", "1K", "--algorithm", "ring", "-n", "2", "-w", "1"]
        knobs = ["--threads", "2", "--channels", "1,4096", "--slots", "2,auto"]
        for start in (lambda *flags: self.join(2, *flags), self.start_ranks):
            rows, _ = start(*few, *knobs)
            (message,) = [row for row in rows if row["backend"] == "mpi"]
            self.assertEqual((message["status"], message["asked_tuning"]), ("ok", ""))
            asked = {row["asked_tuning"]: row for row in rows if row["backend"] == "cuda"}
            self.assertEqual(len(rows), 5)
            for slots in (" slots=2", ""):
                ran, skipped = asked[f"channels=1 threads=2{slots}"], asked[f"channels=4096 threads=2{slots}"]
                self.assert_all_ok([ran])
                self.assertTrue(
                    ran["tuning"].startswith(f"processes=2 channels=1 threads=2{slots or ' slots=4'} "), ran
                )
                self.assert_skipped([skipped], "4096 channels")
                self.assertEqual(skipped["tuning"], "")

    def test_processes_that_we_start_do_the_same(self):
        rows, _ = self.start_ranks(*ONE, "--ranks", "2,3", "--launches", "2")
        self.assertEqual(len(rows), 4)
        self.assert_all_ok(rows)

    def test_one_job_serves_messages_and_gpus(self):
        both = ["mpi,cuda" if word == "cuda" else word for word in ONE]
        rows, _ = self.join(2, *both, "--ranks", "2")
        self.assertEqual({row["backend"]: row["status"] for row in rows}, {"mpi": "ok", "cuda": "ok"})

    def test_a_job_of_one_process_puts_all_ranks_on_its_gpus(self):
        rows, _ = self.join(1, *ONE, "--ranks", "3", devices=1)
        self.assertEqual([(row["status"], row["devices"]) for row in rows], [("ok", "1")])


class Places(CudaJob):
    def devices(self):
        return record_of(self.csv)["devices"]

    def assert_distinct(self, ranks):
        devices = self.devices()
        self.assertEqual(len(devices), ranks)
        for rank, line in enumerate(devices):
            self.assertTrue(line.startswith(f"rank {rank} on "), line)
            self.assertIn(STUB_NAME, line)
        self.assertEqual(len({line.split(": ", 1)[1] for line in devices}), ranks, devices)

    def test_each_process_takes_the_gpu_of_its_place_on_the_host(self):
        self.join(3, *ONE, "--ranks", "3")
        self.assert_distinct(3)
        self.assertIn("GPU-00000000-0000-0000-0000-000000000002, ffff:02:00.0", self.devices()[2])

    def test_of_ranks_that_we_start_the_places_are_recorded_too(self):
        self.start_ranks(*ONE, "--ranks", "2")
        self.assert_distinct(2)

    def visible(self, *lists):
        """A job whose ranks see these devices of the machine's four."""
        visible = [["env", f"COLLMARK_STUB_VISIBLE={devices}"] for devices in lists]
        sweep = [PROGRAM, "sweep", *ONE, "--ranks", len(lists), "--csv", self.csv]
        return self.run_program(*each_behind_its_own(visible, *sweep), **stubbed(devices=4))

    def test_where_each_process_sees_one_gpu_it_takes_that_one(self):
        self.assert_exit(self.visible("2", "0", "3"), 0)
        self.assert_all_ok(rows_of(self.csv))
        self.assert_distinct(3)

    def test_clocks_are_those_of_the_gpus_of_all_ranks(self):
        held_back = [["env", f"COLLMARK_STUB_NVML_HELD_BACK={why}"] for why in ("0x4", "0x20")]
        sweep = [PROGRAM, "sweep", *ONE, "--ranks", "2", "--csv", self.csv]
        done = self.run_program(*each_behind_its_own(held_back, *sweep), **stubbed(devices=2), COLLMARK_NVML=NVML)
        self.assert_exit(done, 0)
        (row,) = rows_of(self.csv)
        self.assertEqual((row["sm_after_mhz"], row["throttled"]), ("7", "sw_power_cap+sw_thermal_slowdown"))

    def test_two_ranks_on_one_gpu_are_refused_whatever_it_is_called(self):
        self.assert_exit(self.visible("2", "0", "2"), 6)
        self.assert_skipped(rows_of(self.csv), "ranks 0 and 2", "GPU-00000000-0000-0000-0000-000000000002")

    def test_more_ranks_than_gpus_cost_those_cases_alone(self):
        rows, _ = self.join(3, *ONE, "--ranks", "2,3", devices=2)
        by_ranks = {row["ranks"]: row for row in rows}
        self.assertEqual(by_ranks["2"]["status"], "ok")
        self.assert_skipped([by_ranks["3"]], "ranks 0 and 2")


class Faults(CudaJob):
    def test_memory_that_cannot_be_shared_is_a_skipped_row_that_names_the_pair(self):
        rows, _ = self.join(2, *ONE, "--ranks", "2", fault="ipc_refused", code=6)
        self.assert_skipped(rows, "rank 0 on GPU 0 (ffff:00:00.0) cannot open", "of rank 1 on GPU 1 (ffff:01:00.0)")
        rows, _ = self.join(2, *ONE, "--ranks", "2", fault="no_ipc", code=6)
        self.assert_skipped(rows, "GPU 0 (ffff:00:00.0) cannot share memory")

    def test_what_one_rank_cannot_do_all_skip_and_go_on(self):
        rows, _ = self.join(2, *SMALL, "--ranks", "2", "--sizes", "64,10G", "--algorithm", "ring")
        by_status = {row["status"]: row for row in rows}
        self.assertIn("memory", by_status["skipped"]["reason"])
        self.assertEqual(by_status["ok"]["size_bytes"], "64")
        rows, _ = self.join(2, *ONE, "--ranks", "2", fault="out_of_memory@2", code=6)
        self.assert_skipped(rows, "GPU", "allocating")
        rows, _ = self.join(3, *ONE, "--ranks", "3", fault="small_device", code=6)
        self.assert_skipped(rows, "2 blocks", "holds 1")

    def test_a_wrong_result_is_told_with_its_rank(self):
        rows, _ = self.join(3, *ONE, "--ranks", "3", code=5, COLLMARK_TEST_CORRUPT="1@2")
        self.assertRegex(rows[0]["reason"], r"rank 1, element 128: got -?[\d.]+, expected -?\d+ ")

    def test_a_rank_that_never_comes_is_named(self):
        absent = {"COLLMARK_TEST_ABSENT_RANK": "2", "code": 7}
        lean = ["1" if word in "24" else word for word in ONE]  # a fiber each: they come to give up sooner
        for run in (self.start_ranks, lambda *f, **m: self.join(3, *f, **m)):
            self.csv.unlink(missing_ok=True)
            rows, _ = run(*lean, "--ranks", "3", "--timeout", "0.5", **absent)
            self.assertRegex(
                rows[0]["reason"],
                r"timed out: rank \d waited for rank \d in step \d.*; rank 2 had said nothing \S+ s later",
            )

    def test_a_crash_on_a_gpu_names_its_rank(self):
        rows, _ = self.start_ranks(*ONE, "--ranks", "2", fault="crash@4", code=8)
        self.assertRegex(rows[0]["reason"], r"lost: rank \d: GPU \d \(" + STUB_NAME[:8])

    def test_a_killed_rank_is_named_and_finished_rows_are_kept(self):
        self.assert_a_kill_is_told(*ENDLESS, "--processes", **stubbed(devices=2))

    def test_memory_goes_back_to_its_owner_after_everybody_has_closed_it(self):
        _, done = self.join(4, *ONE, "--ranks", "2:4")
        self.assertNotIn("given back that another process has open", done.stderr)


class Absent(CudaJob):
    def test_one_rank_without_a_gpu_makes_the_backend_absent(self):
        sweep = [PROGRAM, "sweep", *ONE, "--ranks", "2", "--csv", self.csv]
        job = each_behind_its_own([["env"], ["env", "COLLMARK_STUB_FAULT=no_device"]], *sweep)
        self.assert_exit(self.run_program(*job, **stubbed(devices=2)), 77)
        self.assert_skipped(rows_of(self.csv), "rank 1 on ", "nvidia-smi")

    def test_ranks_that_we_start_may_find_no_driver_either(self):
        rows, _ = self.start_ranks(*ONE, "--ranks", "2", code=77, COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1")
        self.assert_skipped(rows, "rank 0 on ", "no CUDA driver")

    def test_a_launcher_of_another_mpi_is_refused(self):
        done = self.sweep(*ONE, "--ranks", "2", "--csv", self.csv, **stubbed(), PMI_SIZE="4", PMI_RANK="0")
        self.assertEqual((done.returncode, done.stdout), (77, ""), done.stderr)
        self.assertIn("rank 0 of 4", done.stderr)
        self.assertFalse(self.csv.exists())


if __name__ == "__main__":
    if not Path(STUB).exists():
        raise SystemExit(f"{STUB} is not built")
    unittest.main()
