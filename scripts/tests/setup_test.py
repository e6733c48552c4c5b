"""Tests of setup.sh, with a pretended package database: nothing is installed."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parent.parent / "setup.sh"


def run(*arguments: str, lacking: str = "", uid: int = 1000, apt: str = "exit 0"):
    """setup.sh where all packages but `lacking` are installed, for user `uid`."""
    with tempfile.TemporaryDirectory() as name:
        tools = {
            "dpkg-query": f'[[ ${{@: -1}} == "{lacking}" ]] || printf "install ok installed"',
            "id": f"echo {uid}",
            "apt-get": f'echo "apt-get $*" >> {name}/calls; {apt}',
        }
        for tool, body in tools.items():
            path = Path(name) / tool
            path.write_text(f"#!/usr/bin/env bash\n{body}\n")
            path.chmod(0o755)
        environment = {**os.environ, "PATH": f"{name}:{os.environ['PATH']}"}
        done = subprocess.run([SETUP, *arguments], env=environment, capture_output=True, text=True, check=False)
        calls = Path(name) / "calls"
        return done, calls.read_text() if calls.exists() else ""


class Setup(unittest.TestCase):
    def test_with_everything_there_it_says_so_and_needs_no_root(self):
        done, calls = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^setup: all \d+ packages are there\n$")
        self.assertEqual(calls, "")

    def test_as_root_it_installs_what_is_missing_and_nothing_else(self):
        done, calls = run(lacking="ninja-build", uid=0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("setup: installing ninja-build\n", done.stdout)
        self.assertIn("install -y --no-install-recommends ninja-build\n", calls)

    def test_without_root_a_missing_package_is_one_line_with_the_command(self):
        done, calls = run(lacking="libfmt-dev")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(calls, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("apt-get install -y --no-install-recommends libfmt-dev", done.stderr)

    def test_when_apt_fails_its_words_are_shown(self):
        done, _ = run(lacking="cmake", uid=0, apt='echo "E: no network" >&2; exit 100')
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no network", done.stderr)

    def test_an_unknown_option_is_refused(self):
        done, _ = run("--everything")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--everything", done.stderr)


if __name__ == "__main__":
    unittest.main()
