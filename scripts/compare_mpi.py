#!/usr/bin/env python3
"""How many times faster are our all-reduces over MPI than the library's own, on one host?

One `collmark sweep` measures everything: our algorithms over point-to-point messages, the same in shared-memory windows
(`ring/window`), and the library's default, f32 sum, each launch in fresh processes and an order of its own. Ratios are
taken inside a launch; the table has their median and 95 % interval over launches (smallest and largest below six).
`best` is the algorithm with the best median.

Virtual cores move, and a ratio with them: the one-way time of a flag between the cores stands beside it, as the median
over launches and its range.

    scripts/compare_mpi.py --launches 10 --out results/mpi-my-machine     measures; writes rows.csv and rows.run.json
    scripts/compare_mpi.py --table results/mpi-2026-11-30/rows.csv        the table of an earlier run
    scripts/compare_mpi.py --table rows.csv --check                       exit code 3 if a median is below its target

Targets, for two ranks on one host: messages 0.7 below 4 KiB, 0.9 from 4 KiB, 1.4 from 64 MiB; windows 3 from 1 MiB.
"""

import argparse
import csv
import statistics
import subprocess
import sys
from pathlib import Path

from compare_openmpi import ROOT, interval

ALGORITHMS = ["ring", "two_shot", "one_shot", "recursive_doubling", "rabenseifner"]
WAYS = {"messages": "", "window": "/window"}
TARGETS = {
    "messages": ((64 << 20, 1.4), (4 << 10, 0.9), (0, 0.7)),
    "window": ((1 << 20, 3.0),),
}  # from so many bytes on; the first that fits
REGRESSION = 3


def fail(message):
    print(f"compare_mpi.py: {message}", file=sys.stderr)
    sys.exit(2)


def stored(path):
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as fault:
        fail(f"{path}: {fault.strerror}")
    if not rows or "algorithm" not in rows[0] or "placement" not in rows[0]:
        fail(f"{path}: not the rows of a sweep: its first line must be that of results.csv")
    return [r for r in rows if r["backend"] == "mpi" and r["collective"] == "all_reduce" and r["status"] == "ok"]


def groups(rows):
    """By (ranks, size, placement): a dictionary algorithm -> launch -> median time, and the flags."""
    table = {}
    for row in rows:
        key = (int(row["ranks"]), int(row["size_bytes"]), row["placement"])
        times, flags = table.setdefault(key, ({}, []))
        times.setdefault(row["algorithm"], {})[row["launch"]] = float(row["time_us_p50"])
        flags += [float(row["flag_ns"])] if row["flag_ns"] else []
    return dict(sorted(table.items()))


def ratios(times, algorithm):
    peer, ours = times["library"], times[algorithm]
    return [peer[launch] / ours[launch] for launch in sorted(ours) if launch in peer]


def best(times, way):
    """The algorithm whose median ratio is best, and its ratios."""
    names = [n for n in times if n != "library" and n.endswith("/window") == (way == "window")]
    measured = {name: values for name in names if (values := ratios(times, name))}
    return max(measured.items(), key=lambda item: statistics.median(item[1])) if measured else (None, [])


def target(way, size):
    return next((wanted for least, wanted in TARGETS[way] if size >= least), None)


def lines(rows):
    """Of each case and way: what is printed, and whether its target is met."""
    for (ranks, size, placement), (times, flags) in groups(rows).items():
        if "library" not in times:
            continue
        flag = f"{statistics.median(flags):.0f} [{min(flags):.0f}, {max(flags):.0f}]" if flags else ""
        for way in WAYS:
            name, values = best(times, way)
            if not values:
                continue
            middle, low, high = interval(values)
            wanted = target(way, size) if ranks == 2 else None
            met = wanted is None or middle >= wanted
            ours, theirs = (statistics.median(times[n].values()) for n in (name, "library"))
            ratio = f"{middle:.2f} [{low:.2f}, {high:.2f}]"
            yield (f"{ranks:>5} {size:>10}  {placement:<12} {way:<8} {ratio:>24} {'' if wanted is None else wanted:>6}"
                   f" {'' if met else 'below':<5} {ours:>11.2f} {theirs:>11.2f} {flag:>16}  {name}"), met  # fmt: skip


def print_table(rows):
    print(f"{'ranks':>5} {'size':>10}  {'placement':<12} {'way':<8} {'best, times faster':>24} {'target':>6}       "
          f"{'best, us':>11} {'library, us':>11} {'flag, ns':>16}  best")  # fmt: skip
    met = [True]
    for line, fine in lines(rows):
        print(line)
        met.append(fine)
    return all(met)


def measure(arguments):
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "rows.csv"
    names = [name + suffix for suffix in WAYS.values() for name in arguments.algorithm.split(",")]
    command = [
        arguments.build / "collmark", "sweep", "--backend", "mpi", "--algorithm", ",".join([*names, "library"]),
        "--ranks", arguments.ranks, "--sizes", arguments.sizes, "--placement", arguments.placement,
        "--launches", str(arguments.launches), "--time-budget", str(arguments.time_budget), "--csv", path,
        *(["--append"] if path.exists() else []),
    ]  # fmt: skip
    status = subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode
    if status != 0:
        fail(f"exit {status} from: {' '.join(map(str, command))}")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build)")
    parser.add_argument("--launches", type=int, default=10, help="fresh starts of all ranks (default: 10)")
    parser.add_argument("--ranks", default="2")
    parser.add_argument("--algorithm", default=",".join(ALGORITHMS), help="ours, without /window")
    parser.add_argument("--sizes", default="4,256,4K,16K,256K,1M,4M,16M,64M,256M")
    parser.add_argument("--placement", default="in_place,out_of_place")
    parser.add_argument("--time-budget", type=float, default=0.2, help="seconds of timed readings per case")
    parser.add_argument("--out", type=Path, default=Path("mpi"), help="folder for rows.csv (default: mpi)")
    parser.add_argument("--table", type=Path, help="print the table of these rows, measure nothing")
    parser.add_argument("--check", action="store_true", help="exit code 3 if a median is below its target")
    arguments = parser.parse_args()
    met = print_table(stored(arguments.table or measure(arguments)))
    if arguments.check and not met:
        sys.exit(REGRESSION)


if __name__ == "__main__":
    main()
