"""What nvcc has made of the kernels: wide accesses, nothing in local memory, no load that may see old data, flags
that are acquired and released for the whole system. The GPU's own header is weakened in turn, to show that the last
is noticed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import code_rules
import cubin

ROOT = Path(__file__).resolve().parent.parent.parent
FATBIN = Path(os.environ.get("COLLMARK_FATBIN", "build/kernels/kernels.fatbin"))
ARCHS = (80, 90, 100)
THREADS = 512  # of a block: kKernelThreads of kernels/gpu_tuning.hpp

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
#define FLAG(name, order, scope)                                                                          \
  extern "C" __global__ void acquire_##name(unsigned* a) {                                                \
    unsigned got;                                                                                         \
    asm volatile("ld." order "." scope ".global.u32 %0, [%1];" : "=r"(got) : "l"(a) : "memory");          \
    a[2] = got;                                                                                           \
  }
#define SET(name, order, scope)                                                                           \
  extern "C" __global__ void release_##name(unsigned* a) {                                                \
    a[2] = 1;                                                                                             \
    asm volatile("st." order "." scope ".global.u32 [%0], %1;" ::"l"(a), "r"(7) : "memory");              \
  }
FLAG(of_system, "acquire", "sys") FLAG(relaxed, "relaxed", "sys") FLAG(of_gpu, "acquire", "gpu")
SET(of_system, "release", "sys") SET(relaxed, "relaxed", "sys") SET(of_gpu, "release", "gpu")
extern "C" __global__ void fence_of_gpu(unsigned* a) {
  a[2] = 1;
  asm volatile("fence.acq_rel.gpu; st.relaxed.sys.global.u32 [%0], %1;" ::"l"(a), "r"(7) : "memory");
}
extern "C" __global__ void overtaken(unsigned* a) {
  asm volatile("fence.acq_rel.sys; st.global.u32 [%0+8], %1; st.relaxed.sys.global.u32 [%0], %1;" ::"l"(a), "r"(7)
               : "memory");
}
extern "C" __global__ void line(unsigned long long* a) {
  unsigned long long x, y;
  asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(a) : "memory");
  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(a + 2), "l"(y), "l"(x) : "memory");
}
extern "C" __global__ void swap(unsigned* a) { a[1] = atomicCAS(a, 0, 1); }
"""
# (acquires, looks, releases, bare stores, strong accesses of less than system scope)
FLAGS = {
    "wide": (0, 0, 0, 0, 0),
    "acquire_of_system": (1, 0, 0, 0, 0),
    "acquire_relaxed": (0, 1, 0, 0, 0),
    "acquire_of_gpu": (1, 0, 0, 0, 1),
    "release_of_system": (0, 0, 1, 0, 0),
    "release_relaxed": (0, 0, 0, 1, 0),
    "release_of_gpu": (0, 0, 0, 1, 1),
    "fence_of_gpu": (0, 0, 0, 1, 0),
    "overtaken": (0, 0, 0, 1, 0),
    "line": (0, 0, 0, 0, 0),
    "swap": (0, 0, 0, 0, 1),
}

# What is done to kernels/on_gpu/platform.hpp, and what must be found then in the kernels that play hops.
HOPS = """
#include "kernels/hop.hpp"
extern "C" __global__ void flag_hops(const __grid_constant__ collmark::Hops what) { collmark::flag_hops(what); }
extern "C" __global__ void low_latency_hops(const __grid_constant__ collmark::Hops what) {
  collmark::low_latency_hops(what);
}
extern "C" __global__ void word_hops(const __grid_constant__ collmark::Hops what) { collmark::word_hops(what); }
"""
VECTOR_STORE = '"st.relaxed.sys.global.v2.u64 [%0], {%1, %2};"'
WEAKENED = {
    "flags are the GPU's": ("thread_scope_system", "thread_scope_device", "less than system scope"),
    "flags are the block's": ("thread_scope_system", "thread_scope_block", "less than system scope"),
    "waits are relaxed": ("memory_order_acquire", "memory_order_relaxed", "no flag is acquired"),
    "signals are relaxed": ("memory_order_release", "memory_order_relaxed", "flags stored without a fence"),
    "waits are plain loads": (
        "return Flag(*word).load(cuda::memory_order_acquire)", "return *word", "no flag is acquired"
    ),
    "signals are plain stores": (
        "Flag(*word).store(value, cuda::memory_order_release)", "*word = value", "no flag is stored behind a fence"
    ),
    "lines are loaded for the GPU": ("ld.relaxed.sys.global.v2", "ld.relaxed.gpu.global.v2", "less than system scope"),
    "lines are stored for the GPU": ("st.relaxed.sys.global.v2", "st.relaxed.gpu.global.v2", "less than system scope"),
    "words are plain loads": ("return Word(*word).load(cuda::memory_order_relaxed)", "return *word", "8 bytes at once"),
    "words are plain stores": ("Word(*word).store(a, cuda::memory_order_relaxed)", "*word = a", "8 bytes at once"),
    "lines are plain loads": ("ld.relaxed.sys.global.v2", "ld.global.v2", "16 bytes at once"),
    "lines are plain stores": ("st.relaxed.sys.global.v2", "st.global.v2", "16 bytes at once"),
    "lines are stored in quarters": (
        VECTOR_STORE, '"{ .reg .b32 p, q; mov.b64 {p, q}, %1; st.relaxed.sys.global.u32 [%0], p; '
        'st.relaxed.sys.global.u32 [%0+4], q; mov.b64 {p, q}, %2; st.relaxed.sys.global.u32 [%0+8], p; '
        'st.relaxed.sys.global.u32 [%0+12], q; }"',
        "16 bytes at once",
    ),
    "lines are stored in halves": (
        VECTOR_STORE, '"st.relaxed.sys.global.u64 [%0], %1; st.relaxed.sys.global.u64 [%0+8], %2;"', "16 bytes at once"
    ),
}  # fmt: skip


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
                self.assertEqual(kernels["line"].lines, {"load": 1, "store": 1})
                self.assertEqual({name: self.flags(kernels[name]) for name in FLAGS}, FLAGS)

    def flags(self, code):
        return (code.acquires, code.looks, code.releases, code.bare_stores, code.narrow)

    def test_counts_blocks_by_what_runs_out_first(self):
        many = cubin.Code(registers=16)
        self.assertEqual(many.resident(90, 32), 32)  # blocks
        self.assertEqual(many.resident(90, 1024), 2)  # threads
        self.assertEqual(cubin.Code(registers=128).resident(90, 512), 1)  # registers
        self.assertEqual(cubin.Code(registers=129).resident(90, 512), 0)
        self.assertEqual(cubin.Code(registers=16, shared=99 << 10).resident(90, 32), 2)  # shared memory
        self.assertEqual(cubin.Code(registers=16, shared=99 << 10).resident(80, 32), 1)


@unittest.skipUnless(nvcc(), "no nvcc, so there is no code for a GPU to look at")
class AWeakenedHeader(unittest.TestCase):
    NAME = "kernels/on_gpu/platform.hpp"

    def broken(self, text, arch):
        """What is wrong with the kernels that play hops, with this text as the GPU's header."""
        with tempfile.TemporaryDirectory() as room:
            tree = Path(room)
            (tree / self.NAME).parent.mkdir(parents=True)
            (tree / self.NAME).write_text(text)
            (tree / "hops.cu").write_text(HOPS)
            made = tree / "hops.cubin"
            command = [nvcc(), "-std=c++20", "-fmad=false", "-cubin", f"-arch=sm_{arch}", f"-I{tree}", f"-I{ROOT}"]
            # A file beside its includer would be taken first: only platform.hpp includes this one, by its path.
            subprocess.run([*command, tree / "hops.cu", "-o", made], check=True, capture_output=True, timeout=120)
            ((_, kernels),) = cubin.images(made.read_bytes())
            self.assertEqual(set(kernels), {"flag_hops", "low_latency_hops", "word_hops"})
            return [words for _, words in code_rules.broken(kernels)]

    def test_is_noticed_in_the_code(self):
        sound = (ROOT / self.NAME).read_text()
        self.assertEqual([self.broken(sound, arch) for arch in ARCHS], [[], [], []])
        jobs = []
        for i, (name, (old, new, said)) in enumerate(WEAKENED.items()):
            self.assertEqual(sound.count(old), 1, name)
            jobs.append((name, sound.replace(old, new), ARCHS[i % len(ARCHS)], said))
        with ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda job: self.broken(job[1], job[2]), jobs)
        for (name, _, arch, said), words in zip(jobs, found, strict=True):
            with self.subTest(name, arch=arch):
                self.assertTrue(any(said in line for line in words), words)


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

    def test_acquires_and_releases_its_flags_for_the_whole_system(self):
        for name, code in self.each():
            self.assertEqual(list(code_rules.of_flags(name, code)), [])

    def test_is_checked_from_the_command_line_too(self):
        command = [sys.executable, "-B", ROOT / "scripts/cubin.py", FATBIN, "--check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"0 rules broken in {sum(map(len, self.images.values()))} kernels", done.stdout)

    def test_leaves_registers_for_a_block_of_the_usual_size(self):
        words = (ROOT / "kernels/gpu_tuning.hpp").read_text()
        self.assertIn(f"kKernelThreads = {THREADS};", words)
        for arch, kernels in self.images.items():
            for name, code in kernels.items():
                with self.subTest(arch=arch, kernel=name, registers=code.registers):
                    self.assertGreaterEqual(code.resident(arch, THREADS), 1)

    def test_moves_sixteen_bytes_at_once(self):
        for name, code in self.each():
            if not code_rules.is_one_of(name, code_rules.NOT_IN_PACKS):
                self.assertGreater(code.accesses["load", 16], 0)
                self.assertGreater(code.accesses["store", 16], 0)


if __name__ == "__main__":
    unittest.main()
