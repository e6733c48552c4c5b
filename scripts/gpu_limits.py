"""What the memory of one GPU allows the kernels of N ranks that share it, beside what was measured: the rules of
gpu_check.py, without a GPU.

With buffers of S bytes in one memory a kernel must load and store, both counted,

    ring                          S (6N-4)       each hop but the first reads a slot and the rank's own data
    two_shot, parameter_server    2 N S          all inputs are read once, all outputs are stored once
    one_shot                      S N (N+1)      everybody reads all inputs, and stores its own output

A copy within the GPU loads and stores too, and as fast as its memory goes. So bytes / time, over that of the copy, is
how much of the memory's speed a kernel uses.
"""

import csv
import statistics
from dataclasses import dataclass

SIZE, RANKS = 64 << 20, 8  # [bytes] of each rank's buffer; where the claims are made
LEAST = {"two_shot": 0.85, "parameter_server": 0.85, "ring": 0.75}  # of the copy's speed
INTERPRETED = "ring_interpreted"
SLACK = 1.05  # times the time of INTERPRETED that ring may take: equal kernels differ in every run
STUB = "stub"  # in the name of what is no GPU


class Unreadable(Exception):
    """Rows that collmark did not write."""


@dataclass(frozen=True)
class Measured:
    middle: float
    low: float
    high: float

    def over(self, other):
        return Measured(self.middle / other.middle, self.low / other.high, self.high / other.low)

    def words(self):
        return f"{self.middle:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class Time:
    """Of one algorithm, as its kernel was launched."""

    algorithm: str
    tuning: str
    seconds: Measured


@dataclass(frozen=True)
class Claim:
    holds: bool
    words: str


def bytes_moved(algorithm, ranks, size):
    """Loads and stores; None where no formula is known."""
    return {
        "ring": size * (6 * ranks - 4),
        "two_shot": 2 * ranks * size,
        "parameter_server": 2 * ranks * size,
        "one_shot": size * ranks * (ranks + 1),
    }.get(algorithm)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def copy_speed(rows):
    """Of the copy within the first GPU [B/s of loads and stores], over several runs of `collmark links`: of each run
    the faster of the kernel's and the driver's; then the median, from the slowest to the fastest. None without such a
    row."""
    speeds = []
    try:
        for row in rows:
            if row["first"] == row["second"] == "0" and not row["reason"]:
                fastest = max(float(row[name] or 0) for name in ("copy_gb_per_s", "engine_gb_per_s"))
                speeds.append(2e9 * fastest)  # a byte that is copied is one read and one written
    except (KeyError, ValueError, TypeError) as fault:
        raise Unreadable("the copy's rows were not written by collmark links") from fault
    return Measured(statistics.median(speeds), min(speeds), max(speeds)) if speeds and min(speeds) > 0 else None


def times(rows, size, ranks):
    """Of each algorithm and tuning at this size and number of ranks. Of several launches the median of their medians,
    and the widest of their intervals; a launch of few readings has none, and gives its fastest and slowest."""
    found = {}
    try:
        for row in rows:
            if row["status"] == "ok" and (int(row["size_bytes"]), int(row["ranks"])) == (size, ranks):
                low = row["time_us_ci_low"] or row["time_us_min"]
                high = row["time_us_ci_high"] or row["time_us_max"]
                one = tuple(float(text) / 1e6 for text in (row["time_us_p50"], low, high))
                found.setdefault((row["algorithm"], row["tuning"]), []).append(one)
    except (KeyError, ValueError, TypeError) as fault:
        raise Unreadable("the times were not written by collmark sweep") from fault
    return [
        Time(*key, Measured(statistics.median(t[0] for t in some), min(t[1] for t in some), max(t[2] for t in some)))
        for key, some in found.items()
    ]


def best(algorithm, all_times):
    """The fastest tuning that was tried; None if there is none."""
    own = [time for time in all_times if time.algorithm == algorithm]
    return min(own, key=lambda time: time.seconds.middle, default=None)


def fraction(time, copy, size=SIZE, ranks=RANKS):
    """Of the copy's speed."""
    moved = bytes_moved(time.algorithm, ranks, size)
    took = time.seconds
    return Measured(moved / took.middle, moved / took.high, moved / took.low).over(copy)


def claims(all_times, copy, size=SIZE, ranks=RANKS):
    """(what the rows decide, what they leave open): claims, and words."""
    decided, open_ones = [], []
    for algorithm, least in LEAST.items():
        words = f"{algorithm} moves its bytes at {least:.0%} of the copy's speed or more"
        time = best(algorithm, all_times)
        if time is None or copy is None:
            open_ones.append(f"{words}: not measured")
            continue
        found = fraction(time, copy, size, ranks)
        decided.append(Claim(found.middle >= least, f"{words}: {found.words()} ({time.tuning})"))
    words = f"ring takes {SLACK} times the time of {INTERPRETED} or less"
    ring, interpreted = best("ring", all_times), best(INTERPRETED, all_times)
    if ring is None or interpreted is None:
        open_ones.append(f"{words}: not measured")
    else:
        ratio = ring.seconds.over(interpreted.seconds)
        decided.append(Claim(ratio.middle <= SLACK, f"{words}: {ratio.words()}"))
    return decided, open_ones


def held_back(rows):
    """What held the GPU's clocks back in any row, sorted."""
    reasons = {row.get("throttled") or "" for row in rows}
    return sorted({reason for text in reasons for reason in text.split("+")} - {"", "no"})


def is_stub(rows):
    return any(STUB in (row.get("device") or "") for row in rows)


def table(all_times, copy, size=SIZE, ranks=RANKS):
    """One line for each time: what it took, and the fraction where a formula is known."""
    lines = [f"{'algorithm':<20} {'time, us':>11} {'from':>11} {'to':>11} {'of the copy':>12}  launched with"]
    for time in sorted(all_times, key=lambda time: (time.algorithm, time.seconds.middle)):
        took = [f"{value * 1e6:>11.1f}" for value in (time.seconds.middle, time.seconds.low, time.seconds.high)]
        known = copy and bytes_moved(time.algorithm, ranks, size)
        share = f"{fraction(time, copy, size, ranks).middle:>12.3f}" if known else f"{'':>12}"
        lines.append(f"{time.algorithm:<20} {' '.join(took)} {share}  {time.tuning}")
    return "\n".join(lines)
