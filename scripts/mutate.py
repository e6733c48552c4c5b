#!/usr/bin/python3
"""Changes one operator, constant or memory order at a time, and sees which test notices.

    mutate.py collectives/ring.cpp ... [--tests FILTER] [--target collectives_test] [--tsan]
    mutate.py collectives/ring.cpp --list

Several --tests are tried one after the other until one notices: quick and likely ones first.
Works in a copy of the tree (build-mutate/), never in yours. Stop it whenever you like: run again,
it goes on where it stopped, and looks again at mutants of a source that changed. Tables for
docs/mutation.md go to stdout. Exit codes: 0 every mutant was noticed, 1 some survived, 2 usage.
"""

import argparse
import hashlib
import json
import math
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import script
from mutant_build import QuickBuild
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parent.parent
SCRATCH = ROOT / "build-mutate"
FAILED = re.compile(r"^\[  FAILED  \] (\w[\w/.]*)", re.MULTILINE)
MOST_MEMORY = 4 << 30  # [bytes]: a mutant whose loop never ends must not take the machine with it
STARTED = re.compile(r"^\[ RUN      \] (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Tests:
    """A Google Test filter, and how long its tests may take before they are taken to hang."""

    which: str
    wall: float = 600  # [s]
    cpu: int = 600  # [s] of all threads: an endless loop ends early however busy the machine is


@dataclass(frozen=True)
class Outcome:
    verdict: str  # killed, survived, timed out, does not compile, not run
    test: str = ""  # that noticed


def try_tests(program: Path, tests: Tests, sanitized: bool = False) -> Outcome:
    """Runs the named tests until the first failure."""
    command = ["prlimit", f"--cpu={tests.cpu}", "--core=0"]
    command += [] if sanitized else [f"--as={MOST_MEMORY}"]
    command += [str(program), f"--gtest_filter={tests.which}", "--gtest_fail_fast"]
    try:
        run = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=tests.wall,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return Outcome("timed out", last(STARTED, (late.stdout or b"").decode(errors="replace")))
    words = run.stdout.decode(errors="replace")
    if run.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome("timed out", last(STARTED, words))
    if run.returncode == 0:
        if not STARTED.search(words):
            sys.exit(f"mutate.py: no test of {program.name} matches '{tests.which}'")
        return Outcome("survived")
    failed = FAILED.search(words)
    return Outcome("killed", failed.group(1) if failed else last(STARTED, words))


Result = tuple[str, Mutant, Outcome]  # source, what was changed in it, and what came of it


def last(pattern: re.Pattern[str], words: str) -> str:
    found = pattern.findall(words)
    return found[-1] if found else "before the first test"


def copy_tree() -> Path:
    """The committed and edited files, without touching those that did not change (for ninja)."""
    target = SCRATCH / "source"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        theirs, ours = ROOT / name, target / name
        if not theirs.is_file():
            continue
        if not ours.exists() or ours.read_bytes() != theirs.read_bytes():
            ours.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(theirs, ours)
    return target


def prepare(options: argparse.Namespace) -> QuickBuild:
    """A copy of the tree that builds."""
    source, build = copy_tree(), SCRATCH / ("tsan" if options.tsan else "plain")
    configure = ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1"]
    configure += ["-DCOLLMARK_SANITIZE=thread"] if options.tsan else []
    configure += ["-DCMAKE_CXX_COMPILER_LAUNCHER="]
    # No launcher: QuickBuild edits the compiler's commands, and each is run once.
    plain = {k: v for k, v in os.environ.items() if k != "CMAKE_CXX_COMPILER_LAUNCHER"}
    subprocess.run(configure, stdout=subprocess.DEVNULL, check=True, env=plain)
    make = ["cmake", "--build", str(build), "--target", options.target]
    if subprocess.run(make, capture_output=True, check=False).returncode != 0:
        sys.exit("mutate.py: the tree does not build as it is")
    return QuickBuild(source, build, options.target)


def timed(which: str, tree: QuickBuild, options: argparse.Namespace) -> Tests:
    """Tests with limits from their own time, five times over. Exits if they fail unchanged."""
    program = tree.build / tree.link[tree.link.index("-o") + 1]
    start, cpu = time.monotonic(), cpu_of_children()
    outcome = try_tests(program, Tests(which), options.tsan)
    if outcome.verdict != "survived":
        sys.exit(f"mutate.py: {outcome.test} fails without any mutant")
    wall, cpu = time.monotonic() - start, cpu_of_children() - cpu
    return Tests(which, max(options.least_limit, 5 * wall), math.ceil(5 * cpu + 0.5))


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge(tree: QuickBuild, changed: tuple[str, str], tests: list[Tests], room: Path) -> Outcome:
    """What the tests, in turn, say to a file with another text."""
    program = tree.with_change(*changed, room)
    if program is None:
        return Outcome("does not compile")
    for some in tests:
        outcome = try_tests(program, some, tree.build.name == "tsan")
        if outcome.verdict != "survived":
            break
    return outcome


def key(options: argparse.Namespace, name: str, text: str, mutant: Mutant) -> str:
    """Names a mutant of exactly this source under these tests."""
    where = f"{'tsan' if options.tsan else 'plain'} {options.target} {' '.join(options.tests)}"
    what = f"{where} {name} {mutant.start} {mutant}\n{text}"
    return hashlib.sha256(what.encode()).hexdigest()[:24]


def run(options: argparse.Namespace) -> list[Result]:
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in options.files}
    work = [(name, mutant) for name, text in texts.items() for mutant in chosen(text, options)]
    marks = [key(options, name, texts[name], mutant) for name, mutant in work]
    SCRATCH.mkdir(exist_ok=True)
    state = SCRATCH / "outcomes.jsonl"
    known = outcomes(state, options)
    if options.report:
        found = [known.get(mark, Outcome("not run")) for mark in marks]
        return [(name, mutant, what) for (name, mutant), what in zip(work, found, strict=True)]
    if not all(mark in known for mark in marks):
        tree = prepare(options)
        tests = [timed(which, tree, options) for which in options.tests]
        rooms: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for i in range(options.jobs):
            rooms.put(tree.build / f"room-{os.getpid()}-{i}")

    def outcome(mark: str, what: tuple[str, Mutant]) -> Outcome:
        name, mutant = what
        if mark in known:
            return known[mark]
        room = rooms.get()
        try:
            found = judge(tree, (name, mutant.apply(texts[name])), tests, room)
        finally:
            rooms.put(room)
        entry = {"key": mark, "verdict": found.verdict, "test": found.test}
        with state.open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        print(f"{name} {mutant}: {found.verdict} {found.test}", file=sys.stderr)
        return found

    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(outcome, marks, work))
    return [(name, mutant, what) for (name, mutant), what in zip(work, found, strict=True)]


def chosen(text: str, options: argparse.Namespace) -> list[Mutant]:
    return [m for m in mutants(text) if m.is_memory_order() or not options.memory_orders]


def outcomes(state: Path, options: argparse.Namespace) -> dict[str, Outcome]:
    """What is known already; the last word counts."""
    lines = state.read_text(encoding="utf-8").splitlines() if state.exists() else []
    entries = {entry["key"]: entry for entry in map(json.loads, lines)}
    known = {mark: Outcome(entry["verdict"], entry["test"]) for mark, entry in entries.items()}
    again = "survived" if options.retry_survivors else ""
    return {mark: outcome for mark, outcome in known.items() if outcome.verdict != again}


def tables(results: list[Result]) -> str:
    """Markdown: counts per source, who noticed most, survivors (to be argued), all others."""
    verdicts = ["killed", "timed out", "survived", "does not compile", "not run"]
    rows = ["| source | mutants | " + " | ".join(verdicts) + " |", "|---|" + "---|" * 6]
    by_source = {name: [r for r in results if r[0] == name] for name, *_ in results}
    for name, some in [*by_source.items(), ("all", results)]:
        counts = [len(some), *(sum(o.verdict == v for *_, o in some) for v in verdicts)]
        rows.append(f"| {name} | " + " | ".join(map(str, counts)) + " |")
    rows += ["", "| test | noticed |", "|---|---|"]
    noticed = Counter(o.test for *_, o in results if o.verdict in ("killed", "timed out"))
    rows += [f"| {test} | {count} |" for test, count in noticed.most_common()]
    rows += ["", "| source | mutant | outcome | test |", "|---|---|---|---|"]
    by_verdict = sorted(results, key=lambda r: r[2].verdict != "survived")
    for name, mutant, outcome in by_verdict:
        what = f"{mutant.line}: `{mutant.before}` to `{mutant.after}`"
        rows.append(f"| {name} | {what} | {outcome.verdict} | {outcome.test} |")
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mutate.py", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="sources, relative to the root of the tree")
    parser.add_argument("--tests", action="append", help="Google Test filter (default: all)")
    parser.add_argument("--target", default="collectives_test", help="test program")
    parser.add_argument("--tsan", action="store_true", help="under ThreadSanitizer: memory orders")
    parser.add_argument("--least-limit", type=float, default=120, help="[s] (default: 120)")
    parser.add_argument("--memory-orders", action="store_true", help="mutants of no other kind")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument("--retry-survivors", action="store_true", help="after tests were added")
    parser.add_argument("--report", action="store_true", help="what is known already, run nothing")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    options = parser.parse_args(arguments)
    options.tests = options.tests or ["*"]
    missing = [name for name in options.files if not (ROOT / name).is_file()]
    if missing:
        print(f"mutate.py: no file {missing[0]} under {ROOT}", file=sys.stderr)
        return 2
    if options.list:
        for name in options.files:
            for mutant in chosen((ROOT / name).read_text(encoding="utf-8"), options):
                print(f"{name} {mutant}")
        return 0
    os.nice(19)
    results = run(options)
    print(tables(results))
    return 1 if any(o.verdict == "survived" for *_, o in results) else 0


if __name__ == "__main__":
    script.run(lambda: main(sys.argv[1:]))
