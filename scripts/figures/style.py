"""How every figure looks: colours, markers, ticks with units, caption, and writing whole files."""

import os
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib import ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe & Ito 2008, "Color Universal Design", without yellow, which is faint on white. Markers
# differ too, so that a print in grey reads the same.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "<", ">", "h", "*", "p", "d", "8"]
# An algorithm looks the same in every figure.
KNOWN = [
    "ring",
    "parameter_server",
    "two_shot",
    "double_binary_tree",
    "rabenseifner",
    "recursive_doubling",
    "library",
    "binomial_tree",
    "one_shot",
    "sharded_parameter_server",
    "circulant",
    "hierarchical_ring",
    "pipelined_tree",
    "swing",
]
GREY = "#555555"

mpl.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#dddddd",
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.4,
        "lines.markersize": 5,
        "legend.frameon": False,
        "svg.hashsalt": "collmark",  # the same figure is the same file
        "svg.fonttype": "none",
    }
)


def looks(series: Iterable[str]) -> dict[str, dict[str, str]]:
    """Colour and marker for each series, in the order of a legend: known algorithms first."""
    bases = {name: name.split(" ")[0].split(":")[0] for name in series}
    order = {name: KNOWN.index(b) if b in KNOWN else len(KNOWN) for name, b in bases.items()}
    look, taken = {}, set()
    for name in sorted(bases, key=lambda name: (order[name], name)):
        place = order[name]
        while place in taken:  # two parameters of one algorithm
            place = max(place, len(KNOWN) - 1) + 1
        taken.add(place)
        look[name] = {
            "label": name,
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[place % len(MARKERS)],
        }
    return look


def bytes_text(value: float) -> str:
    """1536 -> '1.5 KiB'. Exact binary units."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    raise AssertionError("unreachable: GiB takes everything")


def time_text(microseconds: float) -> str:
    """1500 -> '1.5 ms'."""
    if microseconds == 0:
        return "0"
    for unit, scale in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if abs(microseconds) >= scale:
            return f"{microseconds / scale:.3g} {unit}"
    return f"{microseconds * 1e3:.3g} ns"


def log_bytes_axis(axes: Axes, values: pd.Series) -> None:
    """A log axis in bytes: ticks at powers of two that were measured, at most nine of them."""
    axes.set_xscale("log", base=2)
    low, high = int(values.min()).bit_length() - 1, int(values.max() - 1).bit_length()
    stride = -(-(high - low + 1) // 9)
    axes.set_xticks([2.0**power for power in range(low, high + 1, stride)])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: bytes_text(v)))
    axes.tick_params(axis="x", rotation=35)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
        label.set_rotation_mode("anchor")


def log_time_axis(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: time_text(v)))
    low, high = axes.get_ylim()
    crowded = high / low > 30
    axes.yaxis.set_minor_locator(ticker.LogLocator(subs=[] if crowded else [2, 5]))
    axes.yaxis.set_minor_formatter(ticker.FuncFormatter(lambda v, _: time_text(v)))


def time_axis(axes: Axes) -> None:
    """From 0, so that twice as high is twice as long."""
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: time_text(v)))


def caption(rows: pd.DataFrame, *notes: str) -> str:
    """Where and when it was measured, then what a reader must know to read the figure."""
    machines = ", ".join(sorted(set(rows["machine"])))
    days = sorted({str(stamp)[:10] for stamp in rows["time_utc"]})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    return "\n".join([f"Measured on {machines}, {when}.", *(note for note in notes if note)])


def finish(figure: Figure, title: str, words: str) -> Figure:
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.supxlabel(words, x=0.01, ha="left", fontsize=7.5, color=GREY)
    return figure


def write(figure: Figure, stem: Path) -> list[Path]:
    """SVG and PNG, each whole or not at all."""
    written = []
    for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
        final = stem.with_name(f"{stem.name}.{kind}")
        part = stem.with_name(f".{stem.name}.{os.getpid()}.{kind}")
        try:
            figure.savefig(part, format=kind, dpi=160, metadata=metadata)
            part.replace(final)
        finally:
            part.unlink(missing_ok=True)
        written.append(final)
    return written
