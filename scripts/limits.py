"""What links of a known goodput allow, beside what was measured: the rules of cluster_limits.py, without a cluster.

A rank that must send and receive so many bytes over one link needs at least bytes / goodput. Over links that carry both
directions at once that is, for an all-reduce of K bytes over N ranks,

    ring                     2 K (N-1)/N     every rank sends and receives it
    parameter_server         2 (N-1) K       the server takes (N-1) K, then gives (N-1) K: one phase after the other
    hierarchical_ring:MxN    2 K (N-1)/N inside each of M racks of N hosts, then 2 K (M-1)/M over each rack's uplink

A ring whose neighbours are neighbours in the racks crosses each uplink once each way: there its limit is the uplink's.
"""

import itertools
from dataclasses import dataclass

RING, SERVER, LIBRARY, HIERARCHICAL = "ring", "parameter_server", "library", "hierarchical_ring"
AS_IT_COMES = "library, as it comes"  # without what emulated_cluster.sh sets for speed
RING_ALONE = 0.35  # at N = 2 both directions of all traffic share one pair of hosts and its acknowledgements
CLEARLY = 1.1  # times faster: of a hierarchical ring than a ring, in racks
ABOUT = 0.9  # times as fast: at powers of two the library may reach the limit too
NEARLY = 0.9  # of what is asked for otherwise, over few hosts: nobody is twice as fast as what takes twice the limit


@dataclass(frozen=True)
class Row:
    algorithm: str
    ranks: int
    size: int  # [bytes] of each rank's buffer
    median: float  # [s]
    low: float  # [s], of the interval, or the smallest and largest reading
    high: float


@dataclass(frozen=True)
class Rules:
    goodput: float  # [B/s] of a one-way stream between two hosts of one rack
    uplink: float | None = None  # [B/s] between two hosts of different racks; None if there is one rack
    above: float = 0.15  # how far above its limit a time may be
    slope: float = 0.10  # how far off the server's time per worker may be
    library: float = 2.0  # how many times faster than the library's default the ring is: as it comes, and at 3, 5, 6, 7


def limit(row, rules):
    """[s]; None where no limit is known."""
    if row.algorithm == RING:
        return 2 * row.size * (row.ranks - 1) / row.ranks / min(rules.goodput, rules.uplink or rules.goodput)
    if row.algorithm == SERVER and rules.uplink is None:
        return 2 * (row.ranks - 1) * row.size / rules.goodput
    if row.algorithm.startswith(f"{HIERARCHICAL}:") and rules.uplink:
        racks, hosts = map(int, row.algorithm.split(":")[1].split("x"))
        return 2 * row.size * ((hosts - 1) / hosts / rules.goodput + (racks - 1) / racks / rules.uplink)
    return None


def line_through(points):
    """Slope and intercept of the least-squares line."""
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    return slope, mean_y - slope * mean_x


def claims(rows, rules):
    """(true or false, what is claimed and what was found), of every claim that the rows can decide."""
    if rules.uplink:  # streams that share an uplink do not share it evenly: limits are shown only
        return beats(rows, rules)
    found = []
    for row in sorted(rows, key=lambda row: (row.algorithm, row.ranks)):
        bound = limit(row, rules)
        if bound is None or row.algorithm not in {RING, SERVER}:
            continue
        above = max(RING_ALONE, rules.above) if (row.algorithm, row.ranks) == (RING, 2) else rules.above
        words = f"{row.algorithm} over {row.ranks} hosts takes at most {1 + above:.2f} of its limit"
        found.append((row.median <= (1 + above) * bound, f"{words}: {row.median / bound:.3f}"))
    return [*found, *server_is_linear(rows, rules), *beats(rows, rules)]


def server_is_linear(rows, rules):
    points = [(row.ranks - 1, row.median) for row in rows if row.algorithm == SERVER]
    if len(points) < 2:
        return []
    size = next(row.size for row in rows if row.algorithm == SERVER)
    slope, intercept = line_through(points)
    expected = 2 * size / rules.goodput
    found = [
        (
            abs(slope / expected - 1) <= rules.slope,
            f"each worker adds 2K to the server's time, within {rules.slope:.0%}: {slope / expected:.3f}",
        )
    ]
    if len(points) > 2:
        worst = max(abs(time / (slope * workers + intercept) - 1) for workers, time in points)
        found.append((worst <= rules.slope, f"its time is linear in N-1, within {rules.slope:.0%}: {worst:.1%} off"))
    return found


def beats(rows, rules):
    """In one rack the ring beats the library; over slower uplinks the hierarchical ring beats the ring."""

    def name(row):  # a forced algorithm of the library is not its default
        return HIERARCHICAL if row.algorithm.startswith(f"{HIERARCHICAL}:") else row.algorithm

    times = {(name(row), row.ranks): row.median for row in rows}

    def least(slow, n):
        if slow == RING:
            return CLEARLY
        if slow == AS_IT_COMES:
            return rules.library * (NEARLY if n <= 4 else 1)
        power_of_two = n & (n - 1) == 0
        return ABOUT if power_of_two else rules.library

    pairs = [(HIERARCHICAL, RING)] if rules.uplink else [(RING, AS_IT_COMES), (RING, LIBRARY)]
    counts = sorted({row.ranks for row in rows if row.ranks > 2})
    found = []
    for (fast, slow), n in itertools.product(pairs, counts):
        if (fast, n) not in times or (slow, n) not in times:
            continue
        ratio = times[slow, n] / times[fast, n]
        words = f"over {n} hosts {fast} is at least {least(slow, n):g} times as fast as {slow}"
        found.append((ratio >= least(slow, n), f"{words}: {ratio:.2f}"))
    return found


def table(rows, rules):
    lines = [f"{'algorithm':<26} {'hosts':>5} {'time, ms':>10} {'from':>10} {'to':>10} {'limit, ms':>10} {'ratio':>7}"]
    for row in sorted(rows, key=lambda row: (row.algorithm, row.ranks)):
        bound = limit(row, rules)
        beside = f"{bound * 1e3:>10.1f} {row.median / bound:>7.3f}" if bound else ""
        lines.append(
            f"{row.algorithm:<26} {row.ranks:>5} {row.median * 1e3:>10.1f} {row.low * 1e3:>10.1f} "
            f"{row.high * 1e3:>10.1f} {beside}".rstrip()
        )
    return "\n".join(lines)
