#!/usr/bin/env python3
"""Reads what matters of a GPU's machine code: how wide its kernels load and store, from where, and how many blocks of
them a multiprocessor holds at once. Blocks that wait for each other must all be there: that bounds ranks x channels.

    scripts/cubin.py build/kernels/kernels.fatbin [--threads 512]        the bound of each kind of kernel
    scripts/cubin.py build/kernels/kernels.fatbin --all                  of every kernel
    scripts/cubin.py build/kernels/kernels.fatbin --check                what breaks code_rules.py; 5 if anything does

    for arch, kernels in images(Path("kernels.fatbin").read_bytes()): ...

An instruction of sm_80, sm_90 or sm_100 has 16 bytes; bits 0 to 11 are its operation, bits 73 to 75 the width of an
access, bits 77 to 84 its kind. The lowest four of those are 0 for a weak access; for a strong one, which a flag
needs, they are the scope that it holds in. An acquire is a strong load and then the first-level cache invalidated
(CCTL.IVALL), a release a fence (MEMBAR) and then a strong store. NVIDIA does not publish that: kernel_code_test.py
compiles one kernel for each of them and looks for it here, so that a compiler that writes another code is noticed.
"""

import argparse
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import code_rules
import script

GLOBAL = {0x981: "load", 0x986: "store", 0x980: "load", 0x985: "store"}  # LDG, STG, LD, ST
ATOMIC = {0x3A9, 0x38B}  # ATOMG, ATOM: compare and swap
FENCE, INVALIDATE = 0x992, 0x98F  # MEMBAR, CCTL
WEAK, SYSTEM = 0x0, 0xA  # of an access; 5 is a block's threads, 7 the GPU
FENCE_OF_SYSTEM = 3  # bits 76 and 77 of a fence
ALL_LINES = 2  # bits 88 to 95 of CCTL
LOCAL = {0x983: "load", 0x387: "store"}  # LDL, STL
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}  # [bytes]
NON_COHERENT = 0xF4  # of LDG
ELF = b"\x7fELF"
REGISTERS_OF_KERNEL = 0x2F  # an entry of .nv.info: symbol, registers of a thread
VALUE_FOLLOWS = 4  # the kind of entry that says how long it is

# Of a multiprocessor of sm_80, sm_90 and sm_100, by the CUDA C++ Programming Guide, "Compute Capabilities".
THREADS, BLOCKS, REGISTERS, WARP = 2048, 32, 65536, 32
REGISTER_UNIT = 256  # a warp's registers are handed out in so many ...
PARTITIONS = 4  # ... and lie in one of the parts that the multiprocessor is made of: cuda_occupancy.h of CUDA 13.0
SHARED = {80: 164 << 10, 90: 228 << 10, 100: 228 << 10}  # [bytes]
SHARED_OF_SYSTEM = 1 << 10  # [bytes] of each block


@dataclass
class Code:
    """Of one kernel."""

    instructions: int = 0
    accesses: Counter = field(default_factory=Counter)  # ("load" or "store", bytes): of global memory
    local: int = 0  # accesses to a thread's own memory: spilled registers, arrays that are indexed
    non_coherent: int = 0  # loads that may see old data
    acquires: int = 0  # loads of flags, and the cache invalidated after them
    looks: int = 0  # strong loads of 4 bytes that are no acquires
    releases: int = 0  # stores of flags behind a fence of the whole system
    bare_stores: int = 0  # strong stores of 4 bytes behind none
    lines: Counter = field(default_factory=Counter)  # "load" or "store": strong, 16 bytes, data that carry their flags
    words: Counter = field(default_factory=Counter)  # the same of 8 bytes
    other_strong: int = 0  # of other widths
    narrow: int = 0  # strong accesses, compare-and-swaps too, that other GPUs and the host need not see
    registers: int = 0  # of a thread
    shared: int = 0  # [bytes] of a block

    def resident(self, arch: int, threads: int) -> int:
        """Blocks of so many threads that a multiprocessor holds at once."""
        warps = -(-threads // WARP)
        of_warp = -(-self.registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
        return min(
            BLOCKS,
            THREADS // (warps * WARP),
            PARTITIONS * (REGISTERS // PARTITIONS // of_warp) // warps if of_warp else BLOCKS,
            SHARED[arch] // (self.shared + SHARED_OF_SYSTEM),
        )


def images(data: bytes) -> Iterator[tuple[int, dict[str, Code]]]:
    """Of each machine code in a cubin or an uncompressed fatbin, 80 for sm_80 and its kernels by name."""
    place = data.find(ELF)
    while place >= 0:
        following = data.find(ELF, place + 4)
        image = data[place : following if following >= 0 else len(data)]
        yield arch_of(image), dict(kernels(image))
        place = following


def arch_of(elf: bytes) -> int:
    (flags,) = struct.unpack_from("<I", elf, 48)
    return flags >> 8 & 0xFF


def kernels(elf: bytes) -> Iterator[tuple[str, Code]]:
    parts = sections(elf)
    registers = registers_of(parts)
    for name, part in parts.items():
        if name.startswith(".text."):
            kernel = name.removeprefix(".text.")
            code = code_of(part)
            code.registers = registers[kernel]
            code.shared = len(parts.get(f".nv.shared.{kernel}", b""))
            yield kernel, code


def sections(elf: bytes) -> dict[str, bytes]:
    """By name. Those without bytes in the file, as shared memory, are zeros."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    strings = headers[names][4]
    nothing_there = 8  # SHT_NOBITS
    found = {}
    for name, kind, _, _, place, length, *_ in headers:
        begin = strings + name
        word = elf[begin : elf.index(b"\0", begin)].decode()
        found[word] = bytes(length) if kind == nothing_there else elf[place : place + length]
    return found


def registers_of(parts: dict[str, bytes]) -> dict[str, int]:
    symbols, strings = parts[".symtab"], parts[".strtab"]

    def name_of(symbol: int) -> str:
        (begin,) = struct.unpack_from("<I", symbols, 24 * symbol)
        return strings[begin : strings.index(b"\0", begin)].decode()

    info, place, found = parts[".nv.info"], 0, {}
    while place < len(info):
        kind, what, length = struct.unpack_from("<BBH", info, place)
        place += 4
        if kind != VALUE_FOLLOWS:
            continue  # the length was the value
        if what == REGISTERS_OF_KERNEL:
            symbol, registers = struct.unpack_from("<II", info, place)
            found[name_of(symbol)] = registers
        place += length
    return found


class Flags:
    """Goes through a kernel's instructions as they stand: what orders what is decided by the one before, or behind."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.fenced = False  # nothing was stored since
        self.loaded = False  # a flag, and no cache was invalidated since

    def see(self, operation: int, high: int) -> None:
        strong = operation in GLOBAL and high >> 13 & 0xF != WEAK
        if (strong or operation in ATOMIC) and high >> 13 & 0xF != SYSTEM:
            self.code.narrow += 1
        if operation == FENCE:
            self.fenced = high >> 12 & 3 == FENCE_OF_SYSTEM
        elif operation == INVALIDATE and self.loaded and high >> 24 & 0xFF == ALL_LINES:
            self.code.looks -= 1
            self.code.acquires += 1
            self.loaded = False
        elif operation in GLOBAL:
            way, width = GLOBAL[operation], WIDTHS.get(high >> 9 & 7, 0)
            if strong:
                self.access(way, width)
            if way == "store":
                self.fenced = False

    def access(self, way: str, width: int) -> None:
        if width == 16:
            self.code.lines[way] += 1
        elif width == 8:
            self.code.words[way] += 1
        elif width != 4:
            self.code.other_strong += 1
        elif way == "load":
            self.code.looks += 1
            self.loaded = True
        elif self.fenced:
            self.code.releases += 1
        else:
            self.code.bare_stores += 1


def code_of(text: bytes) -> Code:
    code = Code(instructions=len(text) // 16)
    flags = Flags(code)
    for low, high in struct.iter_unpack("<QQ", text):
        operation = low & 0xFFF
        flags.see(operation, high)
        if operation in GLOBAL:
            code.accesses[GLOBAL[operation], WIDTHS.get(high >> 9 & 7, 0)] += 1
            code.non_coherent += operation == 0x981 and high >> 13 & 0xFF == NON_COHERENT
        code.local += operation in LOCAL
    return code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", type=Path, help="a cubin or an uncompressed fatbin")
    parser.add_argument("--threads", type=int, default=512, help="of a block (default: 512)")
    parser.add_argument("--all", action="store_true", help="every kernel, not only the least of each kind")
    parser.add_argument("--check", action="store_true", help="whether every kernel keeps the rules")
    options = parser.parse_args()
    try:
        found = list(images(options.code.read_bytes()))
    except OSError as fault:
        sys.exit(f"cubin.py: {options.code}: {fault.strerror}")
    if not found:
        sys.exit(f"cubin.py: {options.code} holds no machine code")
    if options.check:
        broken = [f"sm_{arch} {name}: {words}" for arch, all_of in found for name, words in code_rules.broken(all_of)]
        print("\n".join([*broken, f"{len(broken)} rules broken in {sum(len(k) for _, k in found)} kernels"]))
        sys.exit(5 if broken else 0)
    print(f"blocks of {options.threads} threads that a multiprocessor holds at once, and registers of a thread")
    for arch, kernels_of_arch in found:
        least = {}
        for name, code in kernels_of_arch.items():
            kind = name if options.all else name.rpartition("_")[0]
            bound = (code.resident(arch, options.threads), -code.registers)
            least[kind] = min(least.get(kind, bound), bound)
        for kind, (blocks, registers) in sorted(least.items()):
            print(f"sm_{arch:<5}{kind:<36}{blocks:>3}{-registers:>6}")


if __name__ == "__main__":
    script.run(main)
