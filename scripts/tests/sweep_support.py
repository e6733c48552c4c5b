"""What the tests of `collmark sweep` share: running it from outside, reading what it wrote."""

import csv
import json
import os
import resource
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from program import environment

COLLMARK = os.environ.get("COLLMARK", "build/collmark")
QUICK = ["--ranks", "2", "--sizes", "8,1K", "--algorithm", "ring,two_shot", "-n", "5", "-w", "1"]
# Some seconds.
LONG = [
    "--ranks",
    "2",
    "--sizes",
    "8:64K:x2",
    "--algorithm",
    "ring,two_shot",
    "--launches",
    "5",
    "-n",
    "2000",
    "--time-budget",
    "0.2",
]


def sweep(*flags, env=None, limit=None):
    """Output and exit code of a finished sweep. `limit`: largest file it may write [bytes]."""

    def restrict():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [COLLMARK, "sweep", *map(str, flags)],
        capture_output=True,
        text=True,
        env={**os.environ, **(env or {})},
        timeout=120,
        preexec_fn=restrict if limit else None,
    )


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def record_of(path):
    return json.loads(Path(path).with_suffix(".run.json").read_text())


class Folder(unittest.TestCase):
    """A fresh folder for each test."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.csv = Path(self.folder.name) / "x.csv"

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def interrupt(self, number, *words, after):
        """What a long run says that is sent a signal once `after` rows are written; it must end in 130."""
        process = subprocess.Popen(
            [COLLMARK, *words, "--csv", str(self.csv)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        deadline = time.monotonic() + 60
        while not self.csv.exists() or self.csv.read_text().count("\n") <= after:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, said)
        self.assert_whole_rows()
        return said

    def assert_whole_rows(self):
        text = self.csv.read_text()
        self.assertTrue(text.endswith("\n"))
        for row in csv.reader(text.splitlines()):
            self.assertEqual(len(row), len(text.splitlines()[0].split(",")))
