#!/usr/bin/python3
"""Runs clang-tidy over the sources of a build directory, and remembers which were clean.

    tidy.py BUILD_DIR [SOURCE...]      exit 0, or 1 with clang-tidy's words for each source

Sources of one library are read together, a few at a time, as most of the time goes into headers that they share. Where
something is found, each is read alone. What is found in all of them but in none alone, as two functions of one name in
anonymous namespaces, counts too: then names are to be told apart, or what is the same is to be in a header.

Sources are looked at again when anything in them changes: their text with all headers, their flags, .clang-tidy, or
clang-tidy itself. Clean ones are remembered under the user's cache directory.
"""

import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from compile_commands import ROOT, Command, read

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "collmark" / "tidy"
TOGETHER = 8  # sources

FLAGS = (
    f"--config-file={ROOT / '.clang-tidy'}",
    r"--header-filter=.*/(topologies|collectives|kernels|bench)/.*\.[ch]pp$",  # read together, sources are included
)
WORDS = (
    "-Wno-unknown-warning-option",  # GCC's own, in compile_commands.json
    # The analyzer inlines less and stops earlier: in its deep mode it takes more than all other checks together, and
    # what it looks for is what the sanitizers see when the tests run.
    *("-Xclang", "-analyzer-config", "-Xclang", "mode=shallow"),
)


def fingerprint(sources: list[Command], text: Path, rules: bytes) -> str:
    """Of everything that decides what clang-tidy says."""
    first = sources[0]
    read_by_all = subprocess.run(
        first.with_("-E", "-P", str(text)), cwd=first.directory, capture_output=True, check=True
    ).stdout
    words = " ".join([*(str(c.source) for c in sources), *first.arguments])
    relative = words.replace(str(ROOT), ".")  # the same in every clone
    return hashlib.sha256(b"\0".join((rules, relative.encode(), read_by_all))).hexdigest()


def complaints(sources: list[Command], rules: bytes) -> list[str]:
    """clang-tidy's words, for each source that it has any for."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "together.cpp")
        text.write_text("".join(f'#include "{c.source}"  // NOLINT\n' for c in sources), encoding="utf-8")
        read_as = text if len(sources) > 1 else sources[0].source
        remembered = CACHE / fingerprint(sources, read_as, rules)
        if remembered.exists():
            return []
        words = [*sources[0].arguments[1:], *WORDS]
        run = subprocess.run(
            ["clang-tidy", "--quiet", *FLAGS, str(read_as), "--", *words],
            cwd=sources[0].directory,
            capture_output=True,
            text=True,
            check=False,
        )
    if run.returncode == 0:
        CACHE.mkdir(parents=True, exist_ok=True)
        remembered.touch()
        return []
    if len(sources) == 1:
        return [run.stdout or run.stderr]
    return [words for c in sources for words in complaints([c], rules)] or [run.stdout or run.stderr]


def batches(commands: list[Command]) -> list[list[Command]]:
    """Of sources that are compiled alike, by folder."""

    def alike(c: Command) -> tuple[Path, tuple[str, ...]]:
        return c.source.parent, c.arguments

    return [
        list(some)
        for _, group in itertools.groupby(sorted(commands, key=lambda c: (*alike(c), c.source)), key=alike)
        for some in iter(lambda g=group: list(itertools.islice(g, TOGETHER)), [])
    ]


def main(arguments: list[str]) -> int:
    if not arguments:
        print("usage: tidy.py BUILD_DIR [SOURCE...]", file=sys.stderr)
        return 2
    asked = {Path(name).resolve() for name in arguments[1:]}
    commands = [c for c in read(Path(arguments[0])) if not asked or c.source in asked]
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    rules = version + (ROOT / ".clang-tidy").read_bytes() + "".join((*FLAGS, *WORDS)).replace(str(ROOT), ".").encode()
    dirty = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for some in pool.map(lambda sources: complaints(sources, rules), batches(commands)):
            for words in some:
                dirty += 1
                print(words, flush=True)
    print(f"{len(commands) - dirty} of {len(commands)} sources are clean")
    return 1 if dirty or not commands else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
