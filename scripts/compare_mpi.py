#!/usr/bin/env python3
"""How many times faster are our all-reduces over MPI than the library's own, on one host?

One `collmark sweep` measures everything: our algorithms over point-to-point messages, the same in shared-memory windows
(`ring/window`), and the library's default, f32 sum, each launch in fresh processes and an order of its own. Ratios are
taken inside a launch; the table has their median and 95 % interval over launches (smallest and largest below six).

`best` is chosen on other launches than it is judged on, since the fastest of five looks too good where it was found:
for every second launch by the median ratio of the rest, and the other way round. Where the halves choose differently,
both are named. One launch alone chooses and judges: that is a look.

Virtual cores move, and a ratio with them: the one-way time of a flag between the cores stands beside it, as the median
over launches and its range.

    scripts/compare_mpi.py --launches 10 --out results/mpi-my-machine     measures; writes rows.csv and rows.run.json
    scripts/compare_mpi.py --table results/mpi-2026-11-30/rows.csv        the table of an earlier run
    scripts/compare_mpi.py --table rows.csv --check                       are all medians at or above their targets?

Targets, for two ranks on one host: messages 0.7 below 4 KiB, 0.9 from 4 KiB, 1.4 from 64 MiB; windows 3 from 1 MiB.
A file that has runs added to it (measuring into the same folder) is one table of all their launches.

Exit codes: 0 all right, 2 usage, and with --check 6 if something that has a target was not measured (each size of the
rows and of the run record beside them with each placement, both ways), else 3 if a median is below its target.
"""

import argparse
import csv
import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

import script
from compare_openmpi import ROOT, interval
from script import fail

ALGORITHMS = ["ring", "two_shot", "one_shot", "recursive_doubling", "rabenseifner"]
WAYS = {"messages": "", "window": "/window"}
TARGETS = {
    "messages": ((64 << 20, 1.4), (4 << 10, 0.9), (0, 0.7)),
    "window": ((1 << 20, 3.0),),
}  # from so many bytes on; the first that fits
LIBRARY = "library"
BELOW = 3  # the exit code
COLUMNS = {"run_id", "launch", "backend", "collective", "algorithm", "ranks", "size_bytes", "placement", "status",
           "time_us_p50", "flag_ns"}  # fmt: skip


def stored(path):
    """The rows of all-reduces over MPI, whatever became of them."""
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as fault:
        fail(f"{path}: {fault.strerror}")
    if not rows or not rows[0].keys() >= COLUMNS:
        fail(f"{path}: not the rows of a sweep: its first line must be that of results.csv")
    return [r for r in rows if r["backend"] == "mpi" and r["collective"] == "all_reduce"]


def groups(rows):
    """By (ranks, size, placement): a dictionary algorithm -> launch -> median time, and the flags."""
    table = {}
    for row in rows:
        if row["status"] != "ok":
            continue
        key = (int(row["ranks"]), int(row["size_bytes"]), row["placement"])
        times, flags = table.setdefault(key, ({}, []))
        launch = (row["run_id"], int(row["launch"]))
        own = times.setdefault(row["algorithm"], {})
        if launch in own:
            fail(f"{row['algorithm']} twice in launch {launch[1]} of run {launch[0]}: of one dtype and mode, please")
        own[launch] = float(row["time_us_p50"])
        flags += [float(row["flag_ns"])] if row["flag_ns"] else []
    return dict(sorted(table.items()))


def ratio(times, algorithm, launch):
    return times[LIBRARY][launch] / times[algorithm][launch]


def chosen(times, way, launches):
    """The algorithm whose median ratio over these launches is best; None if there is none."""
    ours = [name for name in times if name != LIBRARY and name.endswith("/window") == (way == "window")]
    medians = {
        name: statistics.median(values)
        for name in ours
        if (values := [ratio(times, name, launch) for launch in launches if launch in times[name]])
    }
    return max(medians, key=medians.get, default=None)


def judged(times, way):
    """Of each launch the algorithm that the others chose: (launch, name)."""
    launches = sorted(times.get(LIBRARY, {}))
    halves = launches[::2], launches[1::2]
    names = chosen(times, way, halves[1] or halves[0]), chosen(times, way, halves[0])
    return [
        (launch, name)
        for half, name in zip(halves, names, strict=True)
        for launch in half
        if name and launch in times[name]
    ]


def target(way, size):
    return next((wanted for least, wanted in TARGETS[way] if size >= least), None)


def lines(rows):
    """Of each case and way that was measured: (case and way, what is printed, whether its target is met)."""
    for (ranks, size, placement), (times, flags) in groups(rows).items():
        flag = f"{statistics.median(flags):.0f} [{min(flags):.0f}, {max(flags):.0f}]" if flags else ""
        for way in WAYS:
            taken = judged(times, way)
            if not taken:
                continue
            middle, low, high = interval([ratio(times, name, launch) for launch, name in taken])
            wanted = target(way, size) if ranks == 2 else None
            met = wanted is None or middle >= wanted
            ours = statistics.median(times[name][launch] for launch, name in taken)
            theirs = statistics.median(times[LIBRARY][launch] for launch, _ in taken)
            found = f"{middle:.2f} [{low:.2f}, {high:.2f}]"
            names = " or ".join(sorted({name for _, name in taken}))
            yield (ranks, size, placement, way), (
                f"{ranks:>5} {size:>10}  {placement:<12} {way:<8} {found:>24} {'' if wanted is None else wanted:>6}"
                f" {'' if met else 'below':<5} {ours:>11.2f} {theirs:>11.2f} {flag:>16}  {names}"), met  # fmt: skip


def asked(path, rows):
    """(size, placement) of all that was to be measured on two ranks: by the rows, and by the run record beside them."""
    two = [row for row in rows if row["ranks"] == "2"]
    cases = set(itertools.product({int(row["size_bytes"]) for row in two}, {row["placement"] for row in two}))
    try:
        record = json.loads(path.with_suffix(".run.json").read_text())
        for run in (record, *record.get("earlier", [])):
            plan = run["configuration"]
            if "mpi" in plan["backend"] and "all_reduce" in plan["collective"] and 2 in plan["ranks"]:
                cases.update(itertools.product(plan["sizes"], plan["placement"]))
    except OSError:
        pass
    except (ValueError, KeyError, TypeError, AttributeError):
        fail(f"{path.with_suffix('.run.json')}: not written by collmark sweep")
    return cases


def missing(cases, measured):
    """What has a target and was not measured, in words."""
    wanted = [
        (2, size, placement, way) for size, placement in sorted(cases) for way in WAYS if target(way, size) is not None
    ]
    if not wanted:
        return ["any case of two ranks that has a target"]
    return [f"{size} {placement} {way}" for _, size, placement, way in wanted
            if (2, size, placement, way) not in measured]  # fmt: skip


def print_table(found):
    print(f"{'ranks':>5} {'size':>10}  {'placement':<12} {'way':<8} {'best, times faster':>24} {'target':>6}       "
          f"{'best, us':>11} {'library, us':>11} {'flag, ns':>16}  best")  # fmt: skip
    for _, line, _ in found:
        print(line)


def check(path, rows, found):
    """The exit code."""
    lacking = missing(asked(path, rows), {case for case, _, _ in found})
    for words in lacking:
        print(f"compare_mpi.py: not measured: {words}", file=sys.stderr)
    if lacking:
        return script.NOTHING
    return 0 if all(met for _, _, met in found) else BELOW


def measure(arguments):
    collmark = script.program(arguments.build / "collmark")
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "rows.csv"
    names = [name + suffix for suffix in WAYS.values() for name in arguments.algorithm.split(",")]
    command = [
        collmark, "sweep", "--backend", "mpi", "--algorithm", ",".join([*names, LIBRARY]),
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
    parser.add_argument("--check", action="store_true", help="exit codes 3 and 6, see above")
    arguments = parser.parse_args()
    path = arguments.table or measure(arguments)
    rows = stored(path)
    found = list(lines(rows))
    print_table(found)
    return check(path, rows, found) if arguments.check else 0


if __name__ == "__main__":
    script.run(main)
