"""Tests of plot.py, over files that collmark wrote (tests/data/)."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
sys.path.insert(0, str(SCRIPTS))

import numpy as np
import pandas as pd
from figures import records, step, style, sweep


def plot(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", SCRIPTS / "plot.py", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


class Files(unittest.TestCase):
    """What is written, and under which names."""

    def test_a_sweep_gives_exactly_these_files(self):
        with tempfile.TemporaryDirectory() as out:
            done = plot(DATA / "sweep.csv", "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(
                sorted(path.name for path in Path(out).iterdir()),
                [
                    "all_reduce-threads-against-ranks-64KiB.png",
                    "all_reduce-threads-against-ranks-64KiB.svg",
                    "all_reduce-threads-against-size-4-ranks.png",
                    "all_reduce-threads-against-size-4-ranks.svg",
                ],
            )
            self.assertEqual(len(done.stdout.splitlines()), 4)

    def test_a_step_gives_exactly_these_files(self):
        with tempfile.TemporaryDirectory() as out:
            done = plot(DATA / "step.csv", "--out", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(
                sorted(path.name for path in Path(out).iterdir()),
                ["step-resnet18-threads-2-ranks.png", "step-resnet18-threads-2-ranks.svg"],
            )

    def test_the_same_file_gives_the_same_svg(self):
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            for out in (a, b):
                plot(DATA / "sweep.csv", "--out", out)
            for path in Path(a).glob("*.svg"):
                self.assertEqual(path.read_bytes(), (Path(b) / path.name).read_bytes())

    def test_a_figure_that_cannot_be_written_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as out:
            name = "all_reduce-threads-against-ranks-64KiB.svg"
            (Path(out) / name).mkdir()
            done = plot(DATA / "sweep.csv", "--out", out)
            self.assertEqual(done.returncode, 2)
            self.assertIn("cannot write", done.stderr)
            self.assertEqual([p.name for p in Path(out).glob(".*")], [])


class Axes(unittest.TestCase):
    """What a reader sees."""

    @classmethod
    def setUpClass(cls):
        rows = records.read(DATA / "sweep.csv", sweep.COLUMNS).rows
        cls.figures = dict(sweep.draw(rows))
        cls.size = cls.figures["all_reduce-threads-against-size-4-ranks"]
        cls.ranks = cls.figures["all_reduce-threads-against-ranks-64KiB"]

    def test_titles_name_collective_backend_and_type(self):
        title = self.size._suptitle.get_text()
        self.assertEqual(title, "all_reduce over 4 ranks (threads, f32 sum)")

    def test_axes_carry_units(self):
        time, busbw = self.size.axes
        self.assertEqual(busbw.get_ylabel(), "busbw [GB/s, 1e9 B/s]")
        self.assertEqual((time.get_xscale(), time.get_yscale()), ("log", "log"))
        self.assertEqual(self.ranks.axes[1].get_ylabel(), "max(sent, received) [MiB]")

    def test_each_algorithm_has_its_own_colour_and_marker(self):
        lines = [x for x in self.size.axes[1].get_lines() if not x.get_label().startswith("_")]
        looks = {(line.get_color(), line.get_marker()) for line in lines}
        self.assertEqual({line.get_label() for line in lines}, {"ring", "parameter_server"})
        self.assertEqual(len(looks), 2)
        self.assertEqual(len({marker for _, marker in looks}), 2)

    def test_the_bytes_of_ring_and_server_lie_on_their_formulas(self):
        lines = {line.get_label(): line for line in self.ranks.axes[1].get_lines()}
        for series, formula in (
            ("ring", "2K(N-1)/N  (ring)"),
            ("parameter_server", "C(N-1)  (parameter server)"),
        ):
            measured, expected = lines[series].get_ydata(), lines[formula].get_ydata()
            self.assertAlmostEqual(measured[0], expected[0], delta=1e-4)  # chunks are whole elements
            self.assertAlmostEqual(measured[-1], expected[-1], delta=1e-4)

    def test_the_caption_names_machine_and_day(self):
        rows = records.read(DATA / "sweep.csv", sweep.COLUMNS).rows
        caption = self.size._supxlabel.get_text()
        self.assertIn(rows["machine"][0], caption)
        self.assertIn(rows["time_utc"][0][:10], caption)

    def test_the_caption_says_what_points_and_bars_are(self):
        caption = self.size._supxlabel.get_text()
        self.assertIn(
            "medians of 20 to 337 readings after 10 to 35 warm-ups, 1 launch; bars: 95 % interval of the median.",
            caption,
        )

    def test_the_processor_is_named_where_the_run_record_lies_beside(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sweep.csv"
            path.write_bytes((DATA / "sweep.csv").read_bytes())
            run = path.with_suffix(".run.json")
            run.write_text('{"machine": {"cpu": "Example 9000", "cores": [0, 1]}}')
            self.assertIn("(Example 9000, 2 cores)", records.read(path, sweep.COLUMNS).rows["machine"][0])
            run.write_text("{")  # cut off: the figure is drawn all the same
            self.assertNotIn("(", records.read(path, sweep.COLUMNS).rows["machine"][0])

    def test_ticks_read_in_binary_units(self):
        self.assertEqual(style.bytes_text(1536), "1.5 KiB")
        self.assertEqual(style.bytes_text(64 << 20), "64 MiB")
        self.assertEqual(style.time_text(1500), "1.5 ms")
        self.assertEqual(style.time_text(0.25), "250 ns")


class Cluster(unittest.TestCase):
    """A run in which each rank is a host of its own: time is a matter of links."""

    @classmethod
    def setUpClass(cls):
        cls.rows = records.read(SCRIPTS.parent / "results/cluster-2026-11-30/rows.csv", sweep.COLUMNS).rows
        ((cls.name, figure),) = sweep.draw(cls.rows)
        cls.time = figure.axes[0]
        cls.caption = figure._supxlabel.get_text()

    def test_the_dashed_lines_are_the_model_of_the_rows(self):
        self.assertEqual(self.name, "all_reduce-mpi-against-ranks-15.26MiB")
        dashed = {line.get_color(): line for line in self.time.get_lines() if line.get_linestyle() == "--"}
        drawn = 0
        for name, look in style.looks(sweep.summary(self.rows)["series"]).items():
            own = self.rows[self.rows["algorithm"] == name].sort_values("ranks")
            if own.empty or own["model_us"].isna().any():
                self.assertNotIn(look["color"], dashed, name)
                continue
            self.assertEqual(list(dashed[look["color"]].get_xdata()), list(own["ranks"]), name)
            self.assertEqual(list(dashed[look["color"]].get_ydata()), list(own["model_us"]), name)
            drawn += 1
        self.assertEqual((drawn, len(dashed)), (4, 4))

    def test_points_of_modelled_algorithms_are_joined_by_no_other_line(self):
        ring = style.looks(sweep.summary(self.rows)["series"])["ring"]["color"]
        own = [
            line for line in self.time.get_lines() if line.get_color() == ring and line.get_marker() not in ("", "None")
        ]
        self.assertTrue(own)
        self.assertEqual({line.get_linestyle() for line in own}, {"None"})

    def test_time_begins_at_0_and_the_caption_says_what_is_dashed(self):
        self.assertEqual((self.time.get_yscale(), self.time.get_ylim()[0]), ("linear", 0))
        self.assertIn(sweep.MODEL, self.caption)

    def test_runs_on_one_host_and_on_several_share_no_line(self):
        here = self.rows.assign(nodes=1, time_us_p50=self.rows["time_us_p50"] / 10)
        figures = dict(sweep.draw(pd.concat([self.rows, here], ignore_index=True)))
        self.assertEqual(sorted(figures), [
            "all_reduce-mpi-one-host-against-ranks-15.26MiB", "all_reduce-mpi-several-hosts-against-ranks-15.26MiB",
        ])  # fmt: skip

    def test_runs_of_two_machines_share_no_line(self):
        there = self.rows.assign(machine="b (An Example, 2 cores)")
        figures = dict(sweep.draw(pd.concat([self.rows.assign(machine="a"), there], ignore_index=True)))
        self.assertEqual(sorted(figures), [
            "all_reduce-mpi-a-against-ranks-15.26MiB", "all_reduce-mpi-b-An-Example-2-cores-against-ranks-15.26MiB",
        ])  # fmt: skip


class Bars(unittest.TestCase):
    """The spread of a point, and its name in the caption, by what its rows allow."""

    def setUp(self):
        rows = records.read(DATA / "sweep.csv", sweep.COLUMNS).rows
        self.rows = rows[(rows["ranks"] == 4) & (rows["algorithm"] == "ring")]

    def test_one_launch_with_an_interval_shows_it(self):
        points = sweep.summary(self.rows)
        self.assertEqual(list(points["low"]), list(self.rows.sort_values("size_bytes")["time_us_ci_low"]))
        self.assertEqual(set(points["bars"]), {sweep.INTERVAL})

    def test_too_few_readings_for_an_interval_show_the_smallest_and_the_largest(self):
        few = self.rows.assign(iterations=3, warmups=0, time_us_ci_low=np.nan, time_us_ci_high=np.nan)
        points = sweep.summary(few)
        few = few.sort_values("size_bytes")
        self.assertEqual(list(points["low"]), list(few["time_us_min"]))
        self.assertEqual(list(points["high"]), list(few["time_us_max"]))
        self.assertEqual(
            sweep.medians(points),
            "Points: medians of 3 readings after 0 warm-ups, 1 launch; bars: smallest and largest reading.",
        )

    def test_several_launches_show_their_smallest_and_largest_median(self):
        slower = self.rows.assign(launch=1, time_us_p50=self.rows["time_us_p50"] * 2)
        points = sweep.summary(pd.concat([self.rows, slower], ignore_index=True))
        self.assertEqual(list(points["high"]), [2 * low for low in points["low"]])
        self.assertTrue(sweep.medians(points).endswith(", 2 launches; bars: smallest and largest median of a launch."))

    def test_a_figure_with_two_kinds_of_bars_names_both(self):
        few = self.rows.assign(algorithm="few", time_us_ci_low=np.nan, time_us_ci_high=np.nan)
        words = sweep.medians(sweep.summary(pd.concat([self.rows, few], ignore_index=True)))
        self.assertIn(f"bars: {sweep.INTERVAL}, or {sweep.READINGS}.", words)


class Step(unittest.TestCase):
    def test_the_fastest_cap_is_marked(self):
        rows = records.read(DATA / "step.csv", step.COLUMNS).rows
        (figure,) = dict(step.draw(rows)).values()
        other = rows.assign(dtype="f16", time_us_p50=1.0)
        both = dict(step.draw(pd.concat([rows, other], ignore_index=True)))
        self.assertEqual(sorted(both), ["step-resnet18-threads-2-ranks-f16", "step-resnet18-threads-2-ranks-f32"])
        (axes,) = figure.axes
        texts = [text.get_text() for text in axes.texts]
        self.assertTrue(any(text.startswith("best: ") for text in texts), texts)


class BadFiles(unittest.TestCase):
    """One line with file and line number, exit 2, nothing written."""

    def refuse(self, text: str, expected: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.csv"
            path.write_text(text)
            done = plot(path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(done.stderr, f"plot.py: {path}:{expected}\n")
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["bad.csv"])

    def test_an_empty_file(self):
        self.refuse("", "1: the file is empty, expected a header line")

    def test_a_header_alone(self):
        self.refuse("a,b\n", "2: no rows after the header")

    def test_a_missing_column(self):
        lines = (DATA / "sweep.csv").read_text().replace("time_us_p50", "time_p50", 1)
        self.refuse(lines, "1: column 'time_us_p50' is missing")

    def test_a_line_cut_off_in_the_middle(self):
        text = (DATA / "sweep.csv").read_text()
        count = text.count("\n")
        fields = text.splitlines()[0].count(",") + 1
        cut = "\n".join([*text.splitlines()[:-1], "1,x,0"])
        self.refuse(cut, f"{count}: 3 fields where the header names {fields} (cut off?)")

    def test_a_last_line_without_its_end(self):
        text = (DATA / "sweep.csv").read_text()
        count = text.count("\n")
        self.refuse(text[:-1], f"{count}: the last line has no line end (cut off?)")

    def test_a_word_where_a_number_should_be(self):
        lines = (DATA / "sweep.csv").read_text().splitlines(keepends=True)
        place = lines[0].split(",").index("rounds")
        cells = lines[1].split(",")
        cells[place] = "many"
        text = "".join([lines[0], ",".join(cells), *lines[2:]])
        self.refuse(text, "2: rounds is 'many', expected a number")

    def test_not_a_number_is_no_number(self):
        lines = (DATA / "sweep.csv").read_text().splitlines(keepends=True)
        place = lines[0].split(",").index("time_us_p50")
        cells = lines[1].split(",")
        cells[place] = "nan"
        text = "".join([lines[0], ",".join(cells), *lines[2:]])
        self.refuse(text, "2: time_us_p50 is 'nan', expected a number")

    def test_a_file_that_is_not_there(self):
        done = plot("/nonexistent/results.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nonexistent/results.csv", done.stderr)

    def test_rows_that_all_failed_draw_nothing_and_say_so(self):
        text = (DATA / "sweep.csv").read_text().replace(",ok,", ",failed,")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "failed.csv"
            path.write_text(text)
            self.assertEqual(plot(path).returncode, 6)


class MissingLibraries(unittest.TestCase):
    def test_it_names_what_is_missing_and_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "pandas.py").write_text(
                "raise ModuleNotFoundError(\"No module named 'pandas'\", name='pandas')\n"
            )
            done = plot("x.csv", PYTHONPATH=folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("pandas is missing", done.stderr)
        self.assertIn("apt-get install python3-matplotlib python3-pandas", done.stderr)


if __name__ == "__main__":
    unittest.main()
