"""kernel_sites.py: finds every wait, barrier and memory order, in a made-up source and in the kernels."""

import re
import sys
import unittest

from program import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import kernel_sites

SOURCE = """#include "kernels/flag.hpp"
COLLMARK_DEVICE bool meet(int step) {
  block_barrier();  // all have come
  store_release(&there[peer(a, b)], now);
  if (!wait_for(&here[f(x)], now, patience(peer, step))) seen = false;
  (void)me.meet(1);
  return block_all(seen);
}
inline std::uint32_t load_acquire(std::uint32_t* word) { return at(word).load(std::memory_order_acquire); }
COLLMARK_DEVICE bool reached(std::uint32_t* flag) { return true; }
bool look(std::uint32_t* flag) {
  return grid::block_barrier(), wait_until([=] { return load_acquire(flag) != 0; }, w);
}
"""
WORDS = re.compile(r"(?<![\w:])(block_barrier|block_all|store_release|load_acquire|wait_for|wait_until|await|meet)\(")


class OfAMadeUpSource(unittest.TestCase):
    def setUp(self):
        self.faults = list(kernel_sites.faults_of("kernels/made_up.hpp", SOURCE))

    def test_each_is_found_where_it_stands_and_no_definition(self):
        self.assertEqual(
            [fault.rule.removeprefix("made_up.hpp:") for fault in self.faults],
            [
                "3 barrier", "9 acquire", "4 store_release relaxed", "12 load_acquire relaxed", "5 wait_for",
                "5 wait_for relaxed", "6 meet", "7 block_all", "12 wait_until",
            ],
        )  # fmt: skip

    def line_with(self, rule):
        (fault,) = (fault for fault in self.faults if fault.rule.endswith(rule))
        changed = kernel_sites.planted(fault, SOURCE).splitlines()
        (i,) = (i for i, line in enumerate(SOURCE.splitlines()) if changed[i] != line)
        return changed[i].strip()

    def test_is_taken_away_whole(self):
        self.assertEqual(self.line_with("3 barrier"), "// all have come")
        self.assertEqual(self.line_with("5 wait_for"), "if (!true) seen = false;")
        self.assertEqual(self.line_with("7 block_all"), "return (seen);")
        self.assertEqual(self.line_with("12 wait_until"), "return grid::block_barrier(), true;")

    def test_or_loses_its_order_alone(self):
        self.assertTrue(
            self.line_with("4 store_release relaxed").endswith("memory_order_relaxed); }(&there[peer(a, b)], now);")
        )
        self.assertIn(
            "now = load_relaxed(flag); return Found{reached(now, value), now}", self.line_with("5 wait_for relaxed")
        )
        self.assertTrue(
            self.line_with("5 wait_for relaxed").endswith("(&here[f(x)], now, patience(peer, step))) seen = false;")
        )
        self.assertIn("load_relaxed(flag) != 0", self.line_with("12 load_acquire relaxed"))

    def test_only_orders_are_left_to_thread_sanitizer(self):
        orders = {fault.rule.split()[-1] for fault in self.faults if fault.is_order}
        self.assertEqual(orders, {"acquire", "relaxed"})


class OfTheKernels(unittest.TestCase):
    def test_no_place_is_left_out(self):
        """Counted again, by lines and not by calls."""
        expected = 0
        for name in kernel_sites.sources():
            for line in (ROOT / name).read_text().splitlines():
                code = line.partition("//")[0]
                if not kernel_sites.is_definition(code.strip()):
                    expected += len(WORDS.findall(code))
        places = {(f.file, f.place) for f in kernel_sites.all_faults() if f.place >= 0 and f.file != kernel_sites.CPU}
        self.assertEqual(len(places), expected)
        self.assertGreater(expected, 30)

    def test_no_source_is_left_out(self):
        # The first queues a wait in a stream, the second lists the names.
        known = {*kernel_sites.sources(), "kernels/gpu.hpp", "kernels/platform.hpp"}
        for path in (ROOT / "kernels").glob("*.hpp"):
            if WORDS.search(path.read_text()):
                self.assertIn(f"kernels/{path.name}", known)

    def test_what_is_broken_by_hand_stands_there(self):
        for fault in kernel_sites.all_faults():
            text = (ROOT / fault.file).read_text()
            self.assertNotEqual(kernel_sites.planted(fault, text), text, fault.rule)

    def test_what_is_said_to_be_harmless_is_there(self):
        excused = {(fault.file, kernel_sites.harmless(fault)) for fault in kernel_sites.all_faults()}
        self.assertLessEqual({(file, why) for (file, _), why in kernel_sites.HARMLESS.items()}, excused)


if __name__ == "__main__":
    unittest.main()
