"""What becomes of a stage of gpu_check.py: from how its command ended, what it said and the rows that it left."""

import re
import subprocess
from dataclasses import dataclass

import gpu_limits

WRONG, UNDECIDED, HUNG = 5, 6, 7
# Why a kernel was not proved, though it could have been on a larger device.
NO_ROOM = re.compile(r"holds \d+ of \w+ at once|needs .* of memory|out.of.memory", re.IGNORECASE)


@dataclass(frozen=True)
class End:
    """Of a stage's command."""

    code: int
    by: str  # itself, a request, force
    text: str  # what it said
    rows: list[dict[str, str]]  # that it left
    due: int  # rows that it was to leave


def of(stage, end):
    """Verdict, why, exit code."""
    failure = first_reason("failed", end.rows) if stage.code == 0 else ""
    if failure:
        return "failed", failure, WRONG if end.code in (0, 130) else end.code
    if failure := other_bytes(end.rows):
        return "failed", failure, WRONG
    if end.by != "itself":
        return cut_off(stage, end)
    if stage.may_not_fit and end.code == UNDECIDED:  # every row was skipped
        return "not run", first_reason("skipped", end.rows), 0
    verdict = said(stage, end.code, end.text)
    if verdict[0] == "ok" and stage.proves and (gap := unproved(end)):
        return "incomplete", gap, UNDECIDED
    return verdict


def rows_in(path):
    return gpu_limits.rows_of(path) if path.exists() else []


def first_reason(status, rows):
    """Of the rows that have this status; empty if there is none."""
    return next((row.get("reason") or "" for row in rows if row.get("status") == status), "")


def planned(stage):
    """Rows of a sweep, by its own account; 0 for what is none."""
    if "sweep" not in stage.command:
        return 0
    command = stage.command[stage.command.index("sweep") - 1 :]  # without what watches its memory
    done = subprocess.run([*command, "--dry-run"], capture_output=True, text=True, check=False, timeout=60)
    found = re.match(r"(\d+) cases", done.stdout)
    return int(found[1]) if found else 0


def other_bytes(rows):
    """The first row whose busiest rank moved not what the formula says; empty if there is none."""
    for row in rows:
        counted, formula = row.get("wire_bytes_busiest"), row.get("wire_bytes_formula")
        if row.get("status") == "ok" and counted and formula and counted != formula:
            case = f"{row['algorithm']}, {row['ranks']} ranks, {row['size_bytes']} bytes"
            return f"{case}: its busiest rank moved {counted} bytes, the formula has {formula}"
    return ""


def unproved(end):
    """Why a proof is not whole; empty if it is."""
    if len(end.rows) < end.due:
        return f"{len(end.rows)} of {end.due} cases were run"
    reasons = [row.get("reason") or "" for row in end.rows if row.get("status") == "skipped"]
    return next((reason for reason in [*reasons, *end.text.splitlines()] if NO_ROOM.search(reason)), "")


def cut_off(stage, end):
    """Of a stage that did not end by itself: verdict, why, exit code."""
    if stage.code or end.by == "force":
        return (
            "failed",
            f"it hung: its time was up{', and an interrupt did not end it' if not stage.code else ''}",
            HUNG,
        )
    if not stage.proves:
        return "cut off", "its time was up; what it had done is there", 0
    done = f" after {len(end.rows)} of {end.due} cases" if end.due else ""
    return "cut off", f"its time was up{done}: that proves nothing", UNDECIDED


def said(stage, code, text):
    """Of a stage that ended by itself: verdict, why, exit code."""
    lines = [line for line in text.splitlines() if line.strip()]
    if stage.never and stage.never in text:
        bad = next(line for line in lines if stage.never in line)
        return ("not run", bad, 0) if "no NCCL:" in bad else ("failed", bad, WRONG)
    if code != stage.code or stage.says not in text:
        expected = f"exit {stage.code} and '{stage.says}' were expected: " if stage.says else ""
        return "failed", f"exit {code}: {expected}{lines[-1] if lines else 'no word'}", code or 1
    return "ok", "", 0
