"""How scripts end: without the program, without a reader, by Ctrl-C."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from program import ROOT

SCRIPTS = ROOT / "scripts"
# Unbuffered, argparse itself would meet the closed pipe, and says nothing of it.
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
STARTED = ["cluster_limits", "compare_mpi", "compare_openmpi", "cubin", "kernel_faults", "mutate", "plot"]  # fmt: skip


class Ends(unittest.TestCase):
    def call(self, name, *words):
        command = [sys.executable, "-B", SCRIPTS / f"{name}.py", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    def test_where_nothing_is_built_one_line_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, flag in (("compare_mpi", "--build"), ("compare_openmpi", "--build"), ("cluster_limits", "")):
                nowhere = Path(folder, "build")
                done = self.call(name, *([flag, nowhere] if flag else ["--collmark", nowhere / "collmark"]))
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
                self.assertIn(f"{name}.py: {nowhere}/collmark is not there", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_a_reader_that_closes_early_sees_no_traceback(self):
        for name in STARTED:
            reader, writer = os.pipe()
            os.close(reader)
            command = [sys.executable, "-B", SCRIPTS / f"{name}.py", "--help"]
            done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60, env=BUFFERED)
            os.close(writer)
            self.assertEqual((done.returncode, done.stderr), (141, ""), name)

    def test_ctrl_c_shows_no_traceback(self):
        program = "import sys, time; sys.path.insert(0, sys.argv[1]); import script\n"
        program += "script.run(lambda: (print('on', flush=True), time.sleep(60)))"
        command = [sys.executable, "-B", "-c", program, SCRIPTS]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as waiting:
            waiting.stdout.readline()
            waiting.send_signal(signal.SIGINT)
            self.assertEqual(waiting.communicate(timeout=30), ("", ""))
        self.assertEqual(waiting.returncode, 130)


if __name__ == "__main__":
    unittest.main()
