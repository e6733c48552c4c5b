#!/usr/bin/python3
"""Checks that includes point one way: topologies <- collectives <- kernels <- bench.

check_includes.py [ROOT]      exit 0, or 1 with one line per include against the arrow
"""

import re
import sys
from pathlib import Path

# Lowest first. A folder may include itself and what stands before it.
ARROW = ("topologies", "collectives", "kernels", "bench")
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([a-z_]+)/')
SOURCES = {".hpp", ".cpp", ".ipp", ".cuh", ".cu", ".def"}


def against_the_arrow(folder: str, text: str) -> list[tuple[int, str]]:
    """Lines of a file in `folder` that include a folder after it: (line number, line)."""
    above = set(ARROW[ARROW.index(folder) + 1 :])
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        include = INCLUDE.match(line)
        if include and include.group(1) in above:
            found.append((number, line.strip()))
    return found


def check(root: Path) -> tuple[list[str], int]:
    """Complaints about the tree at `root`, and how many files were read."""
    complaints, files = [], 0
    for folder in ARROW:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            files += 1
            for number, line in against_the_arrow(folder, path.read_text(encoding="utf-8")):
                where = f"{path.relative_to(root)}:{number}"
                complaints.append(f"{where}: {line} points against {' <- '.join(ARROW)}")
    return complaints, files


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent
    complaints, files = check(root)
    if files == 0:
        print(f"check_includes.py: no sources under {root}", file=sys.stderr)
        return 2
    print("\n".join(complaints) if complaints else f"{files} files, every include points one way")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
