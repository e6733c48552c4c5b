"""Figures of rows whose kernels were asked differently (asked_tuning): never one line."""

import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
DATA = Path(__file__).resolve().parent / "data"
sys.path.insert(0, str(SCRIPTS))

import pandas as pd
from figures import records, step, sweep


class Tunings(unittest.TestCase):
    def read(self, name, *asked):
        """The rows of a file once for each tuning, as cuda's."""
        header, *lines = (DATA / name).read_text().splitlines()
        tuned = [f"{line},{words}".replace(",threads,", ",cuda,") for words in asked for line in lines]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tuned.csv"
            path.write_text("\n".join([f"{header},asked_tuning", *tuned]) + "\n")
            kind = step if name == "step.csv" else sweep
            return records.read(path, kind.COLUMNS).rows

    def lines(self, rows):
        figure = dict(sweep.draw(rows))["all_reduce-cuda-against-size-4-ranks"]
        return {line.get_label() for line in figure.axes[1].get_lines() if not line.get_label().startswith("_")}

    def test_two_tunings_are_two_lines_named_by_the_knob_that_differs(self):
        rows = self.read("sweep.csv", "threads=256", "channels=8 threads=256")
        names = {f"{name} channels={channels}" for name in ("ring", "parameter_server") for channels in ("auto", "8")}
        self.assertEqual(self.lines(rows), names)
        self.assertEqual(set(sweep.summary(rows)["launches"]), {1})

    def test_one_tuning_is_not_named(self):
        self.assertEqual(self.lines(self.read("sweep.csv", "threads=256")), {"ring", "parameter_server"})

    def test_knobs_say_nothing_of_other_backends(self):
        rows = self.read("sweep.csv", "channels=8", "channels=4")
        other = self.read("sweep.csv", "").assign(backend="threads")
        turned = records.turned(pd.concat([rows, other], ignore_index=True))
        self.assertEqual(set(turned[len(rows) :]), {""})
        self.assertEqual(set(turned[: len(rows)]), {" channels=8", " channels=4"})

    def test_of_a_step_too(self):
        (figure,) = dict(step.draw(self.read("step.csv", "slots=2", "slots=4"))).values()
        labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        self.assertTrue(any("slots=2, " in text for text in labels), labels)
        self.assertTrue(any("slots=4, " in text for text in labels), labels)


if __name__ == "__main__":
    unittest.main()
