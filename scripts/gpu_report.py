"""What gpu_check.py says: a line for each stage, the claims, and the README of the folder."""

from dataclasses import dataclass

import gpu_limits


@dataclass(frozen=True)
class Machine:
    gpu: str
    cuda: str  # as doctor has it
    day: str
    doctor: str

    @property
    def line(self):
        return f"{self.day}, {self.cuda.removeprefix('yes: ')}"

    @property
    def is_stub(self):
        return gpu_limits.STUB in self.gpu


def line_of(outcome):
    words = f"{outcome.name:<22}{outcome.verdict:<12}{outcome.seconds:>6.1f} s of {outcome.limit}"
    return f"{words}   {outcome.why}".rstrip()


def of_claims(measured, copy, claims, case, stub):
    """`claims`: what gpu_limits.claims() gives; `case`: bytes of a buffer, ranks."""
    decided, undecided = claims
    size, ranks = case
    lines = [f"{size} bytes on {ranks} ranks that share a GPU, f32 sum, out of place:", ""]
    if measured:
        lines += [*gpu_limits.table(measured, copy, size, ranks).splitlines(), ""]
    if copy:
        speed = f"{copy.middle / 1e9:.1f} [{copy.low / 1e9:.1f}, {copy.high / 1e9:.1f}] GB/s"
        lines.append(f"a copy within the GPU: {speed} of loads and stores, over several runs")
    for claim in decided:
        verdict = "not claimed" if stub else "holds" if claim.holds else "FAILS"
        lines.append(f"{verdict:<12}{claim.words}")
    lines += [f"{'open':<12}{words}" for words in undecided]
    if stub:
        lines.append("nothing is claimed: this was the stub driver, no GPU, and its times mean nothing")
    return lines


def write(out, machine, outcomes, found):
    """README.md of the folder. `found`: what judge() said, and the skipped rows."""
    said, skipped = found
    title = "Dry run of the GPU check: no GPU, times mean nothing" if machine.is_stub else f"GPU check on {machine.gpu}"
    parts = [f"# {title}, {machine.day}", ""]
    parts += [f"{machine.cuda.removeprefix('yes: ')}.", "", "    scripts/gpu_check.sh", ""]
    parts += [
        "`NAME.csv` are the rows of a stage, `NAME.run.json` its record, `NAME.txt` what it said; `doctor.txt`",
        "",
    ]
    parts[-2] += " is the machine. `scripts/gpu_check.sh --judge` reads the claims from the rows again."
    if said:
        parts += ["## Claims", "", *(f"    {line}".rstrip() for line in said), ""]
    parts += ["## Stages", "", "| stage | verdict | s | of at most | |", "|---|---|---|---|---|"]
    for o in outcomes:
        parts.append(f"| {o.name} | {o.verdict} | {o.seconds:.1f} | {o.limit} | {cell(o.why)} |")
    missing = [o.name for o in outcomes if o.verdict in ("cut off", "not reached")]
    parts += ["", f"Not finished for want of time: {', '.join(missing) if missing else 'nothing'}.", ""]
    if skipped:
        parts += ["## Rows that could not run", "", "| stage | rows | reason |", "|---|---|---|"]
        parts += [f"| {stage} | {rows} | {cell(reason)} |" for (stage, reason), rows in skipped.most_common()]
        parts.append("")
    (out / "README.md").write_text("\n".join(parts))


def cell(text):
    return " ".join(text.replace("|", "/").split())
