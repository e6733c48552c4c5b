#!/usr/bin/python3
"""Five sentences about a quickstart run, computed from its CSV files.

seen.py DIR        reads DIR/sizes.csv, DIR/ranks.csv and DIR/step.csv
"""

import csv
import sys
from pathlib import Path
from statistics import median

import script

RING, SERVER = "ring", "parameter_server"
Row = dict[str, str]


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def right(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["status"] == "ok" and int(row["wrong"] or 0) == 0]


def mebibytes(count: float) -> str:
    return f"{count / 2**20:.4g} MiB"


def milliseconds(microseconds: float) -> str:
    return f"{microseconds / 1e3:.3g} ms"


def at(rows: list[Row], **wanted: int | str) -> list[Row]:
    return [r for r in rows if all(r[name] == str(value) for name, value in wanted.items())]


def time(rows: list[Row], **wanted: int | str) -> float:
    """Median over launches [us]."""
    return median(float(row["time_us_p50"]) for row in at(rows, **wanted))


def largest(rows: list[Row], column: str) -> int:
    return max(int(row[column]) for row in rows)


def checked(rows: list[Row]) -> str:
    good = right(rows)
    counted = [row for row in good if row["wire_bytes_busiest"] and row["wire_bytes_formula"]]
    equal = sum(row["wire_bytes_busiest"] == row["wire_bytes_formula"] for row in counted)
    return (
        f"{len(good)} of {len(rows)} cases ran with every element right; the bytes counted at the "
        f"busiest rank equal the formula's in {equal} of {len(counted)}."
    )


def bytes_line(rows: list[Row]) -> str:
    """Counted bytes at the most ranks, beside 2K(N-1)/N and C(N-1)."""
    n, size = largest(rows, "ranks"), largest(rows, "size_bytes")
    words = []
    for name, formula, value in (
        (RING, "2K(N-1)/N", 2 * size * (n - 1) / n),
        (SERVER, "C(N-1)", float(size * (n - 1))),
    ):
        counted = int(at(rows, ranks=n, size_bytes=size, algorithm=name)[0]["wire_bytes_busiest"])
        relation = "=" if counted == value else f"against {mebibytes(value)} ="
        words.append(f"{name} {mebibytes(counted)} {relation} {formula}")
    return f"Bytes of the busiest rank, {mebibytes(size)} on {n} ranks: {'; '.join(words)}."


def size_line(rows: list[Row]) -> str:
    n, size = largest(rows, "ranks"), largest(rows, "size_bytes")
    here = at(rows, ranks=n, size_bytes=size)
    ring, server = time(here, algorithm=RING), time(here, algorithm=SERVER)
    words = (
        f"Largest tensor, {mebibytes(size)} on {n} ranks{crowded(here)}: ring {milliseconds(ring)}, "
        f"parameter_server {milliseconds(server)} ({server / ring:.2f} times the ring)"
    )
    if crowded(here):
        return f"{words}."  # the scheduler is part of such times: no ranking
    best = min(here, key=lambda row: time(here, algorithm=row["algorithm"]))["algorithm"]
    return f"{words}; fastest here: {best}, {milliseconds(time(here, algorithm=best))}."


def ranks_line(rows: list[Row]) -> str:
    numbers = sorted({int(row["ranks"]) for row in rows})
    few, many = numbers[0], numbers[-1]
    growth = {
        name: time(rows, algorithm=name, ranks=many) / time(rows, algorithm=name, ranks=few) for name in (RING, SERVER)
    }
    size = largest(rows, "size_bytes")
    return (
        f"From {few} to {many} ranks, {mebibytes(size)} each{crowded(at(rows, ranks=many))}: "
        f"ring takes {growth[RING]:.2f} times as long, parameter_server {growth[SERVER]:.2f} times."
    )


def crowded(rows: list[Row]) -> str:
    return " (more ranks than cores)" if any(r["oversubscribed"] == "1" for r in rows) else ""


def step_line(rows: list[Row]) -> str:
    """The best cap of the ring against one message per tensor and one for everything."""
    ring = at(rows, algorithm=RING)
    capped = [row for row in ring if row["bucket_bytes"]]
    best = min(capped, key=lambda row: float(row["time_us_p50"]))
    cap, least = int(best["bucket_bytes"]), float(best["time_us_p50"])
    others = [
        f"{policy} {milliseconds(time(ring, policy=policy))}"
        for policy in ("per_tensor", "single")
        if at(ring, policy=policy)
    ]
    server = time(rows, algorithm=SERVER, policy=best["policy"], bucket_bytes=cap)
    return (
        f"One step of {best['model']} on {best['ranks']} ranks{crowded([best])}: the ring's best {best['policy']} cap "
        f"is {mebibytes(cap)}, {milliseconds(least)} a step ({', '.join(others)}); parameter_server there takes "
        f"{milliseconds(server)}."
    )


def sentences(folder: Path) -> list[str]:
    sizes, ranks, step = (read(folder / f"{name}.csv") for name in ("sizes", "ranks", "step"))
    return [
        checked(sizes + ranks + step),
        bytes_line(right(ranks)),
        size_line(right(sizes)),
        ranks_line(right(ranks)),
        step_line(right(step)),
    ]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: seen.py DIR", file=sys.stderr)
        return 2
    try:
        print("\n".join(sentences(Path(arguments[0]))))
    except OSError as fault:
        print(f"seen.py: {fault.filename}: {fault.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    script.run(lambda: main(sys.argv[1:]))
