#!/usr/bin/python3
"""Runs clang-tidy over the sources of a build directory, and remembers which were clean.

    tidy.py BUILD_DIR [SOURCE...]      exit 0, or 1 with clang-tidy's words for each source

A source is looked at again when anything in it changes: its text with all its headers, its flags,
.clang-tidy, or clang-tidy itself. Clean ones are remembered under the user's cache directory.
"""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compile_commands import ROOT, Command, read

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "collmark" / "tidy"

FLAGS = (
    "--extra-arg=-Wno-unknown-warning-option",  # GCC's own, in compile_commands.json
    # The analyzer inlines less and stops earlier: in its deep mode it takes more than all other checks together, and
    # what it looks for is what the sanitizers see when the tests run.
    *(f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")),
)


def fingerprint(command: Command, rules: bytes) -> str:
    """Of everything that decides what clang-tidy says."""
    text = subprocess.run(
        command.with_("-E", "-P", str(command.source)),
        cwd=command.directory,
        capture_output=True,
        check=True,
    ).stdout
    words = [str(command.source), *command.arguments]
    relative = " ".join(words).replace(str(ROOT), ".")  # the same in every clone
    return hashlib.sha256(b"\0".join((rules, relative.encode(), text))).hexdigest()


def complaints(command: Command, build: Path, rules: bytes) -> str:
    """clang-tidy's words; empty if the source is clean."""
    remembered = CACHE / fingerprint(command, rules)
    if remembered.exists():
        return ""
    run = subprocess.run(
        ["clang-tidy", "--quiet", *FLAGS, "-p", str(build), str(command.source)],
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        CACHE.mkdir(parents=True, exist_ok=True)
        remembered.touch()
        return ""
    return run.stdout or run.stderr


def main(arguments: list[str]) -> int:
    if not arguments:
        print("usage: tidy.py BUILD_DIR [SOURCE...]", file=sys.stderr)
        return 2
    build = Path(arguments[0])
    asked = {Path(name).resolve() for name in arguments[1:]}
    commands = [c for c in read(build) if not asked or c.source in asked]
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    rules = version + (ROOT / ".clang-tidy").read_bytes() + "".join(FLAGS).encode()
    dirty = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for words in pool.map(lambda c: complaints(c, build, rules), commands):
            if words:
                dirty += 1
                print(words, flush=True)
    print(f"{len(commands) - dirty} of {len(commands)} sources are clean")
    return 1 if dirty or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
