#!/usr/bin/env python3
"""On a machine with GPUs: proves every kernel there, measures, and judges what is claimed of them. Without one: gets
all of that ready for another machine.

    scripts/gpu_check.sh                        into results/gpu-NAME-DATE; build/collmark, or what COLLMARK names
    scripts/gpu_check.sh --build                builds first
    scripts/gpu_check.sh --judge FOLDER         what an earlier run says about the claims; runs nothing
    scripts/gpu_check.sh --list                 the stages and their time limits
    scripts/gpu_check.sh --dry-run              builds, reads the machine code, goes through the same commands on the
                                                stub driver, and packs all that a machine with a GPU needs
    scripts/gpu_check.sh --only times,step      some stages

In order: every kernel against the reference, bit for bit, each with each dtype first; other results and the bytes that
were moved; the same under compute-sanitizer, where it is installed; a rank that never comes; times beside a copy within
the GPU; what a call of NCCL costs; training steps and packing; with several GPUs, a rank on each, ours and NCCL's.
Nothing is downloaded. Each stage has a time limit, all together --minutes; what was cut off or not reached is listed,
and of a proof that is no success: 6. With one GPU, ranks share it, and no link is measured.

Claimed is, of buffers of 64 MiB on 8 ranks that share a GPU: two_shot and parameter_server move the bytes of their
formulas (gpu_limits.py) at 85 % or more of the speed of a copy, ring at 75 %, and ring takes 5 % more time than
ring_interpreted at most. Medians decide.

Exit codes: 0 all is right and all claims hold, 2 usage, 5 a result is wrong or a claim fails, 6 a proof is not whole or
a claim could not be judged, 7 a stage hung, 77 no GPU; otherwise that of the first stage that failed
(docs/command-line.md).
"""

import argparse
import csv
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import gpu_limits
import gpu_report
import gpu_stages
import gpu_verdict
from gpu_verdict import UNDECIDED, WRONG

ROOT = Path(__file__).resolve().parent.parent
ABSENT = 77
FAREWELL = 5  # [s] that a stage has to end after it was asked to


@dataclass(frozen=True)
class Outcome:
    name: str
    limit: int  # [s]
    seconds: float
    verdict: str  # ok, failed, incomplete, cut off, not reached, not run
    why: str = ""
    code: int = 0


def use_own_libraries():
    """Of the packed form (gpu_package.py): the second folder only where the program does not start without, as other
    programs that a stage starts may need newer libraries."""
    for own in ("lib", "lib:lib/cxx"):
        folders = ":".join(str(ROOT / part) for part in own.split(":"))
        os.environ["LD_LIBRARY_PATH"] = f"{folders}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        if subprocess.run([program(), "--version"], capture_output=True, check=False).returncode == 0:
            return


def fail(message, code=2):
    print(f"gpu_check.py: {message}", file=sys.stderr)
    sys.exit(code)


def packed():
    """Then there is nothing to build (gpu_package.py)."""
    return (ROOT / "bin/collmark").exists()


def program():
    return Path(os.environ.get("COLLMARK") or ROOT / ("bin" if packed() else "build") / "collmark").resolve()


def run(command, log, environment, seconds):
    """(exit code, what ended it: itself, a request, force). A process that not even a kill ends, as one whose GPU
    hangs, is left behind."""
    with open(log, "w") as said:
        process = subprocess.Popen(
            command, stdout=said, stderr=subprocess.STDOUT, env={**os.environ, **environment}, start_new_session=True
        )
        try:
            return process.wait(timeout=seconds), "itself"
        except subprocess.TimeoutExpired:
            return end(process)
        finally:  # also when this script is interrupted
            if process.poll() is None:
                end(process)


def end(process):
    for number, how in ((signal.SIGINT, "a request"), (signal.SIGKILL, "force")):  # the first keeps finished rows whole
        try:
            os.killpg(process.pid, number)
            return process.wait(timeout=FAREWELL), how
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            return process.wait(), how
    return -signal.SIGKILL, "force"


def carry_out(stage, out, seconds):
    """Runs it for so many seconds at most."""
    if stage.absent:
        return Outcome(stage.name, stage.limit, 0, "not run", stage.absent)
    if seconds < 1:
        return Outcome(stage.name, stage.limit, 0, "not reached", "no time was left", UNDECIDED if stage.proves else 0)
    log, begin = out / f"{stage.name}.txt", time.monotonic()
    try:
        due = gpu_verdict.planned(stage) if stage.proves else 0
        begin = time.monotonic()
        code, ended_by = run(stage.command, log, stage.environment, min(stage.limit, seconds))
    except OSError as fault:
        return Outcome(stage.name, stage.limit, 0, "failed", f"{stage.command[0]}: {fault.strerror}", 1)
    except subprocess.TimeoutExpired as fault:
        why = f"planning it took more than {fault.timeout:.0f} s: the GPU does not answer"
        return Outcome(stage.name, stage.limit, fault.timeout, "failed", why, gpu_verdict.HUNG)
    took, rows = time.monotonic() - begin, gpu_verdict.rows_in(out / f"{stage.name}.csv")
    end = gpu_verdict.End(code, ended_by, log.read_text(errors="replace"), rows, due)
    return Outcome(stage.name, stage.limit, took, *gpu_verdict.of(stage, end))


def skipped(out):
    """What the rows say that could not run: (stage, reason), how often."""
    found = Counter()
    for path in sorted(out.glob("*.csv")):
        with path.open() as file:
            for row in csv.DictReader(file):
                if row.get("status") == "skipped":
                    found[path.stem, row["reason"]] += 1
    return found


def judge(out, size, ranks):
    """Reads the claims' rows: what is said about them, and the exit code."""
    try:
        rows = [row for path in sorted(out.glob("claims*.csv")) for row in gpu_limits.rows_of(path)]
        copies = [row for path in sorted(out.glob("copy_*.csv")) for row in gpu_limits.rows_of(path)]
        measured, copy = gpu_limits.times(rows, size, ranks), gpu_limits.copy_speed(copies)
        decided, undecided = gpu_limits.claims(measured, copy, size, ranks)
    except gpu_limits.Unreadable as fault:
        fail(f"{out}: {fault}")
    stub = gpu_limits.is_stub(rows)
    lines = gpu_report.of_claims(measured, copy, (decided, undecided), (size, ranks), stub)
    if gpu_limits.held_back(rows):
        lines.append(f"the GPU held its clocks back: {', '.join(gpu_limits.held_back(rows))}")
    if stub:
        return lines, 0
    return lines, WRONG if not all(claim.holds for claim in decided) else UNDECIDED if undecided else 0


def doctor(binary):
    try:
        done = subprocess.run([binary, "doctor"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as fault:
        fail(f"{binary}: {fault}: cmake --preset default && cmake --build build, or set COLLMARK")
    found = re.search(r"^ +cuda +(.*)$", done.stdout, re.MULTILINE)
    if done.returncode or not found:
        fail(f"{binary} doctor: exit {done.returncode}: {done.stderr.strip()}", done.returncode or 1)
    return done.stdout, found[1]


def no_processes(binary):
    if packed():
        return "packed for another machine: it brings no MPI"
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout
    if "MPI none" in said:
        return "built without MPI"
    return "" if any((Path(p) / "mpirun").exists() for p in os.get_exec_path()) else "no mpirun on PATH"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="an empty or new folder (default: results/gpu-NAME-DATE)")
    parser.add_argument("--only", help="these stages, with commas")
    parser.add_argument("--minutes", type=float, default=8, help="that all stages take at most (default: 8)")
    parser.add_argument("--build", action="store_true", help="cmake first; that time is not counted")
    parser.add_argument("--dry-run", action="store_true", help="no GPU is needed")
    parser.add_argument("--judge", type=Path, metavar="FOLDER", help="an earlier run")
    parser.add_argument("--list", action="store_true", help="the stages")
    return parser.parse_args()


def build():
    for command in (["cmake", "--preset", "default"], ["cmake", "--build", "build", "-j", str(os.cpu_count())]):
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status:
            fail(f"exit {status} from: {' '.join(command)}", 1)


def chosen(options, stages):
    if not options.only:
        return stages
    names = options.only.split(",")
    if unknown := set(names) - {stage.name for stage in stages}:
        fail(f"--only: no stage {', '.join(sorted(unknown))}; --list names them")
    return [stage for stage in stages if stage.name in names]


def prepare(options):
    """The machine, its stages and the folder."""
    if options.dry_run:
        stub = ROOT / "build/kernels/stub_driver/libcollmark_stub_driver.so"
        os.environ["COLLMARK_CUDA_DRIVER"] = os.environ.get("COLLMARK_STUB_DRIVER", str(stub))
        nccl = ROOT / "build/kernels/stub_nccl/libcollmark_stub_nccl.so"
        os.environ["COLLMARK_NCCL"] = os.environ.get("COLLMARK_STUB_NCCL", str(nccl))
        if "COLLMARK" not in os.environ and not packed():
            build()
    elif options.build:
        build()
    binary = program()
    if packed():
        use_own_libraries()
    machine, cuda = doctor(binary)
    if not cuda.startswith("yes"):
        fail(cuda, ABSENT)
    gpu = re.match(r"yes: (.*?) \(GPU-", cuda)
    name = gpu[1] if gpu else cuda.removeprefix("yes: ")
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    out = (options.out or ROOT / "results" / f"gpu-{slug}-{day}").resolve()
    if out.exists() and any(out.iterdir()):
        fail(f"{out} is not empty: name another folder")
    out.mkdir(parents=True, exist_ok=True)
    (out / "doctor.txt").write_text(machine)
    gpus = 2 if options.dry_run else len(re.findall("GPU-[0-9a-f-]+", cuda))
    cases = gpu_stages.Cases()
    if options.dry_run:
        gradients = out / "gradients.csv"
        gradients.write_text("name,shape,numel\na,3x5,15\nb,64,64\nc,700,700\nd,1,1\n")
        cases = gpu_stages.on_the_stub(gradients)
    multiprocessors = re.search(r"(\d+) multiprocessors", cuda)
    if not multiprocessors:
        fail(f"doctor says of no multiprocessors: {cuda}", 1)
    place = gpu_stages.Place(binary, out, gpus, int(multiprocessors[1]), no_processes(binary))
    stages = list(gpu_stages.stages(place, cases))
    if options.dry_run:
        stages = [*gpu_stages.static(place), *stages, gpu_stages.packed(place)]
    return gpu_report.Machine(name, cuda, day, machine), out, cases, chosen(options, stages)


def main():
    options = arguments()
    if options.judge:
        lines, code = judge(options.judge, gpu_limits.SIZE, gpu_limits.RANKS)
        print("\n".join(lines))
        sys.exit(code)
    if options.list:
        place = gpu_stages.Place(program(), Path("OUT"), 2)
        for stage in gpu_stages.stages(place, gpu_stages.Cases()):
            print(f"{stage.name:<22}{stage.limit:>4} s  {stage.shows}")
        return
    machine, out, cases, stages = prepare(options)
    print(machine.line, flush=True)
    deadline, outcomes = time.monotonic() + 60 * options.minutes, []
    for stage in stages:
        outcome = carry_out(stage, out, deadline - time.monotonic())
        print(gpu_report.line_of(outcome), flush=True)
        outcomes.append(outcome)
    code = next((outcome.code for outcome in outcomes if outcome.verdict == "failed"), 0)
    gap = UNDECIDED if any(outcome.code for outcome in outcomes) else 0
    words = []
    if any(stage.name.startswith("claims") for stage in stages):
        words, verdict = judge(out, cases.claimed_size, cases.claimed_ranks)
        code = code or (WRONG if verdict == WRONG else 0)
        gap = gap or verdict
    code = code or gap
    gpu_report.write(out, machine, outcomes, (words, skipped(out)))
    print("\n".join([*words, f"all of it in {out}" if code == 0 else f"exit {code}; all of it in {out}"]))
    sys.exit(code)


if __name__ == "__main__":
    main()
