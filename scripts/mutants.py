"""Mutants of C++ text: one small change each, where code (not comments or strings) says so.

The text must be laid out by clang-format: an operator between two operands then has a space on
both sides, which tells `a < b` from `vector<int>` and `a * b` from `byte* p`.
"""

import re
from dataclasses import dataclass

OTHER = {
    # arithmetic
    **{"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "<<": [">>"], ">>": ["<<"]},
    **{"+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "%=": ["*="]},
    # comparison: the boundary moves, or the answer turns round
    **{"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"]},
    **{"==": ["!="], "!=": ["=="]},
    # counting up or down
    **{"++": ["--"], "--": ["++"]},
    # memory orders: weaker only, since a stronger one changes no result
    **{"memory_order_acquire": ["memory_order_relaxed"]},
    **{"memory_order_release": ["memory_order_relaxed"]},
    **{"memory_order_acq_rel": ["memory_order_acquire", "memory_order_release"]},
    **{"memory_order_seq_cst": ["memory_order_acq_rel"]},
}

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)")
      | (?P<text>"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*')
      | (?P<preprocessor>^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<float>\d[\d']*(?:\.\d*(?:[eE][-+]?\d+)?|[eE][-+]?\d+)[fFlL]?)
      | (?P<number>0[xX][0-9a-fA-F']+|\d[\d']*)(?P<suffix>[uUlLzZ]*)(?!\w)
      | (?P<operator>\+\+|--|<<=|>>=|<=>|[-+*/%<>=!]=|<<|>>|&&|\|\||->|[-+*/%<>=])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Mutant:
    """The text with [start, end) replaced."""

    start: int
    end: int
    line: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.after + text[self.end :]

    def is_memory_order(self) -> bool:
        return f"memory_order_{self.before.removeprefix('memory_order_')}" in OTHER

    def __str__(self) -> str:
        return f"line {self.line}: {self.before} -> {self.after}"


def mutants(text: str) -> list[Mutant]:
    """All of them, in text order."""
    found = []
    for token in TOKEN.finditer(text):
        start, end, kind = token.start(), token.end(), token.lastgroup
        if kind == "suffix":
            end = token.end("number")
        before = text[start:end]
        line = text.count("\n", 0, start) + 1
        found += [Mutant(start, end, line, before, after) for after in others(token, text)]
    return found


def others(token: re.Match[str], text: str) -> list[str]:
    """What may stand in the token's place."""
    if token["number"] is not None:
        value = int(token["number"].replace("'", ""), 0)
        return [str(value + 1), str(value - 1)] if value > 0 else [str(value + 1)]
    if token["word"] is not None:
        order = token["word"]
        if text[: token.start()].endswith("memory_order::"):
            order = f"memory_order_{order}"
        replacements = OTHER.get(order, [])
        prefix = "" if token["word"] == order else "memory_order_"
        return [other.removeprefix(prefix) for other in replacements]
    operator = token["operator"]
    if operator in ("++", "--"):
        return OTHER[operator]
    if operator in OTHER and stands_between(token, text):
        return OTHER[operator]
    return []


def stands_between(token: re.Match[str], text: str) -> bool:
    """A space on both sides, or a line's end: the layout of an operator with two operands."""
    before = text[token.start() - 1 : token.start()]
    after = text[token.end() : token.end() + 1]
    return before.isspace() and after.isspace() and not text[: token.start()].endswith("operator ")
