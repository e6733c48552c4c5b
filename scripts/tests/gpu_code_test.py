"""`scripts/gpu_code.sh`, by which CI tells whether code for GPUs was built."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from program import ROOT

SCRIPT = ROOT / "scripts/gpu_code.sh"
CODE = Path(os.environ.get("COLLMARK_FATBIN", ROOT / "build/kernels/kernels.fatbin"))


class Code(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room = Path(room.name)

    def run_it(self, build, *nvcc):
        """(exit code, what it said); `nvcc`: that there is one."""
        for name in nvcc:
            (self.room / "bin").mkdir()
            (self.room / "bin" / name).touch(0o755)
        own = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(self.room)}
        done = subprocess.run([SCRIPT, build], capture_output=True, text=True, check=False, env=own)
        return done.returncode, done.stdout + done.stderr

    @unittest.skipIf(Path("/usr/bin/nvcc").exists(), "nvcc lies where every program does")
    def test_without_nvcc_it_is_skipped_with_its_reason(self):
        code, said = self.run_it(self.room)
        self.assertEqual((code, said.splitlines()[-1]), (0, "0 passed, 0 failed"), said)
        self.assertIn(f"skipped: no code for GPUs was built, as there is no nvcc on PATH or in {self.room}/bin", said)

    def test_nvcc_and_no_code_is_a_failure(self):
        code, said = self.run_it(self.room, "nvcc")
        self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed"), said)
        self.assertIn(f"FAILED: {self.room}/bin/nvcc is there, but no code for GPUs was built", said)

    @unittest.skipUnless(CODE.exists(), "built without nvcc")
    def test_code_is_shown_kernel_by_kernel(self):
        code, said = self.run_it(CODE.parent.parent)
        self.assertEqual((code, said.splitlines()[-1]), (0, "1 passed, 0 failed"), said)
        self.assertIn("ring_all_reduce ", said)


if __name__ == "__main__":
    unittest.main()
