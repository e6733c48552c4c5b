"""mutate.py on a toy project: killed, survived and endless mutants are told apart and kept."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES CXX)
add_executable(toy_test toy.cpp toy_test.cpp)
"""
TOY = """int twice(int a) { return a + a; }
int steps(int n) {
  int done = 0;
  while (n != done) ++done;
  return done;
}
int unused(int a) { return a * a; }
"""
TEST = """#include <cstdio>
int twice(int);
int steps(int);
int main() {
  std::puts("[ RUN      ] Toy.TwiceThreeIsSix");
  if (twice(3) != 6) return std::puts("[  FAILED  ] Toy.TwiceThreeIsSix"), 1;
  std::puts("[ RUN      ] Toy.StepsEnd"), std::fflush(stdout);
  if (steps(2) != 2) return std::puts("[  FAILED  ] Toy.StepsEnd"), 1;
}
"""


class Mutate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "scripts").mkdir()
        for name in ("mutate.py", "mutants.py", "mutant_build.py", "script.py"):
            shutil.copy(SCRIPTS / name, self.root / "scripts")
        files = {"CMakeLists.txt": CMAKE, "toy.cpp": TOY, "toy_test.cpp": TEST}
        files[".gitignore"] = "/build*/\n"
        for name, text in files.items():
            (self.root / name).write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)

    def mutate(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-B", self.root / "scripts" / "mutate.py", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_each_mutant_gets_its_verdict_and_the_second_run_remembers(self):
        arguments = ("toy.cpp", "--target", "toy_test", "--least-limit", "1")
        done = self.mutate(*arguments)
        self.assertEqual(done.returncode, 1, done.stderr)  # one survived
        self.assertIn("| toy.cpp | 1: `+` to `-` | killed | Toy.TwiceThreeIsSix |", done.stdout)
        self.assertIn("| toy.cpp | 3: `0` to `1` | survived |  |", done.stdout)
        self.assertIn("| toy.cpp | 7: `*` to `/` | survived |  |", done.stdout)
        self.assertIn("| toy.cpp | 4: `++` to `--` | timed out | Toy.StepsEnd |", done.stdout)
        self.assertEqual((self.root / "toy.cpp").read_text(), TOY)

        outcomes = self.root / "build-mutate" / "outcomes.jsonl"
        before = outcomes.read_text()
        again = self.mutate(*arguments)
        self.assertEqual(again.stdout, done.stdout)
        self.assertEqual(outcomes.read_text(), before)

    def test_a_compiler_launcher_in_the_environment_changes_nothing(self):
        log = self.root / "launched"
        launcher = self.root / "launcher"
        launcher.write_text(f'#!/bin/sh\necho "$1" >>"{log}"\nexec "$@"\n')
        launcher.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, CMAKE_CXX_COMPILER_LAUNCHER=str(launcher)):
            done = self.mutate("toy.cpp", "--target", "toy_test", "--least-limit", "1")
        self.assertNotIn("does not compile", done.stderr)
        self.assertIn("| toy.cpp | 1: `+` to `-` | killed | Toy.TwiceThreeIsSix |", done.stdout)
        self.assertFalse(log.exists(), "a mutant is compiled once: a cache only takes its time")

    def test_tests_that_fail_without_a_mutant_stop_it(self):
        (self.root / "toy.cpp").write_text(TOY.replace("a + a", "a - a"))
        done = self.mutate("toy.cpp", "--target", "toy_test")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Toy.TwiceThreeIsSix fails without any mutant", done.stderr)

    def test_a_list_builds_nothing(self):
        done = self.mutate("toy.cpp", "--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("toy.cpp line 1: + -> -", done.stdout)
        self.assertFalse((self.root / "build-mutate").exists())

    def test_a_missing_source_is_usage(self):
        self.assertEqual(self.mutate("nothing.cpp").returncode, 2)


if __name__ == "__main__":
    unittest.main()
