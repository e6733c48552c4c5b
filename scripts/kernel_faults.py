#!/usr/bin/env python3
"""Plants faults in the kernels, one at a time, and shows which engine finds which.

    scripts/kernel_faults.py                       after cmake --build build --target kernels_probe_test
    scripts/kernel_faults.py --tsan build-tsan     with ThreadSanitizer beside it (cmake --preset tsan, the same target)
    scripts/kernel_faults.py --list                what would be planted

First the rules of decision 0008, each broken by hand in one place. Then every wait, barrier, vote and memory order that
the kernels' sources have, deleted or weakened in turn. What no engine finds is a rule that nothing holds, unless
HARMLESS says why it changes nothing; the exit code is then 1. Memory orders need ThreadSanitizer: x86 stores in
order anyway.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutant_build import QuickBuild

ROOT = Path(__file__).resolve().parent.parent
TARGET = "kernels_probe_test"
TESTS = ("Probe.OnFibers:Probe.AProgram*", "Probe.OnThreads")
# What a run says, by the first words that are found in it.
WORDS = {
    "ThreadSanitizer: data race": "race",
    "deadlock": "deadlock",
    "system scope": "scope",
    "differs": "wrong",
    "waited for rank": "gave up",
}
LONGEST = 30  # [s] of one run; then it hangs

SOURCES = ["flag", "block", "links", "ring", "tree", "direct", "low_latency", "interpreter", "hop"]
KERNELS = [f"kernels/{name}.hpp" for name in SOURCES]
CPU = "kernels/on_cpu/platform.hpp"


@dataclass(frozen=True)
class Fault:
    rule: str
    file: str
    old: str  # stands there once, or at `place`
    new: str
    place: int = -1  # where in the file; -1: wherever it stands


BY_HAND = [
    Fault("flags of two ranks have system scope", CPU, "= grid::Scope::system;", "= grid::Scope::device;"),
    Fault(
        "an end's count is its own thread's",
        "kernels/links.hpp",
        "store_release(outgoing(to[i - from.count()]).tail, counts[i]);",
        "store_release(outgoing(to[i - from.count()]).tail, *outgoing(to[i - from.count()]).passed);",
    ),
    Fault(
        "counts of links are kept",
        "kernels/links.hpp",
        "*link.passed = counts[i] = n + 1;",
        "counts[i] = n + 1;",
    ),
    Fault(
        "a slot is not used twice at once",
        "kernels/links.hpp",
        "n + 1 - slots",
        "n - slots",
    ),
    Fault(
        "one_shot in place reads from staging",
        "kernels/direct.hpp",
        "    from = view.staging;\n",
        "",
    ),
    Fault("both flags of a line count", "kernels/low_latency.hpp", " && b >> 32 == epoch_", ""),
    Fault("the first flag of a line counts", "kernels/low_latency.hpp", "a >> 32 == epoch_ && ", ""),
    Fault("both flags of a hop's line count", "kernels/hop.hpp", " && b >> 32 == n", ""),
    Fault("the first flag of a hop's line counts", "kernels/hop.hpp", "a >> 32 == n && ", ""),
    Fault("epochs alternate between two inboxes", "kernels/low_latency.hpp", "= epoch_ & 1;", "= 0;"),
    Fault(
        "epochs are kept",
        "kernels/low_latency.hpp",
        "if (thread_index() == 0) block_.view().epochs[block_.channel()] = epoch_;",
        "",
    ),
    Fault(
        "meetings are counted",
        "kernels/block.hpp",
        "if (thread_index() == 0) view_.meetings[channel_] = now;",
        "",
    ),
    Fault(
        "the interpreter's counts are kept",
        "kernels/interpreter.hpp",
        "if (thread_index() == 0) block_.view().begun[block_.channel()] = done(last + 1, 0);",
        "",
    ),
]

# By file, the line's text and what was done to it: why nothing can go wrong.
HARMLESS: dict[tuple[str, str], str] = {}


def call_at(text, start):
    """The end of the call whose name begins at `start`."""
    depth = 0
    for i in range(text.index("(", start), len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    raise ValueError("a call without end")


def line_of(text, place):
    begin = text.rfind("\n", 0, place) + 1
    return text[begin : text.index("\n", place)].strip()


def deletions(file):
    """Every wait, barrier and vote of a kernel's source taken away, every memory order weakened."""
    text = (ROOT / file).read_text()
    number = lambda place: text.count("\n", 0, place) + 1  # noqa: E731
    name = Path(file).name
    for found in re.finditer(r"(?<![\w:])block_barrier\(\);", text):
        yield Fault(f"{name}:{number(found.start())} barrier", file, found.group(), "", found.start())
    for found in re.finditer(r"memory_order_(acquire|release)", text):
        rule = f"{name}:{number(found.start())} {found.group(1)}"
        yield Fault(rule, file, found.group(), "memory_order_relaxed", found.start())
    for found in re.finditer(r"(?<![\w:])(?:\w+\.)?(block_all|wait_for|wait_until|await|meet)\(", text):
        line = line_of(text, found.start())
        if "COLLMARK_DEVICE" in line or line.startswith("inline"):
            continue  # where it is defined
        call = text[found.start() : call_at(text, found.start(1))]
        argument = call[call.index("(") + 1 : -1]
        new = f"({argument})" if found.group(1) == "block_all" else "true"
        yield Fault(f"{name}:{number(found.start())} {found.group(1)}", file, call, new, found.start())


def planted(fault, text):
    place = fault.place
    if place < 0:
        if text.count(fault.old) != 1:
            sys.exit(f"kernel_faults.py: {fault.file} has not once: {fault.old!r}")
        place = text.index(fault.old)
    return text[:place] + fault.new + text[place + len(fault.old) :]


def verdict(program, name):
    """In one word, what running the test says."""
    command = [program, f"--gtest_filter={name}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode == 0:
        return "-"
    said = done.stdout + done.stderr
    if "unexpected memory mapping" in said:  # no verdict
        sys.exit("kernel_faults.py: ThreadSanitizer cannot start: run this under setarch -R")
    return next((short for words, short in WORDS.items() if words in said), "fails")


def verdicts(builds, fault):
    """Of every engine, with the fault planted; of the next build only if the last has found nothing."""
    text = (ROOT / fault.file).read_text()
    words = []
    for build in builds:
        if any(word != "-" for word in words):
            words += ["" for _ in TESTS]
            continue
        with tempfile.TemporaryDirectory() as room:
            program = build.with_change(fault.file, planted(fault, text), Path(room))
            if program is None:
                sys.exit(f"kernel_faults.py: {fault.file} does not compile with the fault '{fault.rule}'")
            words += [verdict(program, name) for name in TESTS]
    return words


def harmless(fault):
    text = (ROOT / fault.file).read_text()
    return HARMLESS.get((fault.file, line_of(text, fault.place))) if fault.place >= 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="without sanitizers (default: build)")
    parser.add_argument("--tsan", type=Path, help="with ThreadSanitizer")
    parser.add_argument("--only", default="", help="faults whose rule has these words")
    parser.add_argument("--share", default="1/1", help="of the faults, 2/4: the second of four, the sixth, ...")
    parser.add_argument("--list", action="store_true", help="name the faults, plant none")
    parser.add_argument("--jobs", type=int, default=2, help="at once (default: 2)")
    options = parser.parse_args()
    faults = [*BY_HAND, *(fault for file in [*KERNELS, CPU] for fault in deletions(file))]
    faults = [fault for fault in faults if options.only in fault.rule]
    share = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", options.share)
    if not share or int(share[1]) > int(share[2]):
        parser.error(f"--share is K/N, 1/4 to 4/4 for quarters, not '{options.share}'")
    faults = faults[int(share[1]) - 1 :: int(share[2])]
    if options.list:
        for fault in faults:
            print(f"{fault.rule:<44}{fault.old[:60]!r} -> {fault.new[:60]!r}")
        return
    folders = [folder.resolve() for folder in (options.build, options.tsan) if folder]
    builds = [QuickBuild(ROOT, folder, TARGET) for folder in folders]
    engines = [f"{kind}{engine}" for kind in ("", "TSan ")[: len(builds)] for engine in ("fibers", "threads")]
    print(f"{'broken':<44}" + "".join(f"{engine:>14}" for engine in engines))
    sound = Fault("nothing", CPU, "", "", 0)
    missed = [] if all(word in {"", "-"} for word in verdicts(builds, sound)) else ["nothing"]
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, words in zip(faults, pool.map(lambda f: verdicts(builds, f), faults), strict=True):
            found = any(word not in ("", "-") for word in words)
            why = "" if found else harmless(fault)
            print(
                f"{fault.rule:<44}" + "".join(f"{word:>14}" for word in words) + (f"   {why}" if why else ""),
                flush=True,
            )
            if not found and not why:
                missed.append(fault.rule)
    print(
        f"not as it should be: {', '.join(missed)}"
        if missed
        else f"all {len(faults)} faults were found or are harmless"
    )
    print(f"{len(faults) + 1 - len(missed)} passed, {len(missed)} failed")  # the sound kernels are one case too
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
