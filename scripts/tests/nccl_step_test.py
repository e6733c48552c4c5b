"""`collmark step --backend nccl` on stubs of NCCL and the driver: our kernels pack and check what NCCL reduces."""

import unittest
from pathlib import Path

from nccl_test import DRIVER, NCCL, NCCL_NAME, stubbed
from program import collmark
from step_support import BYTES, TinyModel
from sweep_support import record_of, rows_of

FEW = ["-n", "2", "-w", "1", "--time-budget", "0.01"]


class StepOnNccl(TinyModel):
    def again(self, *flags, code=0, **stubs):
        """The rows of a run that may find files of another."""
        done = collmark(
            "step",
            *["--backend", "nccl", "--model", str(self.model), "--csv", str(self.csv), *FEW],
            *(flags if "--algorithm" in flags else ("--algorithm", "library", *flags)),
            **stubbed(**stubs),
        )
        self.assert_exit(done, code)
        return rows_of(self.csv)

    def step(self, *flags, code=0, **stubs):
        for path in (self.csv, self.csv.with_name("x.buckets.csv")):
            path.unlink(missing_ok=True)
        return self.again(*flags, code=code, **stubs)

    def buckets(self):
        return rows_of(self.csv.with_name("x.buckets.csv"))

    def assert_all_right(self, rows):
        for row in rows:
            self.assertEqual((row["status"], row["wrong"], row["backend"]), ("ok", "0", "nccl"), row)
            self.assertEqual(int(row["planned_bytes"]), BYTES)
            for phase in ("time", "pack", "wire", "unpack", "tail"):
                self.assertGreater(float(row[f"{phase}_us_p50"]), 0, row)

    def assert_skipped(self, rows, *words):
        (row,) = rows
        self.assertEqual((row["status"], row["time_us_p50"]), ("skipped", ""), row)
        for word in words:
            self.assertIn(word, row["reason"])


class Rows(StepOnNccl):
    def test_every_policy_has_exact_means_on_every_number_of_ranks(self):
        for dtype, policies in (("f32", "all"), ("f64", "ddp,horovod"), ("f16", "horovod,byteps")):
            with self.subTest(dtype=dtype):
                flags = ["--bucket-policy", policies, "--ranks", "2:4", "--dtype", dtype, "--bucket-bytes", "500"]
                rows = self.step(*flags)
                self.assertEqual({row["ranks"] for row in rows}, {"2", "3", "4"})
                if dtype == "f32":
                    self.assertEqual({row["mean"] for row in rows}, {"before_sum", "after_sum"})
                for row in rows:
                    self.assertEqual((row["status"], row["wrong"], row["devices"]), ("ok", "0", row["ranks"]), row)

    def test_a_row_says_what_nccl_ran_and_nothing_that_nobody_counted(self):
        rows = self.step("--ranks", "3", "--algorithm", "library,library:tree/LL128", "--bucket-policy", "per_tensor")
        self.assert_all_right(rows)
        said = {row["algorithm"]: row["tuning"] for row in rows}
        self.assertEqual(said["library"], "algorithm=ring protocol=simple channels=2")
        self.assertEqual(said["library:tree/LL128"], "algorithm=tree protocol=LL128 channels=2")
        for row in rows:
            for column in ("rounds", "wire_bytes_busiest", "wire_bytes_formula", "sent_bytes", "scratch_memory_bytes"):
                self.assertEqual(row[column], "", column)
        buckets = self.buckets()
        self.assertEqual(len(buckets), 2 * 5)
        for bucket in buckets:
            self.assertEqual((bucket["sent_bytes"], bucket["messages_busiest"]), ("", ""))
            self.assertGreater(float(bucket["wire_us_p50"]), 0)

    def test_tensors_of_two_dtypes_are_checked_each_in_its_own(self):
        self.model.write_text("name,shape,numel,dtype\na,33,33,f32\nb,17,17,bf16\nc,5,5,f32\n")
        (row,) = self.step("--ranks", "3", "--bucket-policy", "horovod")
        self.assertEqual((row["status"], row["wrong"], row["dtype"], row["buckets"]), ("ok", "0", "mixed", "2"), row)

    def test_no_row_of_the_stub_passes_for_nccl_s(self):
        (row,) = self.step()
        self.assertEqual(row["implementation"], NCCL_NAME)
        library, *gpus = record_of(self.csv)["devices"]
        self.assertEqual(library, f"{NCCL_NAME}, called as nccl.h of 2.28.9 declares it")
        self.assertEqual(len(gpus), 4)
        self.assertEqual(record_of(self.csv)["configuration"]["backend"], "nccl")

    def test_all_algorithms_of_the_library_are_those_of_its_all_reduce(self):
        rows = self.step("--algorithm", "library:all")
        self.assertEqual(len(rows), 6)
        self.assertIn("library:nvls_tree", {row["algorithm"] for row in rows})
        self.assert_all_right(rows)

    def test_another_algorithm_than_the_one_asked_for_stands_in_the_name(self):
        (row,) = self.step("--algorithm", "library:ring", fault="other_algorithm")
        self.assertEqual(row["algorithm"], "library:ring->tree/simple")
        (row,) = self.step(fault="silent")
        self.assertEqual(row["tuning"], "NCCL does not say what ran")

    def test_launches_have_communicators_of_their_own_and_a_finished_run_is_resumed(self):
        before = self.step("--ranks", "2,4", "--launches", "2")
        self.assertEqual(len(before), 4)
        self.assert_all_right(before)
        self.assertEqual(self.again("--ranks", "2,4", "--launches", "2", "--resume"), before)


class Skipped(StepOnNccl):
    def test_what_cannot_run_says_why(self):
        for flags, stubs, word in (
            (["--ranks", "1"], {}, "a one-rank NCCL runs no kernel and is no baseline"),
            (["--ranks", "3"], {"devices": 2}, "3 ranks, 2 GPUs"),
            (["--algorithm", "ring"], {}, "--backend cuda"),
            (["--algorithm", "library/graph"], {}, "not as a graph"),
            (["--algorithm", "library/registered"], {}, "none is registered"),
            ([], {"driver_fault": "out_of_memory@2"}, "allocating"),
            (["--algorithm", "library:nvls"], {"fault": "refuse_algorithm"}, "no algorithm/protocol available"),
        ):
            with self.subTest(flags=flags, stubs=stubs):
                self.assert_skipped(self.step(*flags, code=6, **stubs), word)

    def test_after_an_algorithm_that_nccl_refuses_the_next_goes_on(self):
        rows = self.step("--algorithm", "library:nvls,library", fault="refuse_algorithm")
        self.assertEqual(
            {row["algorithm"]: row["status"] for row in rows}, {"library:nvls": "skipped", "library": "ok"}
        )

    def test_a_network_larger_than_the_device_is_skipped_before_it_is_tried(self):
        self.model.write_text("name,shape,numel\nhuge,1048576x1024,1073741824\n")
        self.assert_skipped(self.step(code=6), "needs", "of memory")

    def test_names_that_nccl_does_not_have_are_a_usage_error(self):
        for backend, name, word in (("nccl", "library:rnig", "did you mean"), ("cuda", "library", "library")):
            flags = ["--backend", backend, "--model", str(self.model), "--algorithm", name]
            done = collmark("step", *flags, **stubbed())
            self.assert_exit(done, 2)
            self.assertIn(word, done.stderr)


class Faults(StepOnNccl):
    # Five buckets on three ranks. Each is tried out once, then the first step is checked.
    ONE = ("--ranks", "3", "--bucket-policy", "per_tensor")
    BUCKETS = 5

    def test_a_wrong_sum_ends_in_5_and_its_gradient_is_named(self):
        (row,) = self.step(*self.ONE, code=5, fault=f"wrong@{self.BUCKETS + 3}")
        self.assertEqual((row["status"], row["wrong"]), ("failed", "1"))
        self.assertRegex(row["reason"], r"^wrong result: rank 0, tensor wide, element 350, bucket 2: got ")

    def test_a_wrong_gradient_ends_in_5(self):
        (row,) = self.step(*self.ONE, code=5, COLLMARK_TEST_CORRUPT="1@1")
        self.assertRegex(row["reason"], r"^wrong result: rank 1, tensor conv, element 0, bucket 0: got ")

    def test_a_communicator_that_is_never_finished_ends_in_7(self):
        (row,) = self.step(*self.ONE, "--timeout", "0.1", code=7, fault="hang_init")
        self.assertIn("making a communicator of 3 ranks", row["reason"])

    def test_an_operation_that_never_ends_is_aborted_and_ends_in_7(self):
        tried_out = 3 * self.BUCKETS
        for name, fault in (("library", "hang@2"), ("library", f"hang@{tried_out + 5}"), ("library:tree", "hang@2")):
            with self.subTest(name=name, fault=fault):
                (row,) = self.step(*self.ONE, "--algorithm", name, "--timeout", "0.2", code=7, fault=fault)
                self.assertEqual(row["status"], "failed")
                text = "timed out: NCCL's all_reduce of a step on 3 ranks was aborted: the GPU"
                self.assertTrue(row["reason"].startswith(text), row["reason"])

    def test_an_error_of_a_rank_ends_in_8_in_nccl_s_words(self):
        for fault in ("async_error", f"async_error@{self.BUCKETS + 2}"):
            with self.subTest(fault=fault):
                (row,) = self.step(*self.ONE, code=8, fault=fault)
                self.assertRegex(row["reason"], "lost: NCCL, all_reduce: remote process exited")

    def test_a_communicator_that_cannot_be_made_ends_in_8(self):
        (row,) = self.step(*self.ONE, code=8, fault="init_error")
        self.assertIn("Call to connect failed", row["reason"])


class Absent(StepOnNccl):
    def test_without_nccl_or_a_driver_a_row_says_so_in_one_line_and_the_code_is_77(self):
        for gone, word in (
            ({"COLLMARK_NCCL": "/no/such/libnccl.so.2"}, "no NCCL: /no/such/libnccl.so.2"),
            ({"COLLMARK_CUDA_DRIVER": "/no/such/libcuda.so.1"}, f"{NCCL_NAME} is here"),
            ({"fault": "old"}, "NCCL 2.17.1 is too old"),
        ):
            with self.subTest(gone=gone):
                rows = self.step(code=77, **gone)
                self.assert_skipped(rows, word)
                self.assertNotIn("\n", rows[0]["reason"])


if __name__ == "__main__":
    for library in (DRIVER, NCCL):
        if not Path(library).exists():
            raise SystemExit(f"{library} is not built")
    unittest.main()
