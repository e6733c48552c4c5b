"""Builds a test program with one file's text replaced, in seconds.

Only the sources that see the change are compiled, without optimisation and with the headers of
other projects precompiled; all other objects are those of the unchanged tree.
"""

import hashlib
import re
import shlex
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

LIGHT = ["-O0", "-g0", "-w"]  # a mutant is run once: what it costs is the compiler's time
FOREIGN = re.compile(r"^#include <[\w/.+]+>", re.MULTILINE)


@dataclass
class QuickBuild:
    """A built tree, and how to build one program of it again with a change."""

    source: Path  # the tree
    build: Path  # its build folder: built, with Ninja
    target: str
    within: str = ""  # only objects that have this in their path are compiled again
    compile: dict[str, list[str]] = field(init=False)  # object: command; from the build folder
    link: list[str] = field(init=False)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        lines = self.ninja("commands", self.target)
        commands = [shlex.split(line) for line in lines if " -c " in line]
        # Code for a GPU runs in no test: it may stay as it was.
        named = {after(command, "-o"): command for command in commands if not is_cuda(command)}
        self.compile = {name: command for name, command in named.items() if self.within in name}
        self.link = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))

    def ninja(self, *tool: str) -> list[str]:
        command = ["ninja", "-C", str(self.build), "-t", *tool]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if not line.startswith("ninja: ")]

    def objects_of(self, name: str) -> list[str]:
        """The program's objects that a source, or whoever includes a header, is compiled into."""
        changed = str(self.source / name)
        found = [obj for obj, command in self.compile.items() if after(command, "-c") == changed]
        return found or [obj for obj in self.compile if changed in self.read_by(obj)]

    def read_by(self, obj: str) -> set[str]:
        """The files of the tree that an object was compiled from."""
        seen = [line.strip() for line in self.ninja("deps", obj) if line.startswith(" ")]
        paths = {(self.build / path).resolve() for path in seen}
        return {str(path) for path in paths if path.is_relative_to(self.source)}

    def with_change(self, name: str, text: str, room: Path) -> Path | None:
        """The program with the text in place of the file's; None if it does not compile.
        The room is a folder for this change alone: changes in other rooms may go on beside it."""
        shutil.rmtree(room, ignore_errors=True)
        changed = room / "tree" / name
        changed.parent.mkdir(parents=True)
        changed.write_text(text, encoding="utf-8")
        replaced = {}
        for i, old in enumerate(self.objects_of(name)):
            new = str(room / f"{i}.o")
            if not self.ran(self.light(old, name, new, room / "tree")):
                return None
            replaced[old] = new
        program = room / self.target
        return program if self.ran(self.relink(replaced, program)) else None

    def light(self, old: str, name: str, new: str, tree: Path) -> list[str]:
        """The command for an object whose tree has one file replaced."""
        command = plain(self.compile[old])
        origin = after(command, "-c")
        first = tree / name if origin == str(self.source / name) else Path(origin)
        command[command.index("-c") + 1] = str(first)
        command[command.index("-o") + 1] = new
        see = ["-I", str(tree), "-iquote", str(Path(origin).parent)]
        ready = ["-include", str(self.precompiled(old))]
        return [command[0], *ready, *see, *command[1:], *LIGHT]

    def precompiled(self, obj: str) -> Path:
        """A header with what an object reads of other projects, compiled with its flags. Small on
        purpose: one for all objects takes longer to load than a few headers take to compile."""
        texts = [Path(path).read_text(encoding="utf-8") for path in self.read_by(obj)]
        lines = sorted({line for text in texts for line in FOREIGN.findall(text)})
        command = plain(self.compile[obj])
        for option in ("-o", "-c"):
            place = command.index(option)
            del command[place : place + 2]
        command += LIGHT
        mark = hashlib.sha256(shlex.join(command + lines).encode()).hexdigest()
        header = self.build / f"foreign-{mark[:8]}.hpp"
        with self.lock:
            if not header.exists():
                header.write_text("\n".join(lines) + "\n", encoding="utf-8")
                output = ["-x", "c++-header", str(header), "-o", f"{header}.gch"]
                self.ran([*command, *output])  # where it fails, the headers are read as ever
        return header

    def relink(self, replaced: dict[str, str], program: Path) -> list[str]:
        """New objects stand for those named in the link, and come before libraries that hold more."""
        command = [replaced.get(word, word) for word in self.link]
        hidden = [new for new in replaced.values() if new not in command]
        place = command.index("-o")
        command[place : place + 2] = ["-o", str(program), *hidden]
        return [*command, *(["-fuse-ld=gold"] if shutil.which("ld.gold") else [])]

    def ran(self, command: list[str]) -> bool:
        done = subprocess.run(command, cwd=self.build, capture_output=True, check=False)
        return done.returncode == 0


def is_cuda(command: list[str]) -> bool:
    return after(command, "-c").endswith(".cu")


def after(command: list[str], option: str) -> str:
    return command[command.index(option) + 1]


def plain(command: list[str]) -> list[str]:
    """Without a launcher, and without the options that write dependencies."""
    launched = Path(command[0]).name == "ccache"
    words, kept = iter(command[launched:]), []
    for word in words:
        if word in ("-MT", "-MF"):
            next(words)
        elif word != "-MD":
            kept.append(word)
    return kept
