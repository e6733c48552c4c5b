"""`collmark step --backend cuda` on the stub driver: gradients packed, reduced, unpacked and checked on a device."""

import re
import unittest
from pathlib import Path

from cuda_support import ABSENT, STUB, STUB_NAME, stubbed
from program import collmark
from step_support import BYTES, TinyModel
from sweep_support import record_of, rows_of

# Each thread of a kernel is a fiber: few of them, few launches, and a network of a few thousand parameters.
SMALL = ["--threads", "4", "--channels", "2", "-n", "2", "-w", "1", "--time-budget", "0.01"]


class StepOnCuda(TinyModel):
    def step(self, *flags, code=0, small=SMALL, **driver):
        done = collmark(
            "step",
            *["--backend", "cuda", "--model", str(self.model), "--csv", str(self.csv), *small, *flags],
            **stubbed(**driver),
        )
        self.assert_exit(done, code)
        return rows_of(self.csv), done

    def buckets(self):
        return rows_of(self.csv.with_name("x.buckets.csv"))

    def assert_skipped(self, rows, *words):
        (row,) = rows
        self.assertEqual((row["status"], row["time_us_p50"]), ("skipped", ""), row)
        for word in words:
            self.assertIn(word, row["reason"])


class Rows(StepOnCuda):
    def assert_all_right(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"], row["backend"]), ("ok", "0", "cuda"), row)
            self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"], row)
            self.assertEqual(int(row["planned_bytes"]), BYTES)
            for phase in ("time", "pack", "wire", "unpack", "tail"):
                self.assertGreater(float(row[f"{phase}_us_p50"]), 0, row)

    def test_every_policy_is_checked_and_moves_the_bytes_of_its_formula(self):
        flags = ["--bucket-policy", "all", "--ranks", "2", "--algorithm", "ring", "--bucket-bytes", "500"]
        rows, _ = self.step(*flags)
        self.assertGreater(len(rows), 8)
        self.assert_all_right(rows)

    def test_algorithms_dtypes_ranks_and_devices(self):
        for devices, dtype, policies in (
            (1, "f32", "ddp,horovod"),
            (2, "f16", "horovod,byteps"),
            (3, "f64", "ddp,single"),
        ):
            with self.subTest(devices=devices):
                self.csv.unlink(missing_ok=True)
                self.csv.with_name("x.buckets.csv").unlink(missing_ok=True)
                flags = ["--dtype", dtype, "--ranks", "3", "--bucket-policy", policies, "--bucket-bytes", "1K"]
                names = "ring,two_shot/LL,parameter_server_dedicated,ring_interpreted"
                rows, _ = self.step(*flags, "--algorithm", names, devices=devices)
                self.assertEqual(sorted({row["algorithm"] for row in rows}), sorted(names.split(",")))
                for row in rows:
                    self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row)
                    self.assertEqual(row["devices"], str(devices))

    def test_buckets_add_up_and_say_what_was_counted(self):
        rows, _ = self.step("--ranks", "2", "--algorithm", "ring", "--bucket-policy", "per_tensor")
        self.assert_all_right(rows)
        buckets = self.buckets()
        self.assertEqual(len(buckets), 5)
        self.assertEqual(sum(int(b["planned_bytes"]) for b in buckets), BYTES)
        self.assertEqual(sum(int(b["sent_bytes"]) for b in buckets), int(rows[0]["sent_bytes"]))
        self.assertEqual({b["messages_busiest"] for b in buckets}, {""})

    def test_tensors_of_two_dtypes_are_checked_each_in_its_own(self):
        self.model.write_text("name,shape,numel,dtype\na,33,33,f32\nb,17,17,bf16\nc,5,5,f32\n")
        ((row,), _) = self.step("--ranks", "2", "--algorithm", "ring", "--bucket-policy", "horovod")
        self.assertEqual((row["status"], row["wrong"], row["dtype"], row["buckets"]), ("ok", "0", "mixed", "2"), row)
        self.csv.unlink()
        self.csv.with_name("x.buckets.csv").unlink()
        flags = ["--ranks", "2", "--algorithm", "ring", "--bucket-policy", "per_tensor"]
        ((row,), _) = self.step(*flags, code=5, COLLMARK_TEST_CORRUPT="0")
        self.assertIn("rank 0, tensor", row["reason"])

    def test_no_row_of_the_stub_passes_for_a_gpu_s(self):
        ((row,), _) = self.step("--algorithm", "ring", devices=2)
        self.assertEqual((row["implementation"], row["device"]), (STUB_NAME, STUB_NAME))
        self.assertEqual(row["tuning"].split()[:2], ["channels=2", "threads=4"])
        self.assertEqual(len(record_of(self.csv)["devices"]), 2)
        self.assertEqual(record_of(self.csv)["configuration"]["backend"], "cuda")

    def test_every_combination_of_knobs_is_a_step(self):
        few = ["step", "--backend", "cuda", "--model", str(self.model), "--csv", str(self.csv), "--algorithm", "ring"]
        few += ["--ranks", "2", "-n", "2", "-w", "1", "--time-budget", "0.01", "--bucket-bytes", "500,2K"]
        knobs = ["--threads", "2", "--channels", "1,2", "--slot-bytes", "auto,64"]
        done = collmark(*few, *knobs, **stubbed())
        self.assert_exit(done, 0)
        rows = rows_of(self.csv)
        self.assert_all_right(rows)
        asked = [f"channels={c} threads=2{slot}" for c in (1, 2) for slot in ("", " slot_bytes=64")]
        self.assertEqual(sorted(row["asked_tuning"] for row in rows), sorted(2 * asked))
        for row in rows:
            words = row["tuning"].split()
            self.assertTrue(set(row["asked_tuning"].split()) <= set(words), row)
        self.assertEqual(record_of(self.csv)["configuration"]["slot_bytes"], ["auto", 64])
        self.assertRegex(done.stdout, r"^model +policy +cap +algorithm +channels +slot_bytes +ranks ")
        for words in asked:
            self.assertEqual(len(re.findall(rf"(?m)^\S+, ddp, ring {words}, 2 ranks: ", done.stdout)), 1, done.stdout)
        self.assertIn("Fastest: ", done.stdout)
        resumed = collmark(*few, *knobs, "--resume", **stubbed())
        self.assert_exit(resumed, 0)
        self.assertEqual(rows_of(self.csv), rows)
        self.assertEqual(resumed.stdout.split("\n\n")[1], done.stdout.split("\n\n")[1])

    def test_a_finished_run_is_resumed_and_another_is_refused(self):
        before, _ = self.step("--algorithm", "ring")
        self.assertEqual(self.step("--algorithm", "ring", "--resume")[0], before)
        self.step("--algorithm", "ring", "--slots", "8", "--resume", code=2)


class Faults(StepOnCuda):
    ONE = ("--algorithm", "ring", "--ranks", "3", "--bucket-policy", "ddp", "--bucket-bytes", "1K")
    # One thread a rank: where cores are few they come to give up before the host does.
    LEAN = tuple("1" if word in "24" else word for word in SMALL)

    def test_a_wrong_gradient_ends_in_5_and_is_named(self):
        ((row,), _) = self.step(*self.ONE, code=5, COLLMARK_TEST_CORRUPT="1@1")
        self.assertEqual((row["status"], row["wrong"]), ("failed", "1"))
        self.assertRegex(row["reason"], r"^wrong result: rank 1, tensor last, element 0, bucket 0: got ")

    def test_a_rank_that_never_comes_is_named_with_its_bucket(self):
        one = ("--algorithm", "ring/simple", *self.ONE[2:], "--timeout", "0.1")
        ((row,), _) = self.step(*one, small=self.LEAN, code=7, COLLMARK_TEST_ABSENT_RANK="2")
        self.assertEqual(
            row["reason"],
            "timed out: in bucket 0, rank 0 waited for rank 2 in step 0: data in slot 0 on channel 0, flag 1 expected, "
            "0 found",
        )

    def test_of_many_buckets_that_wait_in_a_row_the_first_is_named(self):
        self.model.write_text("name,shape,numel\n" + "".join(f"t{i},9,9\n" for i in range(60)))
        for devices in (1, 3):
            with self.subTest(devices=devices):
                self.csv.unlink(missing_ok=True)
                self.csv.with_name("x.buckets.csv").unlink(missing_ok=True)
                flags = ["--ranks", "3", "--bucket-policy", "per_tensor", "--timeout", "0.1"]
                flags += ["--algorithm", "ring/simple"]
                who = {"devices": devices, "COLLMARK_TEST_ABSENT_RANK": "2"}
                ((row,), _) = self.step(*flags, small=self.LEAN, code=7, **who)
                self.assertRegex(row["reason"], r"^timed out: in bucket 0, rank \d waited for rank 2 in step \d: ")

    def test_a_kernel_that_never_ends_is_left_behind(self):
        ((row,), _) = self.step(*self.ONE, "--timeout", "0.1", code=7, fault="hang@8")
        self.assertTrue(row["reason"].startswith("timed out: the GPU"), row["reason"])

    def test_a_crash_loses_the_device(self):
        ((row,), _) = self.step(*self.ONE, code=8, fault="crash@8")
        self.assertTrue(row["reason"].startswith(f"lost: GPU 0 ({STUB_NAME})"), row["reason"])

    def test_what_does_not_fit_is_a_skipped_row_and_nothing_measured_is_6(self):
        self.assert_skipped(self.step(*self.ONE, code=6, fault="out_of_memory@2")[0], "GPU 0", "allocating")
        for fault, devices, words in (
            ("small_device", 1, ("3 ranks", "6 blocks")),
            ("no_peer_access", 2, ("GPU 0", "GPU 1")),
            ("launch_error@2", 1, ("launching",)),
        ):
            with self.subTest(fault=fault):
                self.csv.unlink()
                self.csv.with_name("x.buckets.csv").unlink()
                self.assert_skipped(self.step(*self.ONE, code=6, fault=fault, devices=devices)[0], *words)

    def test_a_network_larger_than_the_device_is_skipped_before_it_is_tried(self):
        self.model.write_text("name,shape,numel\nhuge,1048576x1024,1073741824\n")
        self.assert_skipped(self.step(*self.ONE[:4], code=6)[0], "needs", "of memory")


class Absent(StepOnCuda):
    def test_without_a_driver_the_row_says_so_and_the_code_is_77(self):
        flags = ["--backend", "cuda", "--model", str(self.model), "--algorithm", "ring", "--csv", str(self.csv)]
        self.assert_exit(collmark("step", *flags, **ABSENT), 77)
        self.assert_skipped(rows_of(self.csv), "no CUDA driver: /no/such/libcuda.so.1")

    def test_backends_that_run_no_steps_are_77_and_others_are_a_slip(self):
        for backend, code in (("mpi", 77), ("cudaa", 2)):
            done = collmark("step", "--backend", backend, "--model", str(self.model))
            self.assert_exit(done, code)
            self.assertIn(backend, done.stderr)


if __name__ == "__main__":
    if not Path(STUB).exists():
        raise SystemExit(f"{STUB} is not built")
    unittest.main()
