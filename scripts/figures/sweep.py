"""Figures of `collmark sweep`: against tensor size, and against the number of ranks."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures import records, style

COLUMNS = records.SWEEP
# Rows that differ in one of these are different experiments, and never share a line.
CASE = ["backend", "collective", "dtype", "op", "placement", "mode", "cache", *records.WHERE]
HOLLOW = "Hollow markers: more ranks than cores."
MODEL = "Dashed: the schedule's time by its formula, from one link as measured (model_us)."
# What the bars of a point are, by what its rows allow.
INTERVAL = "95 % interval of the median"
READINGS = "smallest and largest reading"
LAUNCHES = "smallest and largest median of a launch"


def draw(rows: pd.DataFrame) -> Iterator[tuple[str, Figure]]:
    """(file name without ending, figure) for every view that the rows allow."""
    rows = records.with_hosts(rows[rows["size_bytes"] > 0])  # a log axis has no place for 0
    case = [name for name in CASE if name in rows]
    for key, some in rows.groupby(case, sort=True):
        words = dict(zip(case, key, strict=True))
        for ranks, at_ranks in some.groupby("ranks"):
            if at_ranks["size_bytes"].nunique() > 1 and ranks > 1:
                name = f"{stem(words, rows)}-against-size-{int(ranks)}-ranks"
                yield name, against_size(summary(at_ranks), words, int(ranks))
        for size, at_size in some.groupby("size_bytes"):
            if at_size["ranks"].nunique() > 1:
                name = f"{stem(words, rows)}-against-ranks-{short(size)}"
                yield name, against_ranks(summary(at_size), words, int(size))


def stem(words: dict[str, str], rows: pd.DataFrame) -> str:
    """The case by what tells it from the others of the file: short where there is one."""
    return "-".join([words["collective"], words["backend"], *records.apart(words, rows, CASE[2:])])


def short(size: float) -> str:
    return style.bytes_text(size).replace(" ", "")


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per series and point: the median over launches, and the interval around it."""
    rows = rows.assign(series=rows["algorithm"] + rows["turned"])
    library = ~rows.get("implementation", pd.Series("collmark", rows.index)).str.startswith("collmark")
    rows.loc[library, "series"] += " (" + rows["implementation"] + ")"
    grouped = rows.groupby(["series", "ranks", "size_bytes"], as_index=False)
    points = grouped.agg(
        time=("time_us_p50", "median"),
        low=("time_us_p50", "min"),
        high=("time_us_p50", "max"),
        launches=("time_us_p50", "size"),
        ci_low=("time_us_ci_low", "median"),
        ci_high=("time_us_ci_high", "median"),
        least=("time_us_min", "min"),
        most=("time_us_max", "max"),
        warmups=("warmups", "min"),
        warmups_most=("warmups", "max"),
        readings=("iterations", "min"),
        readings_most=("iterations", "max"),
        busbw=("busbw_gb_per_s", "median"),
        bytes=("wire_bytes_busiest", "max"),
        rounds=("rounds", "max"),
        model=("model_us", "median"),
        nodes=("nodes", "max"),
        oversubscribed=("oversubscribed", "max"),
        machine=("machine", "first"),
        time_utc=("time_utc", "first"),
    )
    one = points["launches"] == 1
    known = points["ci_low"].notna() & points["ci_high"].notna()
    points["bars"] = np.where(one, np.where(known, INTERVAL, READINGS), LAUNCHES)
    points.loc[one, "low"] = points["ci_low"].where(known, points["least"])
    points.loc[one, "high"] = points["ci_high"].where(known, points["most"])
    return points


def medians(points: pd.DataFrame) -> str:
    """What points and bars are: n, launches, warm-ups, and which spread the rows allow."""
    launches = count(points["launches"], points["launches"], "launch", "launches")
    readings = count(points["readings"], points["readings_most"], "reading", "readings")
    warmups = count(points["warmups"], points["warmups_most"], "warm-up", "warm-ups")
    kinds = [kind for kind in (INTERVAL, READINGS, LAUNCHES) if (points["bars"] == kind).any()]
    return f"Points: medians of {readings} after {warmups}, {launches}; bars: {', or '.join(kinds)}."


def count(least: pd.Series, most: pd.Series, one: str, several: str) -> str:
    """'1 launch', '20 to 400 readings'."""
    low, high = int(least.min()), int(most.max())
    if low == high:
        return f"{low} {one if low == 1 else several}"
    return f"{low} to {high} {several}"


def modelled(points: pd.DataFrame) -> tuple[pd.Series, str]:
    """Model time per point [us], and how it came about: from the file, else alpha and beta fitted.

    The fit weighs all sizes alike (relative errors): time = alpha x rounds + beta x busiest bytes.
    """
    if points["model"].notna().all():
        return points["model"], MODEL
    terms = points[["rounds", "bytes"]].to_numpy(float) / points[["time"]].to_numpy(float)
    kept = [i for i in range(2) if (terms[:, i] > 0).any()]
    while kept:
        coefficients, *_ = np.linalg.lstsq(terms[:, kept], np.ones(len(terms)), rcond=None)
        if (coefficients >= 0).all():
            break
        kept.pop(int(np.argmin(coefficients)))
    time = points[["rounds", "bytes"]].to_numpy(float)[:, kept] @ coefficients if kept else np.nan
    words = "Dashed: time = alpha x rounds + beta x bytes of the busiest rank, fitted per algorithm."
    return pd.Series(time, points.index), words


def against_size(points: pd.DataFrame, case: dict[str, str], ranks: int) -> Figure:
    figure, (left, right) = panels()
    note = ""
    for name, look in style.looks(points["series"]).items():
        line = points[points["series"] == name].sort_values("size_bytes")
        bars(left, line, "size_bytes", look)
        trace(left, line.assign(x=line["size_bytes"], y=line["time"]), look)
        if len(line) > 2:
            model, note = modelled(line)
            left.plot(line["size_bytes"], model, "--", lw=1.2, color=look["color"])
        busbw = line.dropna(subset=["busbw"])
        trace(right, busbw.assign(x=busbw["size_bytes"], y=busbw["busbw"]), look)
    for axes in (left, right):
        style.log_bytes_axis(axes, points["size_bytes"])
        axes.set_xlabel("tensor size per rank")
    style.log_time_axis(left)
    left.set_title("Time of one operation")
    left.set_ylabel("time, slowest rank")
    right.set_title("Bus bandwidth")
    right.set_ylabel("busbw [GB/s, 1e9 B/s]")
    right.set_ylim(bottom=0)
    right.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    title = f"{case['collective']} over {ranks} ranks ({case['backend']}, {case['dtype']} {case['op']})"
    return style.finish(figure, title, style.caption(points, medians(points), note, hollow(points)))


def against_ranks(points: pd.DataFrame, case: dict[str, str], size: int) -> Figure:
    figure, (left, right) = panels()
    looks = style.looks(points["series"])
    note = ""
    for place, (name, look) in enumerate(looks.items()):
        line = points[points["series"] == name].sort_values("ranks")
        bars(left, line, "ranks", look)
        if on_model(line):
            note = MODEL
            left.plot(line["ranks"], line["model"], "--", lw=1.2, color=look["color"])
            trace(left, line.assign(x=line["ranks"], y=line["time"]), {**look, "linestyle": "none"})
        else:
            trace(left, line.assign(x=line["ranks"], y=line["time"]), look)
        # Equal byte counts would hide one another: the markers stand side by side.
        aside = line["ranks"] + 0.07 * (place - (len(looks) - 1) / 2)
        beside = line.assign(x=aside, y=line["bytes"] / 2**20)
        trace(right, beside, {**look, "linestyle": "none"})
    formulas(right, points["ranks"], size)
    ticks = sorted(points["ranks"].unique())
    for axes in (left, right):
        axes.set_xlabel("ranks N")
        axes.set_xticks(ticks, [f"{int(n)}" for n in ticks])
    if note:
        style.time_axis(left)
    else:
        style.log_time_axis(left)
    left.set_title("Time of one operation")
    left.set_ylabel("time, slowest rank")
    right.set_title("Bytes through the busiest rank, counted as they moved")
    right.set_ylabel("max(sent, received) [MiB]")
    right.set_ylim(bottom=0)
    right.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0))
    title = titled(case, f"of {style.bytes_text(size)}")
    return style.finish(figure, title, style.caption(points, medians(points), note, hollow(points)))


def on_model(line: pd.DataFrame) -> bool:
    """Is time a matter of links? Then points are drawn on the line of their formula, on an axis from 0. Where all ranks
    share one host's memory the model is a guide at best."""
    return bool((line["nodes"] == line["ranks"]).all() and line["model"].notna().all())


def titled(case: dict[str, str], what: str) -> str:
    return f"{case['collective']} {what} ({case['backend']}, {case['dtype']} {case['op']})"


def formulas(axes: Axes, ranks: pd.Series, size: int) -> None:
    """The two lines of the comparison, with K = C = the tensor's bytes."""
    n = np.linspace(ranks.min(), ranks.max(), 100)
    for text, values in (
        ("2K(N-1)/N  (ring)", 2 * size * (n - 1) / n),
        ("C(N-1)  (parameter server)", size * (n - 1)),
    ):
        pattern = "--" if text.startswith("2K") else ":"
        axes.plot(n, values / 2**20, pattern, color=style.GREY, lw=1.3, label=text, zorder=1)


def panels() -> tuple[Figure, tuple[Axes, Axes]]:
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    return figure, (left, right)


def trace(axes: Axes, points: pd.DataFrame, look: dict[str, str]) -> None:
    """A line through points (x, y); hollow markers where a core had to serve several ranks."""
    axes.plot(points["x"], points["y"], **look)
    crowded = points[points["oversubscribed"].fillna(0) > 0]
    hollow_look = {**look, "linestyle": "none", "markerfacecolor": "white", "label": None}
    axes.plot(crowded["x"], crowded["y"], **hollow_look)


def bars(axes: Axes, line: pd.DataFrame, x: str, look: dict[str, str]) -> None:
    reach = [line["time"] - line["low"], line["high"] - line["time"]]
    reach = [side.clip(lower=0) for side in reach]
    axes.errorbar(line[x], line["time"], reach, fmt="none", ecolor=look["color"], elinewidth=0.8, capsize=1.5)


def hollow(points: pd.DataFrame) -> str:
    return HOLLOW if points["oversubscribed"].fillna(0).gt(0).any() else ""
