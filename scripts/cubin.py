"""Reads what matters of a GPU's machine code: how wide its kernels load and store, and from where.

    for arch, kernels in images(Path("kernels.fatbin").read_bytes()): ...

An instruction of sm_80, sm_90 or sm_100 has 16 bytes; bits 0 to 11 are its operation, bits 73 to 75 the width of an
access, bits 77 to 84 its kind. NVIDIA does not publish that: kernel_code_test.py compiles one kernel for each of
them and looks for it here, so that a compiler that writes another code is noticed.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

GLOBAL = {0x981: "load", 0x986: "store", 0x980: "load", 0x985: "store"}  # LDG, STG, LD, ST
LOCAL = {0x983: "load", 0x387: "store"}  # LDL, STL
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16}  # [bytes]
NON_COHERENT = 0xF4  # of LDG
ELF = b"\x7fELF"


@dataclass
class Code:
    """Of one kernel."""

    instructions: int = 0
    accesses: Counter = field(default_factory=Counter)  # ("load" or "store", bytes): of global memory
    local: int = 0  # accesses to a thread's own memory: spilled registers, arrays that are indexed
    non_coherent: int = 0  # loads that may see old data


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
    (table,) = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * size) for i in range(count)]
    strings = sections[names][4]
    for section in sections:
        begin = strings + section[0]
        name = elf[begin : elf.index(b"\0", begin)].decode()
        if name.startswith(".text."):
            yield name.removeprefix(".text."), code_of(elf[section[4] : section[4] + section[5]])


def code_of(text: bytes) -> Code:
    code = Code(instructions=len(text) // 16)
    for low, high in struct.iter_unpack("<QQ", text):
        operation = low & 0xFFF
        if operation in GLOBAL:
            code.accesses[GLOBAL[operation], WIDTHS.get(high >> 9 & 7, 0)] += 1
            code.non_coherent += operation == 0x981 and high >> 13 & 0xFF == NON_COHERENT
        code.local += operation in LOCAL
    return code
