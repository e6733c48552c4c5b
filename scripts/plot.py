#!/usr/bin/python3
"""Draws the figures of a collmark CSV file, as SVG and PNG.

    plot.py results.csv [step.csv ...] [--out DIR]      default DIR: beside each file

A sweep gives time and bus bandwidth against tensor size, and time and bytes of the busiest rank
against the number of ranks; a step gives step time against bucket size. Prints what it wrote.
Exit codes: 0 ok, 2 a file that cannot be read or written, 6 no row with a measurement.
"""

import argparse
import sys
from pathlib import Path

import script

try:
    import matplotlib as mpl

    mpl.use("Agg")  # no window
    from figures import records, step, style, sweep
except ModuleNotFoundError as missing:
    print(
        f"plot.py: {missing.name} is missing for {sys.executable}: run scripts/setup.sh and then "
        f"scripts/plot.py, or: apt-get install python3-matplotlib python3-pandas",
        file=sys.stderr,
    )
    sys.exit(2)


def draw(path: Path, folder: Path) -> list[Path]:
    """Every figure of one file. Raises records.BadFile."""
    kind = step if step.is_step(records.columns(path)) else sweep
    read = records.read(path, kind.COLUMNS)
    if read.left_out:
        print(f"{path}: {read.left_out} rows skipped, failed or wrong: not drawn", file=sys.stderr)
    written = []
    for name, figure in kind.draw(read.rows):
        written += style.write(figure, folder / name)
    return written


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__.splitlines()[0])
    parser.add_argument("csv", nargs="+", type=Path, help="a file that sweep or step wrote")
    parser.add_argument("--out", type=Path, help="folder for the figures")
    options = parser.parse_args(arguments)
    written = []
    try:
        for path in options.csv:
            folder = options.out or path.parent
            folder.mkdir(parents=True, exist_ok=True)
            written += draw(path, folder)
    except records.BadFile as fault:
        print(f"plot.py: {fault}", file=sys.stderr)
        return 2
    except OSError as fault:
        print(f"plot.py: cannot write {fault.filename}: {fault.strerror}", file=sys.stderr)
        return 2
    for path in written:
        print(path)
    if not written:
        print("plot.py: no rows to draw: two sizes, ranks or caps make a line", file=sys.stderr)
        return 6
    return 0


if __name__ == "__main__":
    script.run(lambda: main(sys.argv[1:]))
