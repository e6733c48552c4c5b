"""How many blocks a multiprocessor holds at once, as cubin.py counts them and as NVIDIA's own calculator does."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cubin

ARCHS = (80, 90, 100)
BLOCK_SIZES = (1, 32, 33, 128, 256, 384, 512)  # threads
REGISTERS = (16, 24, 32, 40, 64, 80, 96, 128, 168, 255)  # of a thread
SHARED = (0, 1, 1000, 4096, 20_000, 48 << 10)  # [bytes], more than a kernel of ours has

# Every combination, one number a line. What is the same for all three stands here once more.
PROGRAM = """
#include <cuda_occupancy.h>
#include <climits>
#include <cstdio>
#include <initializer_list>
int main() {
  for (const int arch : {%(archs)s}) for (const int threads : {%(threads)s})
    for (const int registers : {%(registers)s}) for (const int shared : {%(shared)s}) {
      cudaOccDeviceProp device;
      device.computeMajor = arch / 10;
      device.computeMinor = arch %% 10;
      device.maxThreadsPerBlock = 1024;
      device.maxThreadsPerMultiprocessor = 2048;
      device.regsPerBlock = device.regsPerMultiprocessor = 65536;
      device.warpSize = 32;
      device.sharedMemPerBlock = 48 << 10;
      device.sharedMemPerMultiprocessor = arch == 80 ? 164 << 10 : 228 << 10;
      device.sharedMemPerBlockOptin = device.sharedMemPerMultiprocessor - 1024;
      device.reservedSharedMemPerBlock = 1024;
      device.numSms = 1;
      cudaOccFuncAttributes kernel;
      kernel.maxThreadsPerBlock = INT_MAX;
      kernel.numRegs = registers;
      kernel.sharedSizeBytes = shared;
      cudaOccDeviceState state;
      state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
      cudaOccResult result;
      if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, 0)) return 1;
      std::printf("%%d\\n", result.activeBlocksPerMultiprocessor);
    }
}
"""


def toolkit():
    """Its headers."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return Path(nvcc).resolve().parent.parent / "include"


@unittest.skipUnless((toolkit() / "cuda_occupancy.h").exists(), "no CUDA toolkit, so nobody to ask")
class Residency(unittest.TestCase):
    def theirs(self):
        lists = {"archs": ARCHS, "threads": BLOCK_SIZES, "registers": REGISTERS, "shared": SHARED}
        with tempfile.TemporaryDirectory() as room:
            source, program = Path(room) / "ask.cpp", Path(room) / "ask"
            source.write_text(PROGRAM % {name: ", ".join(map(str, values)) for name, values in lists.items()})
            subprocess.run(["g++", "-std=c++20", "-isystem", toolkit(), source, "-o", program], check=True)
            return [int(line) for line in subprocess.check_output([program], text=True).split()]

    def test_is_that_of_the_toolkits_own_calculator(self):
        cases = [(a, t, r, s) for a in ARCHS for t in BLOCK_SIZES for r in REGISTERS for s in SHARED]
        theirs = self.theirs()
        self.assertEqual(len(theirs), len(cases))
        for (arch, threads, registers, shared), blocks in zip(cases, theirs, strict=True):
            with self.subTest(arch=arch, threads=threads, registers=registers, shared=shared):
                ours = cubin.Code(registers=registers, shared=shared).resident(arch, threads)
                self.assertEqual(ours, blocks)


if __name__ == "__main__":
    unittest.main()
