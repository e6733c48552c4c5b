"""What a build directory's compile_commands.json says, for the scripts that compile once more."""

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Command:
    source: Path
    directory: Path
    arguments: tuple[str, ...]  # without compiler launcher, -o, -c, dependency files and the source

    def with_(self, *more: str) -> list[str]:
        return [*self.arguments, *more]


def read(build: Path) -> list[Command]:
    """Commands for the project's own C++ sources, in file order, each source once; none of nvcc's."""
    path = build / "compile_commands.json"
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as fault:
        sys.exit(f"{path}: {fault}; run cmake --preset default first")
    commands = {}
    for entry in entries:
        source = Path(entry["file"])
        if source.suffix == ".cpp" and source.is_relative_to(ROOT) and not source.is_relative_to(build.resolve()):
            arguments = flags(shlex.split(entry["command"]), entry["file"])
            commands[source] = Command(source, Path(entry["directory"]), arguments)
    return [commands[source] for source in sorted(commands)]


def flags(words: list[str], source: str) -> tuple[str, ...]:
    """The compiler and what decides the meaning of a source."""
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-MF", "-MT"):
            skip = True
        elif word not in ("-c", "-MD", "-MMD", source):
            kept.append(word)
    return tuple(kept)
