"""The faults that kernel_faults.py plants: rules broken by hand, and every place in the kernels' sources where somebody
waits, meets or signals, found by its words.

    each                         is taken away                     or weakened
    block_barrier()              nothing is left
    block_all(x)                 (x): no barrier, no vote
    wait_for, wait_until,        true: as if what is waited
      await, meet                for were there
    wait_for(flag, value, w)                                       looks at the flag without an acquire
    store_release(word, value)                                     stores it without a release
    load_acquire(word)                                             load_relaxed(word)
    memory_order_...             (of the CPU's platform.hpp)       memory_order_relaxed

What has no order that could be weakened is left as it is: load_relaxed, claim, and the words of low latency.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPU = "kernels/on_cpu/platform.hpp"
DEVICE_CODE = re.compile(r"^ *COLLMARK_(DEVICE|KERNEL)\b|static COLLMARK_DEVICE", re.MULTILINE)
WAITS = r"(?<![\w:])(?:\w+\.)?(block_all|wait_for|wait_until|await|meet)\("
# In place of a function's name: the same with the order taken out.
RELAXED_STORE = (
    "[&](std::uint32_t* word, std::uint32_t value) { grid::at_flag(word, kFlagScope); grid::progress(); "
    "std::atomic_ref(*word).store(value, std::memory_order_relaxed); }"
)
RELAXED_WAIT = (
    "[&](std::uint32_t* flag, std::uint32_t value, const Patience& w) { return wait_until([=] { "
    "const auto now = load_relaxed(flag); return Found{reached(now, value), now}; }, value, w); }"
)
# In place of one store of 8 bytes: the flag, and its data when others have had a turn.
IN_HALVES = (
    "  auto* const halves = reinterpret_cast<std::uint32_t*>(&line[0]);\n"
    "  std::atomic_ref(halves[1]).store(static_cast<std::uint32_t>(a >> 32), std::memory_order_relaxed);\n"
    "  grid::at_flag(&halves[0], kFlagScope);\n"
    "  std::atomic_ref(halves[0]).store(static_cast<std::uint32_t>(a), std::memory_order_relaxed);\n"
)
# As if the flags of two peers were parts of one word: who stores his own stores what he read of the other's.
IN_ONE_WORD = (
    "std::uint32_t* const word = &view_.arrived[peer][line + rank_ / 2 * 2]; "
    "std::uint32_t flags[2] = {load_relaxed(&word[0]), load_relaxed(&word[1])}; flags[rank_ % 2] = now; "
    "store_release(&word[0], flags[0]); store_release(&word[1], flags[1]);"
)


@dataclass(frozen=True)
class Fault:
    rule: str
    file: str
    old: str  # stands there once, or at `place`
    new: str
    place: int = -1  # where in the file; -1: wherever it stands
    is_order: bool = False  # x86 keeps orders that the source does not ask for


BY_HAND = [
    Fault("flags of two ranks have system scope", CPU, "= grid::Scope::system;", "= grid::Scope::device;"),
    Fault(
        "an end's count is its own thread's",
        "kernels/links.hpp",
        "store_release(outgoing(to[i - from.count()]).tail, count);",
        "store_release(outgoing(to[i - from.count()]).tail, *outgoing(to[i - from.count()]).passed);",
    ),
    Fault(
        "counts of links are kept",
        "kernels/links.hpp",
        "*link.passed = counts()[i] = n + 1;",
        "counts()[i] = n + 1;",
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
    Fault("both flags of a line count", "kernels/line.hpp", " && b >> 32 == flag", ""),
    Fault("the first flag of a line counts", "kernels/line.hpp", "a >> 32 == flag && ", ""),
    Fault("in place, lines come down only into what has been read", "kernels/links.hpp", " || replaces_", ""),
    Fault("both flags of a hop's line count", "kernels/hop.hpp", " && b >> 32 == n", ""),
    Fault("the first flag of a hop's line counts", "kernels/hop.hpp", "a >> 32 == n && ", ""),
    Fault("a hop's word carries its flag", "kernels/hop.hpp", "Found{flag == n, flag}", "Found{true, flag}"),
    Fault(
        "a word of a line is stored whole",
        CPU,
        "  std::atomic_ref(line[0]).store(a, std::memory_order_relaxed);\n",
        IN_HALVES,
    ),
    Fault(
        "each peer's flag is a word of its own",
        "kernels/block.hpp",
        "store_release(&view_.arrived[peer][line + rank_], now);",
        IN_ONE_WORD,
    ),
    Fault("every wait has an end", "kernels/flag.hpp", "return give_up(w, wait), false;", "found = look();"),
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

# By file and the line's text: why nothing can go wrong.
HARMLESS: dict[tuple[str, str], str] = {
    (
        "kernels/flag.hpp",
        "store_release(&w.stuck->complete, 1);  // pairs with the end of the kernel, or the host's acquire",
    ): "read only when the launch has ended (queue_complaint, hang()), which orders all that it did",
}


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


def sources():
    """Of the kernels: the headers with device code."""
    found = [path for path in sorted((ROOT / "kernels").glob("*.hpp")) if DEVICE_CODE.search(path.read_text())]
    return [f"kernels/{path.name}" for path in found]


def is_definition(line):
    return "COLLMARK_DEVICE" in line or line.startswith("inline")


def faults_of(file, text):
    """Every one that a source offers, in its order."""

    def fault(found, what, old, new, **more):
        where = f"{Path(file).name}:{text.count(chr(10), 0, found.start()) + 1}"
        return Fault(f"{where} {what}", file, old, new, found.start(), **more)

    for found in re.finditer(r"(?<![\w:])block_barrier\(\);", text):
        yield fault(found, "barrier", found.group(), "")
    for found in re.finditer(r"memory_order_(acquire|release)", text):
        yield fault(found, found.group(1), found.group(), "memory_order_relaxed", is_order=True)
    for found in re.finditer(r"(?<![\w:])(store_release|load_acquire)\(", text):
        if not is_definition(line_of(text, found.start())):
            name = found.group(1)
            new = RELAXED_STORE if name == "store_release" else "load_relaxed"
            yield fault(found, f"{name} relaxed", name, new, is_order=True)
    for found in re.finditer(WAITS, text):
        if is_definition(line_of(text, found.start())):
            continue
        call = text[found.start() : call_at(text, found.start(1))]
        argument = call[call.index("(") + 1 : -1]
        name = found.group(1)
        yield fault(found, name, call, f"({argument})" if name == "block_all" else "true")
        if name == "wait_for":
            yield fault(found, "wait_for relaxed", call, f"{RELAXED_WAIT}({argument})", is_order=True)


def all_faults():
    return [*BY_HAND, *(fault for file in [*sources(), CPU] for fault in faults_of(file, (ROOT / file).read_text()))]


def planted(fault, text):
    place = fault.place
    if place < 0:
        if text.count(fault.old) != 1:
            sys.exit(f"kernel_faults.py: {fault.file} has not once: {fault.old!r}")
        place = text.index(fault.old)
    return text[:place] + fault.new + text[place + len(fault.old) :]


def harmless(fault):
    """Why it changes nothing; None where it must be found."""
    text = (ROOT / fault.file).read_text()
    return HARMLESS.get((fault.file, line_of(text, fault.place))) if fault.place >= 0 else None
