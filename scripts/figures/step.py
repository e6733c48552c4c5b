"""The figure of `collmark step`: step time against bucket size, with the chosen cap marked."""

from collections.abc import Iterator

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import records, style, sweep

OWN = ["model", "policy", "bucket_bytes"]
# Rows that differ in one of these are different experiments, and never share a line.
CASE = ["model", "backend", "ranks", "dtype", "op", "cache", *records.WHERE]
COLUMNS = [*records.IDENTITY, *OWN, "time_us_p50", "oversubscribed"]
FLAT = {"per_tensor": "--", "single": ":"}  # policies without a cap, drawn as levels


def is_step(names: list[str]) -> bool:
    return "policy" in names


def draw(rows: pd.DataFrame) -> Iterator[tuple[str, Figure]]:
    """(file name without ending, figure) for each model, backend, number of ranks, and what else tells rows apart."""
    rows = records.with_hosts(rows)
    case = [name for name in CASE if name in rows]
    for key, some in rows.groupby(case, sort=True):
        words = dict(zip(case, key, strict=True))
        model, backend, ranks = (words[name] for name in CASE[:3])
        if some["bucket_bytes"].nunique() > 1:
            name = "-".join([f"step-{model}-{backend}-{int(ranks)}-ranks", *records.apart(words, rows, CASE[3:])])
            yield name, against_caps(summary(some), f"{model} over {int(ranks)} ranks ({backend})")


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per algorithm (and what was asked of its kernels), policy and cap: the median over launches."""
    rows = rows.assign(algorithm=rows["algorithm"] + rows["turned"])
    keys = ["algorithm", "policy", "bucket_bytes"]
    return rows.groupby(keys, as_index=False, dropna=False).agg(
        time=("time_us_p50", "median"),
        oversubscribed=("oversubscribed", "max"),
        machine=("machine", "first"),
        time_utc=("time_utc", "first"),
    )


def against_caps(points: pd.DataFrame, what: str) -> Figure:
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for algorithm, look in style.looks(points["algorithm"]).items():
        own = points[points["algorithm"] == algorithm]
        levels = own[own["bucket_bytes"].isna()]
        for _, level in levels.iterrows():
            pattern = FLAT.get(level["policy"], "-.")
            label = f"{algorithm}, {level['policy']}"
            axes.axhline(level["time"], ls=pattern, lw=1.1, color=look["color"], label=label)
        for policy, line in own.dropna(subset=["bucket_bytes"]).groupby("policy"):
            label = f"{algorithm}, {policy}"
            capped = line.sort_values("bucket_bytes")
            capped = capped.assign(x=capped["bucket_bytes"], y=capped["time"])
            sweep.trace(axes, capped, {**look, "label": label})
            mark_best(axes, capped, look["color"])
    axes.margins(x=0.12, y=0.15)
    style.log_bytes_axis(axes, points["bucket_bytes"].dropna())
    style.log_time_axis(axes)
    axes.set_xlabel("bucket cap")
    axes.set_ylabel("communication of one step, slowest rank")
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    note = "Buckets are sent one after another, every gradient ready at once; packing included."
    words = style.caption(points, note, sweep.hollow(points))
    return style.finish(figure, f"One training step of {what}", words)


def mark_best(axes: Axes, line: pd.DataFrame, colour: str) -> None:
    """A ring round a line's fastest cap, and its name in words."""
    best = line.loc[line["time"].idxmin()]
    x, y = best["bucket_bytes"], best["time"]
    axes.plot([x], [y], "o", ms=12, mfc="none", mec="black", mew=1.1, zorder=5)
    axes.annotate(
        f"best: {style.bytes_text(x)}, {style.time_text(y)}",
        (x, y),
        xytext=(0, -20),
        textcoords="offset points",
        ha="center",
        fontsize=8.5,
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
    )
