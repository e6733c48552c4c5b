#!/usr/bin/env python3
"""How many times faster are our all-reduces on threads than the installed Open MPI's MPI_Allreduce?

Both sides are `collmark sweep`, and so the same measurement: f32 sum, in place and out of place, every rank rewrites
its own input before each operation, ranks start together, the slowest rank counts, every result is checked. Ours runs
with `--backend threads`; theirs, `--backend mpi --algorithm library`, once as it comes and once with `--mca
coll_sm_priority 100`.

The sides alternate: each round measures one size on all sides within seconds, and ratios are taken inside a round. On
a shared host the way between two cores changes from near to far in phases, so the one-way time of a flag is recorded
with every figure. Ratios are for near cores: a round in which any side found its cores farther apart than --near-ns is
kept in the file, left out of the table and measured again, up to three times as many rounds in all. If no round was
near, the table is made of the far ones and says `far`.

`best` is the fastest of five algorithms in the same round, and so looks a little better than any of them; `ring` beside
it was named before.

From 16 MiB up, and with a core for each rank, a plain loop with the same reads and (streaming) stores is measured in
the same rounds: the bound of the machine. `of bound` is its time over our best algorithm's.

    scripts/compare_openmpi.py --rounds 9 --out results/my-machine
    scripts/compare_openmpi.py --table results/my-machine/openmpi-2026-11-29.csv       the table of an earlier run
"""

import argparse
import csv
import datetime
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import script
from script import fail

ROOT = Path(__file__).resolve().parent.parent
ALGORITHMS = "ring,two_shot,one_shot,double_binary_tree,rabenseifner"
PEERS = {"default": [], "coll_sm": ["--launcher-args", "--mca coll_sm_priority 100"]}
BOUND_FROM = 16 << 20  # [bytes]
FIELDS = ["round", "ranks", "size_bytes", "placement", "side", "algorithm", "time_us_p50", "flag_ns"]


def output_of(command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        fail(f"exit {run.returncode} from: {' '.join(map(str, command))}\n{run.stderr.strip()}")
    return run.stdout


def swept(arguments, ranks, size, placement, *flags):
    """The rows of one sweep: all that the two sides have in common."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        output_of(
            [
                arguments.build / "collmark", "sweep", "--collective", "all_reduce", "--ranks", str(ranks),
                "--sizes", size, "--dtype", "f32", "--op", "sum", "--placement", placement,
                "--time-budget", str(arguments.time_budget), "--csv", path, *flags,
            ]
        )  # fmt: skip
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    for row in rows:
        if row["status"] != "ok":
            fail(f"{row['algorithm']} at {size}: {row['status']}, {row['reason']}")
    return rows


def bound(build, ranks, size, placement):
    """No rows where it bounds nothing: in cache."""
    in_place = ["--in-place"] if placement == "in_place" else []
    text = output_of([build / "collmark_bound", "--ranks", str(ranks), "--sizes", size, *in_place])
    row = next(csv.DictReader(text.splitlines()))
    return [] if int(row["size_bytes"]) < BOUND_FROM else [row]


def one_round(arguments, number, ranks, size, placement):
    def our_side():
        rows = swept(arguments, ranks, size, placement, "--backend", "threads", "--algorithm", ALGORITHMS)
        return [{**row, "side": "collmark"} for row in rows]

    def their_side(name):
        rows = swept(
            arguments, ranks, size, placement, "--backend", "mpi", "--algorithm", "library", *PEERS[name]
        )  # fmt: skip
        return [{**row, "side": f"openmpi_{name}"} for row in rows]

    def bound_side():
        return [{**row, "side": "bound", "algorithm": "loop"} for row in bound(arguments.build, ranks, size, placement)]

    sides = [bound_side, our_side, *(lambda n=name: their_side(n) for name in PEERS)]
    if number % 2:
        sides.reverse()
    rows = [row for side in sides for row in side()]
    return [
        {
            **{f: row.get(f, "") for f in FIELDS},
            "round": number,
            "ranks": ranks,
            "size_bytes": row["size_bytes"],
            "placement": placement,
        }
        for row in rows
    ]


def interval(values):
    """Median, and the order statistics that enclose it with 95 % (binomial); min and max below six values."""
    ordered = sorted(values)
    n, low, tail, term = len(ordered), 0, 0.0, 0.5 ** len(ordered)
    while n >= 6 and tail + term <= 0.025:
        tail += term
        term *= (n - low) / (low + 1)
        low += 1
    low = max(0, low - 1)
    return statistics.median(ordered), ordered[low], ordered[n - 1 - low]


def is_near(group, near_ns):
    """By our own flags alone where ranks share cores: Open MPI's ranks are not bound then, nor ever both running."""
    crowded = int(group[0]["ranks"]) > len(os.sched_getaffinity(0))
    sides = [r for r in group if r["side"] != "bound" and not (crowded and r["side"] != "collmark")]
    return all(float(r["flag_ns"] or 0) <= near_ns for r in sides)


def stored(path):
    try:
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            if reader.fieldnames != FIELDS:
                fail(f"{path}: not written by compare_openmpi.py: its first line must be {','.join(FIELDS)}")
            return list(reader)
    except OSError as fault:
        fail(f"{path}: {fault.strerror}")


def ratios(rows, near_ns):
    """By (ranks, size, placement, peer), per round: the peer's time over our best algorithm's and over the ring's, the
    machine's bound over our best, which algorithm that is, and whether all cores were near."""
    groups = {}
    for row in rows:
        key = (int(row["ranks"]), int(row["size_bytes"]), row["placement"], row["round"])
        groups.setdefault(key, []).append(row)
    table = {}
    for (ranks, size, placement, _), group in sorted(groups.items()):
        times = {(r["side"], r["algorithm"]): float(r["time_us_p50"]) for r in group}
        mine = {a: t for (side, a), t in times.items() if side == "collmark"}
        best = min(mine, key=mine.get)
        loop = times.get(("bound", "loop"))
        for peer in PEERS:
            peer_time = times[(f"openmpi_{peer}", "library")]
            entry = (
                peer_time / mine[best],
                peer_time / mine["ring"],
                loop and loop / mine[best],
                best,
                is_near(group, near_ns),
            )
            table.setdefault((ranks, size, placement, peer), []).append(entry)
    return table


def print_table(table):
    print(
        f"{'ranks':>5} {'size':>9}  {'placement':<12} {'Open MPI':<8} {'best, times faster':>24}"
        f" {'ring, times faster':>24} {'of bound':>20}  near  best"
    )
    for (ranks, size, placement, peer), all_entries in table.items():
        entries = [e for e in all_entries if e[4]] or all_entries
        cells = []
        for column in (0, 1, 2):
            values = [e[column] for e in entries if e[column] is not None]
            middle, low, high = interval(values) if values else (None, None, None)
            cells.append(f"{middle:.2f} [{low:.2f}, {high:.2f}]" if values else "")
        names = statistics.mode(e[3] for e in entries)
        near = f"{len(entries)}/{len(all_entries)}" if entries[0][4] else "far"
        print(f"{ranks:>5} {size:>9}  {placement:<12} {peer:<8} {cells[0]:>24} {cells[1]:>24} {cells[2]:>20}"
              f" {near:>5}  {names}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build)")
    parser.add_argument("--rounds", type=int, default=7, help="near rounds wanted for each size (default: 7)")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--sizes", default="4,16K,1M,16M,64M,256M")
    parser.add_argument("--placement", default="in_place,out_of_place")
    parser.add_argument("--time-budget", type=float, default=0.4, help="seconds per case and side")
    parser.add_argument("--near-ns", type=float, default=100, help="cores are near up to this flag time")
    parser.add_argument("--out", type=Path, help="folder for the raw rows (openmpi-DATE.csv)")
    parser.add_argument("--table", type=Path, help="print the table of these rows, measure nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print_table(ratios(stored(arguments.table), arguments.near_ns))
        return
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    for program in ("collmark", "collmark_bound"):
        script.program(arguments.build / program)
    path = arguments.out and arguments.out / f"openmpi-{datetime.date.today()}.csv"
    if path and path.exists():
        fail(f"{path} is there already: name another folder")

    rows = []
    cases = itertools.product(
        map(int, arguments.ranks.split(",")), arguments.sizes.split(","), arguments.placement.split(",")
    )
    for ranks, size, placement in cases:
        near = 0
        for number in range(3 * arguments.rounds):
            fresh = one_round(arguments, number, ranks, size, placement)
            near += is_near(fresh, arguments.near_ns)
            rows += fresh
            print(f"{ranks} ranks, {size} {placement}: {number + 1} rounds, {near} near", file=sys.stderr)
            if near == arguments.rounds:
                break
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"rows: {path}", file=sys.stderr)
    print_table(ratios(rows, arguments.near_ns))


if __name__ == "__main__":
    script.run(main)
