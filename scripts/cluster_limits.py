#!/usr/bin/env python3
"""Do our all-reduces reach what the links of an emulated cluster allow?

On hosts with shaped links (scripts/emulated_cluster.sh) it measures, in one run: the goodput of a one-way stream
between two hosts; `collmark links` between all of them; and `collmark sweep --backend mpi`, f32 sum, our algorithms and
the library's own. It prints time, limit and ratio of each, and ends in exit code 3 unless

    ring                 is within 15 % of 2K(N-1)/N over the goodput (35 % at N = 2)
    parameter_server     is within 15 % of 2(N-1)K over it, and linear in N-1 with that slope, within 10 %
    ring                 is at least 2 times as fast as the library's default as it comes (1.8 times over 3 and 4 hosts)
                         and, set as all else here is, 2 times, at powers of two 0.9 times

With racks it ends in 3 unless hierarchical_ring is at least 1.1 times as fast as ring.

    scripts/cluster_limits.py --out results/my-cluster
    scripts/cluster_limits.py --racks 2 --uplink 40mbit       hierarchical_ring against ring, over slower uplinks
    scripts/cluster_limits.py --table results/my-cluster      the table of an earlier run

Exit codes: 0 all claims hold, 2 usage, 3 a claim does not hold, 6 no claim was decided, or neither 4 nor 8 hosts were
measured (where the library is hardest to beat) though no --ranks asked for others, 77 the kernel lets nobody make such
a cluster (the refused call is printed) or there is no Open MPI; others are those of `collmark sweep`, as 5 for a wrong
result.
"""

import argparse
import csv
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import limits
import script
from script import fail
from tcp_stream import stream

ROOT = Path(__file__).resolve().parent.parent
CLUSTER = ROOT / "scripts" / "emulated_cluster.sh"
FALSE, ABSENT = 3, 77  # exit codes
POWERS = {4, 8}  # hosts
AS_IT_COMES = "as_it_comes.csv"
# What emulated_cluster.sh sets for speed, for ours and for the library's.
TUNED = ("OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_btl_tcp_links")
FLAT = "ring,double_binary_tree,parameter_server,sharded_parameter_server,library"


def goodput(host, size):
    """Of a plain TCP stream from host0 to another [B/s]."""
    try:
        received, seconds = stream(host, size)
    except ConnectionError as fault:
        fail(fault, 1)
    if received != size:
        fail(f"of {size} bytes {received} arrived", 1)
    return size / seconds


def run(command):
    status = subprocess.run(list(map(str, command)), check=False).returncode
    if status:
        fail(f"exit {status} from: {shlex.join(map(str, command))}", status)


def measure(options, out):
    """In the cluster, on its first host: writes streams.json, links.csv, rows.csv and as_it_comes.csv."""
    ends = {"goodput_bytes_per_s": "host1"}
    if options.racks > 1:
        ends["uplink_bytes_per_s"] = f"host{options.hosts - 1}"
    streams = {name: [goodput(host, options.size) for _ in range(3)] for name, host in ends.items()}
    run([options.collmark, "links", "--backend", "mpi", "--ranks", options.hosts, "--csv", out / "links.csv"])
    sweep = [
        options.collmark, "sweep", "--backend", "mpi", "--collective", "all_reduce",
        "--ranks", options.ranks, "--sizes", options.size, "--dtype", "f32",
        "--op", "sum", "--warmups", options.warmups, "--iterations", options.iterations, "--time-budget", 600,
        "--launches", options.launches, "--timeout", 120,
    ]  # fmt: skip
    run([*sweep, "--algorithm", options.algorithm, "--csv", out / "rows.csv"])
    if options.racks == 1 and limits.LIBRARY in options.algorithm.split(","):
        unset = [word for name in TUNED for word in ("-u", name)]
        run(["env", *unset, *sweep, "--algorithm", limits.LIBRARY, "--csv", out / AS_IT_COMES])
    for name, host in ends.items():
        streams[name] += [goodput(host, options.size) for _ in range(3)]
    cluster = {key: vars(options)[key] for key in ("hosts", "rate", "racks", "uplink", "fair")}
    document = {"cluster": cluster, "stream_bytes": options.size, **streams}
    (out / "streams.json").write_text(json.dumps(document, indent=1) + "\n")


def stored_goodputs(folder):
    """Of a link, and of an uplink; None where there is one rack."""
    path = folder / "streams.json"
    try:
        document = json.loads(path.read_text())
        inside, uplink = document["goodput_bytes_per_s"], document.get("uplink_bytes_per_s")
        return statistics.median(inside), uplink and statistics.median(uplink)
    except OSError as fault:
        fail(f"{path}: {fault.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError):
        fail(f"{path}: not written by cluster_limits.py")


def stored_rows(folder):
    """Of several launches the median, and from the fastest to the slowest."""
    return [*rows_of(folder / "rows.csv"), *rows_of(folder / AS_IT_COMES, limits.AS_IT_COMES)]


def rows_of(path, name=None):
    """Of one file, which may be missing if it has a `name` for its algorithm."""
    cases = {}
    if name and not path.exists():
        return []
    try:
        stored = list(csv.DictReader(path.read_text().splitlines()))
    except OSError as fault:
        fail(f"{path}: {fault.strerror}")
    try:
        for row in stored:
            if row["status"] != "ok":
                fail(f"{row['algorithm']} over {row['ranks']} hosts: {row['status']}, {row['reason']}", 1)
            key = (name or row["algorithm"], int(row["ranks"]), int(row["size_bytes"]))
            times = (float(row[f"time_us_{name}"]) / 1e6 for name in ("p50", "min", "max"))
            cases.setdefault(key, []).append(tuple(times))
    except (KeyError, ValueError, TypeError):
        fail(f"{path}: not written by collmark sweep")
    return [
        limits.Row(*key, statistics.median(t[0] for t in times), min(t[1] for t in times), max(t[2] for t in times))
        for key, times in cases.items()
    ]


def judge(folder, rules, ranks):
    """Prints table and verdicts; returns the exit code. `ranks` is None if nobody said over how many hosts."""
    rows = stored_rows(folder)
    print(f"a one-way stream between two hosts: {rules.goodput * 8 / 1e6:.1f} Mbit/s")
    if rules.uplink:
        print(f"between two racks: {rules.uplink * 8 / 1e6:.1f} Mbit/s")
    print(f"\n{limits.table(rows, rules)}\n")
    found = limits.claims(rows, rules)
    for holds, words in found:
        print(f"{'holds' if holds else 'FAILS'}  {words}")
    if not found:
        print("no case was measured that a limit is known for")
        return script.NOTHING
    if not ranks and not POWERS & {row.ranks for row in rows}:
        print("neither 4 nor 8 hosts were measured: name others with --ranks if they are meant")
        return script.NOTHING
    return 0 if all(holds for holds, _ in found) else FALSE


def enter_cluster(options):
    """The same script once more, on host0 of a cluster of its own."""
    script.program(options.collmark)
    if not shutil.which("mpirun"):
        fail("no mpirun on PATH", ABSENT)
    where = ["--hosts", options.hosts, "--rate", options.rate, "--racks", options.racks, "--uplink", options.uplink]
    where += ["--fair"] if options.fair else []
    command = [CLUSTER, "run", "--name", f"limits-{os.getpid()}", *where, "--", sys.executable, __file__, *sys.argv[1:]]
    sys.stdout.flush()
    command = list(map(str, command))
    os.execv(command[0], command)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collmark", type=Path, default=ROOT / "build" / "collmark", help="default: build/collmark")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--rate", default="200mbit", help="of each host's link (default: 200mbit)")
    parser.add_argument("--racks", type=int, default=1, help="of hosts each with a switch of its own (default: 1)")
    parser.add_argument("--uplink", help="rate of each rack's link to the others (default: --rate)")
    parser.add_argument(
        "--fair", action="store_true", help="hosts share an uplink evenly, as emulated_cluster.sh has it"
    )
    parser.add_argument("--ranks", help="as for sweep (default: 2 to all hosts; with racks all hosts)")
    parser.add_argument("--size", type=int, default=16_000_000, help="bytes of each rank's buffer (default: 16000000)")
    parser.add_argument("--algorithm", help=f"default: {FLAT}")
    parser.add_argument(
        "--warmups", type=int, default=0, help="beside the operation that is checked first (default: 0)"
    )
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--launches", type=int, default=1)
    parser.add_argument("--within", type=float, default=0.15, help="of a limit (default: 0.15)")
    parser.add_argument("--slope", type=float, default=0.10, help="how far off the server's may be (default: 0.10)")
    parser.add_argument("--library", type=float, default=2.0, help="how many times as fast the ring is (default: 2)")
    parser.add_argument("--out", type=Path, help="a folder for rows.csv, rows.run.json, links.csv, streams.json")
    parser.add_argument("--table", type=Path, help="print the table of these files, measure nothing")
    options = parser.parse_args()
    if options.hosts < 2 or options.racks < 1 or options.hosts % options.racks:
        parser.error(f"--racks {options.racks} must divide --hosts {options.hosts}, which must be 2 or more")
    if options.fair and options.racks == 1:
        parser.error("--fair is for the uplinks of --racks")
    options.uplink = options.uplink or options.rate
    racks = options.racks > 1
    options.asked = options.ranks
    options.ranks = options.ranks or (str(options.hosts) if racks else f"2:{options.hosts}")
    per_rack = f"{options.racks}x{options.hosts // options.racks}"
    options.algorithm = options.algorithm or (f"ring,hierarchical_ring:{per_rack},library" if racks else FLAT)
    return options


def main():
    options = arguments()
    if options.out and not options.table and (options.out / "rows.csv").exists():
        fail(f"{options.out / 'rows.csv'} is there already: name another folder")
    if not options.table and "COLLMARK_CLUSTER_HOSTS" not in os.environ:
        enter_cluster(options)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.table or options.out or Path(scratch)
        if not options.table:
            folder.mkdir(parents=True, exist_ok=True)
            measure(options, folder)
        rules = limits.Rules(*stored_goodputs(folder), options.within, options.slope, options.library)
        return judge(folder, rules, options.asked)


if __name__ == "__main__":
    script.run(main)
