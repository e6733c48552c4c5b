#!/usr/bin/python3
"""Compiles every header alone, with the flags of its folder, so that it includes what it uses.

check_headers.py BUILD_DIR      exit 0, or 1 with the compiler's words for each that fails
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compile_commands import ROOT, Command, read


def fault(header: Path, command: Command) -> str:
    """What the compiler says about the header alone; empty if it compiles."""
    arguments = command.with_("-Werror", "-fsyntax-only", "-x", "c++", "-include", str(header))
    run = subprocess.run([*arguments, os.devnull], cwd=command.directory, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: check_headers.py BUILD_DIR", file=sys.stderr)
        return 2
    by_folder = {command.source.parent: command for command in read(Path(arguments[0]))}
    headers = [header for folder in sorted(by_folder) for header in sorted(folder.glob("*.hpp"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda h: fault(h, by_folder[h.parent]), headers))
    broken = [(h.relative_to(ROOT), f) for h, f in zip(headers, faults, strict=True) if f]
    for header, words in broken:
        print(f"{header} does not compile alone:\n{words}")
    print(f"{len(headers) - len(broken)} of {len(headers)} headers compile alone")
    return 1 if broken or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
