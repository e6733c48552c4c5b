"""Runs the program as a process; shared by the end-to-end tests."""

import os
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("COLLMARK", str(ROOT / "build" / "collmark"))

LAUNCHER_VARIABLES = ("OMPI_COMM_WORLD", "MV2_COMM_WORLD", "PMI_", "SLURM_")


def environment(**changes):
    """This process's environment without any launcher's, so that the tests may run in a job."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_VARIABLES)}
    return {**kept, **changes}


def collmark(*arguments, **changes):
    """The finished process; `changes` to its environment."""
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
        env=environment(**changes),
    )


def shim(name):
    """A library to preload, built from shims/NAME.cpp."""
    return Path(os.environ.get("COLLMARK_SHIMS", Path(PROGRAM).parent / "shims")).resolve() / f"collmark_shim_{name}.so"


class CommandLineTest(unittest.TestCase):
    def assert_ok(self, *arguments):
        done = collmark(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_refused(self, *arguments, words=(), code=2):
        """Refused with `code`, nothing on stdout, and a message that starts and reads as one."""
        done = collmark(*arguments)
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stdout}{done.stderr}")
        self.assertEqual(done.stdout, "", arguments)
        self.assertTrue(done.stderr.startswith("collmark: "), done.stderr)
        self.assertEqual(done.stderr.count("collmark: "), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr, arguments)
        return done.stderr
