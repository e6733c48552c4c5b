"""What the machine code of a kernel must be like, given what cubin.py reads of it.

A wait for a flag is an acquire of system scope; beside it stands the look at the word that says somebody has given
up, which orders nothing. A flag is stored behind a fence of the whole system. With low latency data has no flags but
in its lines, which are 16 bytes, strong and of system scope, so that each half arrives whole; over links there are
credits besides, flags as all others. A hop by words has its data and flag in 8 bytes.
"""

# What moves no data in packs: 16 bytes of low latency are two words of 8, and a hop has no more.
NOT_IN_PACKS = ("_ll_", "write_values", "compare_values", "_hops")
WAIT_FOR_NOBODY = ("write_values", "compare_values", "pack_bucket")  # and unpack_bucket
BY_WORDS = ("word_hops",)
BY_LINES = ("_ll_", "low_latency_")
WITH_CREDITS = ("ring_ll_", "tree_ll_")  # of those


def is_one_of(name, parts):
    return any(part in name for part in parts)


def broken(kernels):
    """(kernel, what is wrong with it) of those that break a rule."""
    for name, code in kernels.items():
        for words in [*of_data(name, code), *of_flags(name, code)]:
            yield name, words


def of_data(name, code):
    if code.local:
        yield f"{code.local} accesses to local memory"
    if code.non_coherent:
        yield f"{code.non_coherent} loads that may see old data"
    if not is_one_of(name, NOT_IN_PACKS) and not (code.accesses["load", 16] and code.accesses["store", 16]):
        yield "no loads or no stores of 16 bytes"


def of_flags(name, code):
    if code.narrow:
        yield f"{code.narrow} strong accesses of less than system scope"
    if code.bare_stores:
        yield f"{code.bare_stores} flags stored without a fence of the system before"
    if code.other_strong:
        yield f"{code.other_strong} strong accesses of neither 4 nor 8 nor 16 bytes"
    if is_one_of(name, WAIT_FOR_NOBODY):
        if code.acquires or code.looks or code.releases or code.lines or code.words:
            yield "it looks at flags, but waits for nobody"
        return
    if not code.releases:
        yield "no flag is stored behind a fence"
    yield from of_data_with_flags(name, code)
    if is_one_of(name, WITH_CREDITS) and not code.acquires:
        yield "no credit is acquired"
    if is_one_of(name, (*BY_WORDS, *BY_LINES)):
        return
    if not code.acquires:
        yield "no flag is acquired"
    if code.looks > code.acquires:  # each wait has at least one acquire and one look at who has given up
        yield f"{code.looks} flags are looked at without an acquire, and {code.acquires} acquired"


def of_data_with_flags(name, code):
    for parts, found, words in (
        (BY_WORDS, code.words, "words are not loaded and stored 8 bytes at once"),
        (BY_LINES, code.lines, "lines are not loaded and stored 16 bytes at once"),
    ):
        if is_one_of(name, parts) and not (found["load"] and found["store"]):
            yield words
    if code.words and not is_one_of(name, BY_WORDS):
        yield "it has words of data and flag, but no hop by them"
    if code.lines and not is_one_of(name, BY_LINES):
        yield "it has lines, but no low latency"
