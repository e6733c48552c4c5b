"""Tests of seen.py: what it says follows the rows, not a wish."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import seen


def row(algorithm: str, ranks: int, wire: int, time: float, **more: str) -> seen.Row:
    return {
        "algorithm": algorithm,
        "ranks": str(ranks),
        "size_bytes": "1048576",
        "wire_bytes_busiest": str(wire),
        "wire_bytes_formula": str(wire),
        "time_us_p50": str(time),
        "oversubscribed": "0",
        "wrong": "0",
        "status": "ok",
        **more,
    }


SWEEP = [
    row("ring", 2, 1048576, 100),
    row("ring", 4, 1572864, 200),
    row("parameter_server", 2, 1048576, 100),
    row("parameter_server", 4, 3145728, 700),
]


class Sentences(unittest.TestCase):
    def test_a_wrong_or_failed_case_is_counted_as_such(self):
        bad = [row("ring", 2, 1, 1, wrong="3"), row("ring", 2, 1, 1, status="failed")]
        self.assertTrue(seen.checked(SWEEP + bad).startswith("4 of 6 cases ran with every element"))
        self.assertEqual(len(seen.right(SWEEP + bad)), 4)

    def test_a_byte_count_off_the_formula_shows(self):
        off = [row("ring", 2, 5, 1, wire_bytes_formula="6")]
        self.assertIn("in 4 of 5", seen.checked(SWEEP + off))

    def test_bytes_are_equal_to_the_formula_only_where_they_are(self):
        line = seen.bytes_line(SWEEP)
        self.assertIn("ring 1.5 MiB = 2K(N-1)/N", line)
        self.assertIn("parameter_server 3 MiB = C(N-1)", line)
        wrong = [*SWEEP[:3], row("parameter_server", 4, 4194304, 700)]
        self.assertIn("parameter_server 4 MiB against 3 MiB = C(N-1)", seen.bytes_line(wrong))

    def test_times_are_compared_at_the_largest_size_and_most_ranks(self):
        line = seen.size_line(SWEEP)
        self.assertIn("(3.50 times the ring)", line)
        self.assertIn("fastest here: ring, 0.2 ms", line)

    def test_growth_is_from_fewest_to_most_ranks(self):
        line = seen.ranks_line(SWEEP)
        self.assertIn("From 2 to 4 ranks", line)
        self.assertIn("ring takes 2.00 times as long, parameter_server 7.00 times", line)

    def test_crowded_cores_are_mentioned_and_not_ranked(self):
        crowded = [{**r, "oversubscribed": "1"} for r in SWEEP]
        self.assertIn("more ranks than cores", seen.size_line(crowded))
        self.assertNotIn("fastest", seen.size_line(crowded))
        self.assertNotIn("more ranks than cores", seen.size_line(SWEEP))

    def test_launches_count_by_their_median(self):
        launches = [row("ring", 4, 1572864, t) for t in (210, 190, 1000)]
        self.assertEqual(seen.time(launches, algorithm="ring"), 210)


class Step(unittest.TestCase):
    def test_the_best_cap_is_the_fastest_of_the_ring(self):
        def step(algorithm: str, policy: str, cap: str, time: float) -> seen.Row:
            return row(algorithm, 2, 1, time, policy=policy, bucket_bytes=cap, model="resnet50")

        rows = [
            step("ring", "ddp", "1048576", 3000),
            step("ring", "ddp", "4194304", 2000),
            step("ring", "per_tensor", "", 9000),
            step("parameter_server", "ddp", "1048576", 1000),
            step("parameter_server", "ddp", "4194304", 8000),
        ]
        line = seen.step_line(rows)
        self.assertIn("best ddp cap is 4 MiB, 2 ms a step (per_tensor 9 ms)", line)
        self.assertIn("parameter_server there takes 8 ms", line)


if __name__ == "__main__":
    unittest.main()
