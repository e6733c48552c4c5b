"""Reads a results CSV, and says in one line where it is not one."""

import csv
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

NUMBERS = [
    *["launch", "ranks", "nodes", "size_bytes", "bucket_bytes", "rounds", "oversubscribed", "wrong"],
    *["time_us_min", "time_us_p50", "time_us_ci_low", "time_us_ci_high", "time_us_max"],
    *["warmups", "iterations", "busbw_gb_per_s", "model_us"],
    *["wire_bytes_busiest", "wire_bytes_formula"],
]
# What every figure needs; a step file has its own beside these.
IDENTITY = ["time_utc", "machine", "backend", "implementation", "collective", "algorithm"]
IDENTITY += ["ranks", "dtype", "op", "status"]
SWEEP = [*IDENTITY, *NUMBERS]


# Runs that were added to one file may be of several machines, of one host and of a cluster.
WHERE = ["machine", "hosts"]


class BadFile(Exception):
    """FILE:LINE, what is wrong there, what was expected."""


@dataclass(frozen=True)
class Records:
    path: Path
    rows: pd.DataFrame  # status ok and right results only, numbers as numbers; and a column `turned`, as below
    left_out: int  # rows that were skipped, failed or wrong


def read(path: Path, required: list[str], numbers: list[str] | None = None) -> Records:
    """The rows of `path` that hold a measurement. Raises BadFile."""
    header, rows = read_cells(path)
    for column in required:
        if column not in header:
            raise BadFile(f"{path}:1: column '{column}' is missing")
    for name in numbers or NUMBERS:
        if name in header:
            check_numbers(path, header.index(name), name, rows)
    table = pd.DataFrame([cells for _, cells in rows], columns=header)
    for name in numbers or NUMBERS:
        if name in header:
            table[name] = pd.to_numeric(table[name], errors="coerce")
    if details := machine_of(path):
        table["machine"] += f" ({details})"
    table["turned"] = turned(table)
    right = table["status"] == "ok"
    if "wrong" in header:
        right &= table["wrong"].fillna(0) == 0
    return Records(path, table[right].reset_index(drop=True), int((~right).sum()))


def with_hosts(rows: pd.DataFrame) -> pd.DataFrame:
    """A column that says whether ranks were on one host or on several; a single rank is with the others of its file."""
    if "nodes" not in rows:
        return rows
    together = (rows["nodes"] <= 1) & ((rows["ranks"] > 1) | (rows["nodes"].max() <= 1))
    return rows.assign(hosts=together.map({True: "one-host", False: "several-hosts"}))


def apart(words: dict[str, str], rows: pd.DataFrame, names: list[str]) -> list[str]:
    """Of a case what tells it from the others of the file, fit for the name of a figure's file."""
    several = [name for name in names if name in words and rows[name].nunique() > 1]
    return [re.sub(r"[^A-Za-z0-9.]+", "-", words[name]).strip("-") for name in several]


def turned(rows: pd.DataFrame) -> pd.Series:
    """What of the knobs of kernels (asked_tuning) belongs to the name of a row's line, as " channels=8 slots=auto":
    those that rows of its backend differ in."""
    names = pd.Series("", rows.index, dtype=object)
    if "asked_tuning" not in rows:  # written before there was the column, and several tunings in a file
        return names
    for _, some in rows.groupby("backend"):
        asked = [dict(word.partition("=")[::2] for word in text.split()) for text in some["asked_tuning"]]
        knobs = dict.fromkeys(knob for words in asked for knob in words)
        several = [knob for knob in knobs if len({words.get(knob) for words in asked}) > 1]
        names[some.index] = ["".join(f" {knob}={words.get(knob, 'auto')}" for knob in several) for words in asked]
    return names


def machine_of(path: Path) -> str:
    """The processor as run.json beside the CSV names it, with its cores; empty if there is none."""
    try:
        machine = json.loads(path.with_suffix(".run.json").read_text(encoding="utf-8"))["machine"]
        return f"{machine['cpu']}, {len(machine['cores'])} cores"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def read_cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header, and (line number, cells) of every row. Raises BadFile."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadFile(f"{path}:1: cannot be read: {fault}") from fault
    if not text.strip():
        raise BadFile(f"{path}:1: the file is empty, expected a header line")
    reader = csv.reader(text.splitlines())
    header = next(reader)
    rows = []
    for cells in reader:
        if len(cells) != len(header):
            raise BadFile(
                f"{path}:{reader.line_num}: {len(cells)} fields where the header names {len(header)} (cut off?)"
            )
        rows.append((reader.line_num, cells))
    if not rows:
        raise BadFile(f"{path}:2: no rows after the header")
    if not text.endswith("\n"):
        raise BadFile(f"{path}:{rows[-1][0]}: the last line has no line end (cut off?)")
    return header, rows


def check_numbers(path: Path, column: int, name: str, rows: list[tuple[int, list[str]]]) -> None:
    for line, cells in rows:
        try:
            finite = cells[column] == "" or math.isfinite(float(cells[column]))
        except ValueError:
            finite = False
        if not finite:
            raise BadFile(f"{path}:{line}: {name} is '{cells[column]}', expected a number")


def columns(path: Path) -> list[str]:
    """Names in the header: they tell a sweep from a step. Raises BadFile."""
    return read_cells(path)[0]
