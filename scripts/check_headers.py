#!/usr/bin/python3
"""Compiles every header alone, so that it includes what it uses, and all at once, so that no two types have one name.

check_headers.py BUILD_DIR      exit 0, or 1 with the compiler's words for each that fails

Two types of one name in two sources of a program are not seen by any compiler, and the linker takes the functions of
one for both (C++20, [basic.def.odr]).
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compile_commands import ROOT, Command, read


def compiled(command: Command, *words: str, text: str = "") -> str:
    """What the compiler says; empty if it compiles."""
    arguments = command.with_("-Werror", "-fsyntax-only", *words)
    run = subprocess.run(arguments, cwd=command.directory, input=text, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else ""


def alone(header: Path, command: Command) -> str:
    return compiled(command, "-x", "c++", "-include", str(header), os.devnull)


def together(headers: list[Path], commands: list[Command]) -> str:
    """What the compiler says about one source with all the headers; empty if it compiles."""
    wanted = dict.fromkeys(pair for c in commands for pair in zip(("", *c.arguments), c.arguments, strict=False))
    words = [w for _, w in wanted if w.startswith(("-I", "-D"))]
    words += [w for pair in wanted if pair[0] == "-isystem" for w in pair]
    includes = "".join(f'#include "{header}"\n' for header in headers)
    return compiled(commands[0], *words, "-x", "c++", "-", text=includes)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: check_headers.py BUILD_DIR", file=sys.stderr)
        return 2
    commands = read(Path(arguments[0]))
    by_folder = {command.source.parent: command for command in commands}
    headers = [header for folder in sorted(by_folder) for header in sorted(folder.glob("*.hpp"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = list(pool.map(lambda h: alone(h, by_folder[h.parent]), headers))
    broken = [(h.relative_to(ROOT), f) for h, f in zip(headers, faults, strict=True) if f]
    for header, words in broken:
        print(f"{header} does not compile alone:\n{words}")
    print(f"{len(headers) - len(broken)} of {len(headers)} headers compile alone")
    clash = together(headers, commands)
    print(f"all headers do not compile together:\n{clash}" if clash else "all headers compile together")
    return 1 if broken or clash or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
