"""`collmark verify --backend cuda` on the stub driver: every kernel is held against the reference bit for bit."""

import json
import re
import unittest

from cuda_support import stubbed
from program import ROOT, CommandLineTest, collmark

QUICK = ("--ranks", "2", "--size", "2K")


def names_of(macro):
    """The words in DO(word) of a list in kernel_list.hpp."""
    text = (ROOT / "kernels/kernel_list.hpp").read_text()
    body = re.search(rf"#define {macro}\(.*?\n\n", text, re.DOTALL)[0]
    return [w for line in body.splitlines()[1:] for w in re.findall(r"(?:KERNEL\(|DO\(kernel, )(\w+)", line)]


class OnTheStub(CommandLineTest):
    def verify(self, *flags, fault="", devices=1):
        return collmark("verify", "--backend", "cuda", *flags, **stubbed(fault, devices))

    def found(self, *flags, **options):
        done = self.verify(*flags, "--json", **options)
        self.assertIn(done.returncode, (0, 5), done.stderr)
        return json.loads(done.stdout)

    def test_every_kernel_with_every_element_is_launched_and_equals_the_reference(self):
        found = self.found(*QUICK, "--op", "sum", "--placement", "out_of_place")
        elements = names_of("COLLMARK_ELEMENTS")
        expected = {f"{kernel}_{element}" for kernel in names_of("COLLMARK_KERNELS") for element in elements}
        self.assertEqual(len(elements), 7)
        self.assertEqual(set(found["symbols"]), expected)
        self.assertEqual(found["different"], 0)
        self.assertEqual({kernel["verdict"] for kernel in found["kernels"]}, {"equal"})

    def test_every_operator_and_placement_equals_it_too(self):
        kernels = ("ring", "two_shot", "one_shot/LL", "double_binary_tree", "ring_interpreted")
        found = self.found(*kernels, "--collective", "all_reduce", "--ranks", "1,3", "--size", "1K", "--dtype",
                           "f32,f16,u8")  # fmt: skip
        self.assertEqual(found["different"], 0, found)
        each = 3 * (2 * 5 * 2 + 1 + 2)  # dtypes; ranks, operators and placements, a large one, small ones
        self.assertEqual([kernel["compared"] for kernel in found["kernels"]], 8 * [each])  # three of both protocols

    def test_ranks_may_lie_on_several_devices(self):
        found = self.found("parameter_server", "--ranks", "2", "--size", "1K", "--dtype", "f32", "--op", "avg",
                           devices=2)  # fmt: skip
        self.assertEqual((found["different"], found["compared"]), (0, 2 * 4), found)  # read and stored, and by lines

    def test_another_order_of_the_same_sum_is_found_which_exact_data_cannot_tell(self):
        direct = ("two_shot/simple", "--ranks", "3", "--size", "1K", "--dtype", "f32,i32", "--op", "sum")
        done = self.verify(*direct, fault="other_order")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertRegex(
            done.stdout,
            r"wrong: all_reduce two_shot/simple, 3 ranks, f32 sum \w+, \d+ bytes: operation 0, rank 0, element \d+: "
            r"0x[0-9a-f]{8} \(.*\), the reference has 0x[0-9a-f]{8} \(.*\) \(direct_all_reduce_f32 channels=2 ",
        )
        self.assertNotIn(" i32 sum", done.stdout)  # the same in any order
        exact = collmark("sweep", "--backend", "cuda", "--algorithm", "two_shot/simple", "--ranks", "3", "--sizes",
                         "1K", "-n", "1", "-w", "0", **stubbed("other_order"))  # fmt: skip
        self.assertEqual(exact.returncode, 0, exact.stdout + exact.stderr)

    def test_what_cannot_run_is_skipped_with_its_reason_and_nothing_compared_is_exit_6(self):
        done = self.verify("hierarchical_ring:2x3", "--ranks", "4", "--dtype", "f32")
        self.assertEqual((done.returncode, "nothing could be compared" in done.stderr), (6, True), done.stderr)
        self.assertRegex(done.stdout, r"hierarchical_ring:2x3 +skipped +0 +.*skipped 4: ")

    def test_a_kernel_that_hangs_is_named(self):
        done = self.verify("ring", "--ranks", "2", "--dtype", "f32", "--op", "sum", "--timeout", "1", fault="hang")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("all_reduce ring/simple, 2 ranks, f32 sum", done.stderr)


class Refusals(CommandLineTest):
    def test_no_driver_is_exit_77(self):
        done = collmark("verify", "ring", "--backend", "cuda", COLLMARK_CUDA_DRIVER="/no/such/libcuda.so.1")
        self.assertEqual((done.returncode, "no CUDA driver" in done.stderr), (77, True), done.stderr)

    def test_flags_of_kernels_alone_and_other_backends_are_refused(self):
        self.assert_refused("verify", "ring", "--dtype", "f32", words=["--dtype is of kernels", "--backend cuda"])
        self.assert_refused("verify", "ring", "--backend", "cudo", words=["'cudo'", "did you mean 'cuda'?"])
        self.assert_refused(
            "verify", "ring", "--backend", "cuda", "--size", "65M", words=["--size 65M: 64 MiB at most"]
        )
        self.assert_refused("verify", "ring", "--backend", "cuda", "--op", "summ", words=["did you mean 'sum'?"])


if __name__ == "__main__":
    unittest.main()
