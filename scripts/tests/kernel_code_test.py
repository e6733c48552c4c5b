"""What nvcc has made of the kernels: wide accesses, nothing in local memory, no load that may see old data."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import cubin

ROOT = Path(__file__).resolve().parent.parent.parent
FATBIN = Path(os.environ.get("COLLMARK_FATBIN", "build/kernels/kernels.fatbin"))
ARCHS = (80, 90, 100)
# What moves no data in packs: 16 bytes of low latency are two words of 8, and a hop has no more.
THREADS = 512  # of a block: kKernelThreads of kernels/gpu_tuning.hpp
NOT_IN_PACKS = ("_ll_", "write_values", "compare_values", "_hops")

ONE_OF_EACH = """
extern "C" __global__ void wide(uint4* a, uint4* b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void narrow(char* a, char* b) { b[threadIdx.x] = a[threadIdx.x]; }
extern "C" __global__ void non_coherent(const uint4* a, uint4* b) { b[threadIdx.x] = __ldg(a + threadIdx.x); }
extern "C" __global__ void generic(uint4* a) {
  unsigned x, y, z, w;
  asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(a));
  asm volatile("st.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(w), "r"(z), "r"(y), "r"(x), "l"(a) : "memory");
}
extern "C" __global__ void shares(float* a) {
  __shared__ float all[1000];
  all[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = all[999 - threadIdx.x];
}
extern "C" __global__ void local(int* a, int n) {
  int kept[512];
  for (int i = 0; i < n; ++i) kept[a[i] & 511] = i;
  for (int i = 0; i < n; ++i) a[i] = kept[(a[i] * 7) & 511];
}
"""


def nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


@unittest.skipUnless(nvcc(), "no nvcc, so there is no code for a GPU to look at")
class TheReader(unittest.TestCase):
    def test_finds_one_of_each(self):
        for arch in ARCHS:
            with self.subTest(arch=arch), tempfile.TemporaryDirectory() as room:
                source, made = Path(room) / "one.cu", Path(room) / "one.cubin"
                source.write_text(ONE_OF_EACH)
                command = [nvcc(), "-cubin", f"-arch=sm_{arch}", "-Xptxas=-v", str(source), "-o", str(made)]
                done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
                ((found, kernels),) = cubin.images(made.read_bytes())
                self.assertEqual(found, arch)
                self.assertEqual(kernels["wide"].accesses, {("load", 16): 1, ("store", 16): 1})
                self.assertEqual(kernels["narrow"].accesses, {("load", 1): 1, ("store", 1): 1})
                self.assertEqual(kernels["generic"].accesses, {("load", 16): 1, ("store", 16): 1})
                self.assertEqual(kernels["non_coherent"].non_coherent, 1)
                self.assertEqual(kernels["wide"].non_coherent, 0)
                self.assertGreater(kernels["local"].local, 0)
                self.assertEqual(kernels["wide"].local, 0)
                said = re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", done.stderr, re.DOTALL)
                self.assertEqual({name: str(code.registers) for name, code in kernels.items()}, dict(said))
                self.assertGreaterEqual(kernels["shares"].shared, 4000)
                self.assertEqual(kernels["wide"].shared, 0)

    def test_counts_blocks_by_what_runs_out_first(self):
        many = cubin.Code(registers=16)
        self.assertEqual(many.resident(90, 32), 32)  # blocks
        self.assertEqual(many.resident(90, 1024), 2)  # threads
        self.assertEqual(cubin.Code(registers=128).resident(90, 512), 1)  # registers
        self.assertEqual(cubin.Code(registers=129).resident(90, 512), 0)
        self.assertEqual(cubin.Code(registers=16, shared=99 << 10).resident(90, 32), 2)  # shared memory
        self.assertEqual(cubin.Code(registers=16, shared=99 << 10).resident(80, 32), 1)


@unittest.skipUnless(FATBIN.exists(), f"built without nvcc: no {FATBIN.name}")
class EveryKernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.images = dict(cubin.images(FATBIN.read_bytes()))

    def test_is_there_for_every_architecture(self):
        self.assertEqual(set(self.images), set(ARCHS))
        names = {frozenset(kernels) for kernels in self.images.values()}
        self.assertEqual(len(names), 1)
        self.assertLessEqual({"ring_all_reduce_f32", "pack_bucket_bf16", "flag_hops"}, next(iter(names)))

    def each(self):
        for arch, kernels in self.images.items():
            for name, code in kernels.items():
                with self.subTest(arch=arch, kernel=name):
                    yield name, code

    def test_keeps_nothing_in_local_memory(self):
        for _, code in self.each():
            self.assertEqual(code.local, 0)

    def test_loads_nothing_past_coherence(self):
        for _, code in self.each():
            self.assertEqual(code.non_coherent, 0)

    def test_leaves_registers_for_a_block_of_the_usual_size(self):
        words = (ROOT / "kernels/gpu_tuning.hpp").read_text()
        self.assertIn(f"kKernelThreads = {THREADS};", words)
        for arch, kernels in self.images.items():
            for name, code in kernels.items():
                with self.subTest(arch=arch, kernel=name, registers=code.registers):
                    self.assertGreaterEqual(code.resident(arch, THREADS), 1)

    def test_moves_sixteen_bytes_at_once(self):
        for name, code in self.each():
            if not any(part in name for part in NOT_IN_PACKS):
                self.assertGreater(code.accesses["load", 16], 0)
                self.assertGreater(code.accesses["store", 16], 0)


if __name__ == "__main__":
    unittest.main()
