#!/usr/bin/env python3
"""Plants faults in the kernels, one at a time, and shows which engine finds which.

    scripts/kernel_faults.py                       after cmake --build build --target kernels_probe_test
    scripts/kernel_faults.py --tsan build-tsan     with ThreadSanitizer beside it (cmake --preset tsan, the same target)
    scripts/kernel_faults.py --list                what would be planted

First the rules of decision 0008, each broken by hand in one place. Then every wait, barrier, vote and memory order that
the kernels' sources have, each call of its own, deleted or weakened in turn (kernel_sites.py). What no engine finds is
a rule that nothing holds, unless HARMLESS says why it changes nothing; the exit code is then 1. Memory orders need
ThreadSanitizer: x86 stores in order anyway.
"""

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import script
from kernel_sites import CPU, Fault, all_faults, harmless, planted
from mutant_build import QuickBuild

ROOT = Path(__file__).resolve().parent.parent
TARGET = "kernels_probe_test"
DEVICE_CODE = "kernels_of_f32.cpp"  # all of the program's: host code knows only the structs of these headers
TESTS = ("Probe.OnFibers*:Probe.AProgram*", "Probe.OnThreads*")
# What a run says, by the first words that are found in it.
WORDS = {
    "ThreadSanitizer: data race": "race",
    "deadlock": "deadlock",
    "system scope": "scope",
    "differs": "wrong",
    "waited for rank": "gave up",
}
LONGEST = 60  # [s] of processor time in one run, many times what sound kernels take; then it hangs
AWAY = 600  # [s] by the clock


def limit_processor_time():
    """Other programs may keep the cores from a run: the clock would say that it hangs."""
    resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST + 5))  # a soft limit is told from being killed


def verdict(program, name):
    """In one word, what running the test says."""
    command = [program, f"--gtest_filter={name}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=AWAY, check=False, preexec_fn=limit_processor_time
        )
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode == -signal.SIGXCPU:
        return "hangs"
    if done.returncode == 0:
        return "-"
    said = done.stdout + done.stderr
    if "unexpected memory mapping" in said:  # no verdict
        sys.exit("kernel_faults.py: ThreadSanitizer cannot start: run this under setarch -R")
    return next((short for words, short in WORDS.items() if words in said), "fails")


def verdicts(builds, fault, thorough):
    """Of every engine, with the fault planted; of the next build only if the last has found nothing. A thorough one
    asks each engine of a build."""
    text = (ROOT / fault.file).read_text()
    words = {}
    numbered = list(enumerate(builds))
    turn = (
        -1 if fault.is_order else 1
    )  # what x86 hides is looked for where it shows, and the quicker engine there first
    for number, build in numbered[::turn]:
        if any(word != "-" for word in words.values()):
            break
        with tempfile.TemporaryDirectory() as room:
            program = build.with_change(fault.file, planted(fault, text), Path(room))
            if program is None:
                sys.exit(f"kernel_faults.py: {fault.file} does not compile with the fault '{fault.rule}'")
            for name in TESTS[::turn]:
                words[number, name] = verdict(program, name)
                if words[number, name] != "-" and not thorough:
                    break
    return [words.get((number, name), "") for number, _ in numbered for name in TESTS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="without sanitizers (default: build)")
    parser.add_argument("--tsan", type=Path, help="with ThreadSanitizer")
    parser.add_argument("--only", default="", help="faults whose rule has these words")
    parser.add_argument(
        "--thorough", action="store_true", help="ask all engines of a build, not only until one finds it"
    )
    parser.add_argument("--list", action="store_true", help="name the faults, plant none")
    parser.add_argument("--jobs", type=int, default=2, help="at once (default: 2)")
    options = parser.parse_args()
    faults = [fault for fault in all_faults() if options.only in fault.rule]
    if options.list:
        for fault in faults:
            print(f"{fault.rule:<44}{fault.old[:60]!r} -> {fault.new[:60]!r}")
        return
    folders = [folder.resolve() for folder in (options.build, options.tsan) if folder]
    builds = [QuickBuild(ROOT, folder, TARGET, DEVICE_CODE) for folder in folders]
    engines = [f"{kind}{engine}" for kind in ("", "TSan ")[: len(builds)] for engine in ("fibers", "threads")]
    print(f"{'broken':<44}" + "".join(f"{engine:>14}" for engine in engines))
    sound = Fault("nothing", CPU, "", "", 0)
    missed = [] if all(word in {"", "-"} for word in verdicts(builds, sound, True)) else ["nothing"]
    with ThreadPoolExecutor(options.jobs) as pool:
        for fault, words in zip(faults, pool.map(lambda f: verdicts(builds, f, options.thorough), faults), strict=True):
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
    script.run(main)
