"""gpu_limits.py: its rules on made-up rows."""

import sys
import unittest

from program import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import gpu_limits

S, N = gpu_limits.SIZE, gpu_limits.RANKS
SPEED = 4e12  # [B/s] of loads and stores
COPY = gpu_limits.Measured(SPEED, 0.99 * SPEED, 1.01 * SPEED)


def link(gb_per_s, **more):
    return {"first": "0", "second": "0", "copy_gb_per_s": f"{gb_per_s}", "engine_gb_per_s": "1", "reason": "", **more}


def row(algorithm, seconds, spread=0.01, **more):
    """As `collmark sweep` writes it."""
    us = {"p50": seconds, "ci_low": seconds * (1 - spread), "ci_high": seconds * (1 + spread)}
    times = {f"time_us_{name}": f"{1e6 * value}" for name, value in us.items()}
    fastest = {"time_us_min": f"{0.5e6 * seconds}", "time_us_max": f"{2e6 * seconds}"}
    where = {"size_bytes": str(S), "ranks": str(N), "status": "ok", "tuning": "channels=16"}
    return {"algorithm": algorithm, **where, **times, **fastest, **more}


def at(algorithm, part, **more):
    """Whose kernel moves its bytes at this part of the copy's speed."""
    return row(algorithm, gpu_limits.bytes_moved(algorithm, N, S) / SPEED / part, **more)


def good():
    ring = at("ring", 0.80)
    return [at("two_shot", 0.9), at("parameter_server", 0.9), ring, {**ring, "algorithm": "ring_interpreted"}]


def verdicts(rows, copy=COPY):
    decided, undecided = gpu_limits.claims(gpu_limits.times(rows, S, N), copy)
    return [claim.holds for claim in decided], undecided


class Bytes(unittest.TestCase):
    def test_are_those_of_the_formulas(self):
        moved = {
            name: gpu_limits.bytes_moved(name, 8, 100) for name in ("ring", "two_shot", "parameter_server", "one_shot")
        }
        self.assertEqual(moved, {"ring": 4400, "two_shot": 1600, "parameter_server": 1600, "one_shot": 7200})
        self.assertIsNone(gpu_limits.bytes_moved("double_binary_tree", 8, 100))


class Copy(unittest.TestCase):
    def test_counts_what_it_reads_and_what_it_writes(self):
        self.assertEqual(gpu_limits.copy_speed([link(2000)]).middle, 4e12)

    def test_is_the_faster_of_kernel_and_driver_and_the_median_of_runs(self):
        runs = [link(1000), link(900, engine_gb_per_s="1100"), link(1300)]
        self.assertEqual(gpu_limits.copy_speed(runs), gpu_limits.Measured(2.2e12, 2e12, 2.6e12))

    def test_links_between_gpus_and_pairs_that_were_not_measured_are_no_copy(self):
        self.assertIsNone(gpu_limits.copy_speed([link(1, second="1"), link(1, reason="no peer access")]))
        self.assertIsNone(gpu_limits.copy_speed([]))

    def test_other_rows_are_refused(self):
        for rows in ([{"first": "0"}], [link("fast")]):
            with self.assertRaises(gpu_limits.Unreadable):
                gpu_limits.copy_speed(rows)


class Times(unittest.TestCase):
    def test_of_several_launches_are_the_median_of_medians_and_the_widest_interval(self):
        (time,) = gpu_limits.times([row("ring", s) for s in (1e-3, 3e-3, 2e-3)], S, N)
        self.assertAlmostEqual(time.seconds.middle, 2e-3)
        self.assertAlmostEqual(time.seconds.low, 0.99e-3)
        self.assertAlmostEqual(time.seconds.high, 3.03e-3)

    def test_without_an_interval_are_as_uncertain_as_their_readings(self):
        (time,) = gpu_limits.times([row("ring", 1e-3, time_us_ci_low="", time_us_ci_high="")], S, N)
        self.assertEqual((time.seconds.low, time.seconds.high), (0.5e-3, 2e-3))

    def test_are_those_of_the_claimed_case_alone(self):
        others = [row("ring", 1, size_bytes="8"), row("ring", 1, ranks="2"), row("ring", 1, status="skipped")]
        self.assertEqual(gpu_limits.times(others, S, N), [])

    def test_other_rows_are_refused(self):
        for rows in ([{"a": "1"}], [row("ring", 1, time_us_p50="")]):
            with self.assertRaises(gpu_limits.Unreadable):
                gpu_limits.times(rows, S, N)

    def test_the_best_tuning_counts(self):
        slow, fast = at("ring", 0.5), at("ring", 0.8, tuning="channels=64")
        self.assertEqual(gpu_limits.best("ring", gpu_limits.times([slow, fast], S, N)).tuning, "channels=64")


class Claims(unittest.TestCase):
    def test_all_hold_where_the_kernels_are_as_fast_as_claimed(self):
        self.assertEqual(verdicts(good()), ([True] * 4, []))

    def test_each_fails_just_below_what_is_claimed(self):
        for i, (algorithm, least) in enumerate(gpu_limits.LEAST.items()):
            for part, holds in ((least + 0.005, True), (least - 0.005, False)):
                rows = [r for r in good() if r["algorithm"] != algorithm] + [at(algorithm, part)]
                self.assertEqual(verdicts(rows)[0][i], holds, (algorithm, part))

    def test_a_ring_may_take_5_percent_more_by_medians_whatever_the_intervals(self):
        for factor, holds in ((1.045, True), (1.055, False), (0.5, True)):
            rows = [*good()[:3], row("ring_interpreted", float(good()[2]["time_us_p50"]) / 1e6 / factor)]
            self.assertEqual(verdicts(rows)[0][3], holds, factor)

    def test_show_the_interval_of_copy_and_time_together(self):
        (claim, *_), _ = gpu_limits.claims(gpu_limits.times([at("two_shot", 0.9)], S, N), COPY)
        self.assertIn("0.900 [0.882, 0.918] (channels=16)", claim.words)

    def test_what_was_not_measured_is_open(self):
        self.assertEqual(verdicts([])[0], [])
        self.assertEqual(len(verdicts([])[1]), 4)
        decided, undecided = verdicts(good(), copy=None)
        self.assertEqual((decided, len(undecided)), ([True], 3))


class Machines(unittest.TestCase):
    def test_the_stub_is_no_gpu(self):
        self.assertTrue(gpu_limits.is_stub([row("ring", 1, device="collmark stub (CPU, no GPU)")]))
        self.assertFalse(gpu_limits.is_stub([row("ring", 1, device="NVIDIA H200")]))

    def test_what_held_clocks_back_is_named(self):
        rows = [{"throttled": "no"}, {"throttled": "sw_power_cap+hw_slowdown"}, {"throttled": ""}, {}]
        self.assertEqual(gpu_limits.held_back(rows), ["hw_slowdown", "sw_power_cap"])

    def test_the_table_has_a_fraction_where_there_is_a_formula(self):
        lines = gpu_limits.table(gpu_limits.times(good(), S, N), COPY).splitlines()
        self.assertEqual(len(lines), 5)
        self.assertIn("0.900", next(line for line in lines if line.startswith("two_shot")))
        self.assertNotIn("0.800", next(line for line in lines if line.startswith("ring_interpreted")))
        self.assertIn("0.800", next(line for line in lines if line.startswith("ring ")))


if __name__ == "__main__":
    unittest.main()
