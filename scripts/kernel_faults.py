#!/usr/bin/env python3
"""Plants faults in the kernels, one at a time, and shows which engine finds which.

    scripts/kernel_faults.py                       after cmake --build build --target kernels_test
    scripts/kernel_faults.py --tsan build-tsan     with ThreadSanitizer beside it (cmake --preset tsan, the same target)

A fault is a rule of decision 0008 broken in one place: a memory order, a wait, a barrier, a count that is not kept.
What is not found by any engine that was run is a rule that nothing holds, and ends in exit code 1. Memory orders need
ThreadSanitizer: x86 stores in order anyway.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mutant_build import QuickBuild

ROOT = Path(__file__).resolve().parent.parent
BLOCK, DIRECT, CPU = "kernels/block.hpp", "kernels/direct.hpp", "kernels/on_cpu/platform.hpp"
FIBERS, THREADS = "Kernels.EqualTheReferenceUnderManySchedules", "Kernels.EqualTheReferenceOnRealThreads"
# What a run says, by the first words that are found in it.
WORDS = {
    "ThreadSanitizer: data race": "race",
    "deadlock": "deadlock",
    "system scope": "scope",
    "differs": "wrong",
    "waited for rank": "gave up",
}
LONGEST = 240  # [s] of one run; then it hangs


@dataclass(frozen=True)
class Fault:
    rule: str
    file: str
    old: str  # stands there once
    new: str


FAULTS = [
    Fault(
        "a flag is stored with release",
        CPU,
        "std::atomic_ref(*word).store(value, std::memory_order_release);",
        "std::atomic_ref(*word).store(value, std::memory_order_relaxed);",
    ),
    Fault(
        "a flag is awaited with acquire",
        CPU,
        "std::atomic_ref(*word).load(std::memory_order_acquire);",
        "std::atomic_ref(*word).load(std::memory_order_relaxed);",
    ),
    Fault("flags of two ranks have system scope", CPU, "= grid::Scope::system;", "= grid::Scope::device;"),
    Fault(
        "all have stored before the flag says so",
        BLOCK,
        "    block_barrier();  // all have stored before thread 0 says so\n",
        "",
    ),
    Fault(
        "nobody reads a slot before the flag was seen",
        BLOCK,
        "    block_barrier();\n    return *may_go != 0;",
        "    return true;",
    ),
    Fault(
        "a slot is free before it is filled again",
        BLOCK,
        "if (ok && ends != Ends::from)",
        "if (ok && step_ < 0)",
    ),
    Fault("counts are kept from launch to launch", BLOCK, "    *to_.passed = sent_;\n", ""),
    Fault("a block arrives when all its threads have", BLOCK, "*lost = 0;\n    block_barrier();", "*lost = 0;"),
    Fault(
        "everybody has arrived before anybody goes on",
        BLOCK,
        "if (!wait_for(&view_.arrived",
        "if (false && !wait_for(&view_.arrived",
    ),
    Fault("inputs are read before the kernel ends", DIRECT, "  (void)me.meet(1);  // all is read and stored\n", ""),
    Fault("inputs are there before they are read", DIRECT, "if (!me.meet(0)) return;  // all inputs", "// all inputs"),
    Fault("one_shot in place reads from staging", DIRECT, "    from = view.staging;\n", ""),
]


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
    return next((short for words, short in WORDS.items() if words in said), "fails")


def verdicts(builds, file, text):
    """Of every engine, with the text in place of the file's."""
    found = []
    for build in builds:
        with tempfile.TemporaryDirectory() as room:
            program = build.with_change(file, text, Path(room))
            if program is None:
                sys.exit(f"kernel_faults.py: {file} does not compile with a fault in it")
            found += [verdict(program, FIBERS), verdict(program, THREADS)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="without sanitizers (default: build)")
    parser.add_argument("--tsan", type=Path, help="with ThreadSanitizer")
    parser.add_argument("--only", default="", help="faults whose rule has these words")
    options = parser.parse_args()
    folders = [folder.resolve() for folder in (options.build, options.tsan) if folder]
    builds = [QuickBuild(ROOT, folder, "kernels_test") for folder in folders]
    engines = [f"{kind}{engine}" for kind in ("", "TSan ")[: len(builds)] for engine in ("fibers", "threads")]
    print(f"{'rule that is broken':<46}" + "".join(f"{engine:>14}" for engine in engines))
    missed = []
    for fault in [Fault("none", CPU, "", ""), *FAULTS]:
        if options.only not in fault.rule:
            continue
        text = (ROOT / fault.file).read_text()
        if fault.old and text.count(fault.old) != 1:
            sys.exit(f"kernel_faults.py: {fault.file} has not once: {fault.old!r}")
        found = verdicts(builds, fault.file, text.replace(fault.old, fault.new) if fault.old else text)
        print(f"{fault.rule:<46}" + "".join(f"{word:>14}" for word in found), flush=True)
        if all(word == "-" for word in found) == bool(fault.old):
            missed.append(fault.rule)
    print(f"not as it should be: {', '.join(missed)}" if missed else "every fault was found, and none without one")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
