#!/usr/bin/env python3
"""Packs what gpu_check.sh needs on another machine: no compiler, no MPI and no network are needed there.

    scripts/gpu_package.py collmark-gpu-check.tar.gz                  of build/
    scripts/gpu_package.py --program build/collmark there.tar.gz

    collmark-gpu-check/
      HOW-TO-RUN.txt     and what must be there, and every file with its size and SHA-256
      bin/               the programs, without what only a debugger reads; they carry the kernels
      lib/               the libraries that they need, but those of the C library
      scripts/           gpu_check.sh and what it reads

What goes into lib/cxx is the C++ library, which most machines have; gpu_check.py takes it where there is no other.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "collmark-gpu-check"
SCRIPTS = ("gpu_check.sh", "gpu_check.py", "gpu_limits.py", "gpu_report.py", "gpu_stages.py", "gpu_verdict.py")
CXX, OF_CXX = "lib/cxx", ("libstdc++", "libgcc_s")
LARGEST = 60 << 20  # [bytes] of the archive
# These belong to the system's C library and must be its own.
OF_SYSTEM = re.compile(r"^(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libresolv|libutil)[.-]")

HOW = """collmark's check of its kernels on a GPU
=========================================

    tar xzf {name}.tar.gz && cd {name} && scripts/gpu_check.sh

takes at most 8 minutes and writes results/gpu-NAME-DATE; --help says more. Exit code 0: all is right and all claims
hold.

Needed: Linux on {machine}, glibc {glibc} or newer, Python 3.11 or newer, NVIDIA's driver. Taken where it is there:
compute-sanitizer on PATH, libnccl.so.2 (or COLLMARK_NCCL=its path). Built from

    {version}

{files}
"""


def fail(message):
    sys.exit(f"gpu_package.py: {message}")


def libraries(program):
    """Of a program, but those of the C library: where each lies."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if done.returncode:
        fail(f"{program}: {done.stderr.strip() or 'ldd does not read it'}")
    for line in done.stdout.splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if arrow and not OF_SYSTEM.match(name):
            if "not found" in path:
                fail(f"{program} does not find its own {name}")
            yield name, Path(path.split(" (")[0])


def put(source, target, mode=0o644):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def gather(folder, programs):
    for program in programs:
        target = folder / "bin" / program.name
        put(program, target, 0o755)
        if strip := shutil.which("strip"):
            subprocess.run([strip, target], check=True)
        for name, path in libraries(program):
            put(path, folder / (CXX if name.startswith(OF_CXX) else "lib") / name, 0o755)
    for name in SCRIPTS:
        put(ROOT / "scripts" / name, folder / "scripts" / name, 0o755)


def newest_glibc(folder):
    """That a packed file asks for."""
    asked = {(2, 0)}
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name != "scripts":
            asked |= {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)\b", path.read_bytes())}
    return ".".join(map(str, max(asked)))


def listing(folder):
    lines = [f"{'bytes':>12}  {'sha256':<64}  file"]
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            lines.append(f"{len(data):>12}  {hashlib.sha256(data).hexdigest()}  {path.relative_to(folder)}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--program", type=Path, default=ROOT / "build/collmark", help="default: build/collmark")
    options = parser.parse_args()
    programs = [options.program, options.program.parent / "collmark_micro"]
    for path in programs:
        if not path.exists():
            fail(f"no {path}: cmake --preset default && cmake --build build")
    if not (
        version := subprocess.run([options.program, "--version"], capture_output=True, text=True, check=True).stdout
    ):
        fail(f"{options.program} does not say what it is")
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room) / NAME
        gather(folder, programs)
        words = HOW.format(
            name=NAME,
            machine=os.uname().machine,
            glibc=newest_glibc(folder),
            version=version.strip(),
            files=listing(folder),
        )
        (folder / "HOW-TO-RUN.txt").write_text(words)
        options.archive.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(options.archive, "w:gz", compresslevel=6) as archive:
            archive.add(folder, NAME)
    size = options.archive.stat().st_size
    print(f"{options.archive}: {size / (1 << 20):.1f} MiB")
    print(words)
    if size > LARGEST:
        options.archive.unlink()
        fail(f"{size} bytes are more than {LARGEST}: it was deleted")


if __name__ == "__main__":
    main()
