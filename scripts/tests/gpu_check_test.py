"""`scripts/gpu_check.sh`: on the stub driver the commands that a machine with a GPU would run, in the packed form
too; and on a program that only says what a GPU might have measured, what becomes of it."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

from cuda_support import STUB
from program import PROGRAM, ROOT, environment
from sweep_support import rows_of

sys.path.insert(0, str(ROOT / "scripts"))
import gpu_stages

SCRIPT = ROOT / "scripts/gpu_check.sh"
NOWHERE = {"COLLMARK_CUDA_DRIVER": "/no/such/libcuda.so.1"}
OF_SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so")

# Stands in for collmark: its rows are as fast as FAKE_SPEED says, a part of the speed of its copy.
FAKE = """#!/usr/bin/env python3
import csv, os, signal, sys, time
sys.path.insert(0, "@SCRIPTS@")
import gpu_limits
command, flags = sys.argv[1], dict(zip(sys.argv[2::1], sys.argv[3::1]))
if command == "doctor":
    print("  cuda  yes: Fake 9000 (GPU-12, sm_90, 132 multiprocessors)")
if command == "--version":
    print("collmark fake, MPI none")
if command == "verify":
    print("9 results compared with the reference bit for bit, 0 differ; 2 kernels on Fake 9000")
    if "FAKE_NO_ROOM" in os.environ:
        print("all_reduce  ring  equal  skipped 8: 8 ranks are 32 blocks; it holds 16 of ring_all_reduce_f32 at once")
if command == "links":
    with open(flags["--csv"], "w") as file:
        file.write("first,second,copy_gb_per_s,engine_gb_per_s,reason\\n0,0,1000,900,\\n")
if "--dry-run" in sys.argv:
    print(len(flags["--algorithm"].split(",")) + int(os.environ.get("FAKE_LOSES", 0)), "cases, all of them here")
    sys.exit()
if "FAKE_STAYS" in os.environ:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
if command == "sweep" and os.path.basename(flags["--csv"]) == os.environ.get("FAKE_SLEEPS", "") + ".csv":
    time.sleep(60)
if command == "sweep" and "COLLMARK_TEST_ABSENT_RANK" in os.environ:
    print(os.environ.get("FAKE_COMPLAINT", "rank 1 waited for rank 0 in step 0"))
    sys.exit(7)
if command == "sweep":
    speed, n, s = float(os.environ["FAKE_SPEED"]), gpu_limits.RANKS, gpu_limits.SIZE
    names = ["algorithm", "size_bytes", "ranks", "status", "reason", "tuning", "device", "time_us_p50",
             "time_us_ci_low", "time_us_ci_high", "wire_bytes_busiest", "wire_bytes_formula"]
    with open(flags["--csv"], "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(names)
        for name in flags["--algorithm"].split(","):
            moved = gpu_limits.bytes_moved(name.replace("_interpreted", ""), n, s) or s
            us = 1e6 * moved / 2e12 / speed
            rows.writerow([name, s, n, "ok", "", "channels=16", "Fake 9000", us, 0.99 * us, 1.01 * us,
                           os.environ.get("FAKE_BYTES", "7"), "7"])
"""


def check(*flags, script=SCRIPT, limit=280, **changes):
    return subprocess.run(
        [script, *flags], capture_output=True, text=True, check=False, timeout=limit, env=environment(**changes)
    )


def dry(*flags, **changes):
    return check("--dry-run", *flags, **{"COLLMARK": PROGRAM, **changes})


class Folders(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.room, self.out = Path(room.name), Path(room.name) / "out"

    def assert_exit(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)


class DryRun(Folders):
    def test_every_stage_runs_and_the_stub_is_measured_but_not_judged(self):
        done = dry("--out", self.out)
        self.assert_exit(done, 0)
        for words in ("collmark stub", "not claimed", "nothing is claimed"):
            self.assertIn(words, done.stdout)
        for words in ("holds ", "FAILS", "failed", "cut off", "not reached"):
            self.assertNotIn(words, done.stdout)
        for path in self.out.glob("*.csv"):
            for row in rows_of(path):
                self.assertIn(
                    row.get("status", "ok"), ("ok", "failed" if path.stem == "missing_rank" else "skipped"), row
                )
        self.assertIn("per_tensor", {row["policy"] for row in rows_of(self.out / "step.csv")})
        self.assertEqual(len(rows_of(self.out / "copy_after.csv")), 1)
        self.assertIn("misaligned=3", rows_of(self.out / "misaligned_3.csv")[0]["tuning"])
        if "processes             not run" not in done.stdout:  # which says why
            for stage in ("processes", "nccl_processes"):
                self.assertEqual({row["status"] for row in rows_of(self.out / f"{stage}.csv")}, {"ok"})
        self.assertIn("library:tree", {row["algorithm"] for row in rows_of(self.out / "nccl.csv")})
        self.assertEqual({row["devices"] for row in rows_of(self.out / "links.csv")}, {"2"})
        report = (self.out / "README.md").read_text()
        for words in (
            "no GPU, times mean nothing",
            "not claimed",
            "| missing_rank | ok |",
            "for want of time: nothing",
        ):
            self.assertIn(words, report)

    def test_a_device_of_one_block_for_each_multiprocessor_measures_every_claim(self):
        """As A100, H100, H200 and B200 are, whose multiprocessors hold one whole block of these kernels."""
        names = [f"claims_{i}" for i in range(3)]
        done = dry("--only", ",".join(["copy_before", *names]), "--out", self.out, COLLMARK_STUB_SHAPE="132x1")
        self.assert_exit(done, 0)
        for name in names:
            self.assertEqual({row["status"] for row in rows_of(self.out / f"{name}.csv")}, {"ok"})
        self.assertNotIn("\nopen ", done.stdout)
        asked = {row["tuning"].split(" slots")[0] for row in rows_of(self.out / "claims_2.csv")}
        self.assertEqual(asked, {f"channels={4 * 132 // 3} threads=8"})

    def test_a_tuning_that_does_not_fit_is_not_run_and_is_no_failure(self):
        done = dry("--only", "claims_0,claims_2", "--out", self.out, COLLMARK_STUB_FAULT="small_device")
        self.assertRegex(done.stdout, "claims_2 +not run .*holds 1 of [a-z_]+_f32 at once")
        self.assertNotIn("failed", done.stdout)

    def test_without_nccl_it_goes_on_and_says_so(self):
        done = dry("--only", "nccl_call,nccl", "--out", self.out, COLLMARK_STUB_NCCL="/no/such/libnccl.so.2")
        self.assert_exit(done, 0)
        self.assertRegex(done.stdout, "nccl_call +not run .*no NCCL: /no/such")
        self.assertRegex((self.out / "README.md").read_text(), r"\| nccl \| \d+ \| no NCCL")

    def test_a_wrong_result_ends_it_with_5_when_the_rest_has_run(self):
        done = dry("--only", "reference", "--out", self.room / "order", COLLMARK_STUB_FAULT="other_order")
        self.assert_exit(done, 5)
        self.assertRegex(done.stdout, "reference +failed ")
        done = dry("--only", "algorithms,copy_before", "--out", self.out, COLLMARK_TEST_CORRUPT="0")
        self.assert_exit(done, 5)
        self.assertRegex(done.stdout, "algorithms +failed .*wrong result")
        self.assertRegex(done.stdout, "copy_before +failed .*a kernel copied are wrong")


class Packed(Folders):
    def test_the_archive_runs_where_nothing_can_be_built(self):
        done = dry("--only", "package", "--out", self.out)
        self.assert_exit(done, 0)
        archive = self.out / "collmark-gpu-check.tar.gz"
        self.assertLess(archive.stat().st_size, 60 << 20)
        with tarfile.open(archive) as packed:
            packed.extractall(self.room)
        there = self.room / "collmark-gpu-check"
        for name in ("bin/collmark", "bin/collmark_micro"):
            self.assertIn(name, (there / "HOW-TO-RUN.txt").read_text())
            own = {**os.environ, "LD_LIBRARY_PATH": f"{there}/lib:{there}/lib/cxx"}
            linked = subprocess.run(["ldd", there / name], capture_output=True, text=True, check=True, env=own).stdout
            for line in linked.splitlines():
                if not any(words in line for words in OF_SYSTEM):
                    self.assertIn(f" => {there}/lib/", line)
        stages = "algorithms,claims_0,copy_before,packing,package"
        bare = {"PATH": "/usr/bin:/bin", "COLLMARK_STUB_DRIVER": STUB}
        command = [there / "scripts/gpu_check.sh", "--dry-run", "--only", stages]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=bare, cwd="/")
        self.assert_exit(done, 0)
        self.assertRegex(done.stdout, "package +not run .*this is the packed form")
        (folder,) = (there / "results").glob("gpu-collmark-stub-cpu-no-gpu-20*")
        self.assertGreater(len(rows_of(folder / "algorithms.csv")), 5)
        done = subprocess.run(command[:1], capture_output=True, text=True, check=False, env={**bare, **NOWHERE})
        self.assertEqual((done.returncode, "no CUDA driver" in done.stderr), (77, True), done.stderr)

    def test_a_program_that_is_not_there_is_named(self):
        done = subprocess.run(
            [ROOT / "scripts/gpu_package.py", "--program", "/no/such/collmark", self.room / "a.tar.gz"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, "no /no/such/collmark" in done.stderr), (1, True), done.stderr)


class OnAMadeUpGpu(Folders):
    def setUp(self):
        super().setUp()
        self.fake = self.room / "collmark"
        self.fake.write_text(FAKE.replace("@SCRIPTS@", str(ROOT / "scripts")))
        self.fake.chmod(0o755)

    def run_it(self, *flags, **changes):
        return check("--out", self.out, *flags, **{"COLLMARK": str(self.fake), "FAKE_SPEED": "0.9", **changes})

    def test_fast_kernels_are_what_is_claimed_of_them(self):
        done = self.run_it()
        self.assert_exit(done, 0)
        self.assertEqual(done.stdout.count("\nholds "), 4, done.stdout)
        self.assertRegex(done.stdout, "links +not run .*one GPU: no link between GPUs is measured")
        self.assertTrue((self.out / "README.md").read_text().startswith("# GPU check on Fake 9000, 20"))
        self.assert_exit(check("--judge", self.out), 0)

    def test_slow_ones_end_it_with_5_today_and_when_it_is_judged_again(self):
        done = self.run_it("--only", "copy_before,claims_0", FAKE_SPEED="0.8")
        self.assert_exit(done, 5)
        self.assertEqual((done.stdout.count("\nholds "), done.stdout.count("\nFAILS ")), (2, 2), done.stdout)
        self.assert_exit(check("--judge", self.out), 5)

    def test_claims_that_nothing_decides_are_open(self):
        done = self.run_it("--only", "claims_1")
        self.assert_exit(done, 6)
        self.assertEqual(done.stdout.count("\nopen "), 3, done.stdout)

    def test_what_time_cuts_off_and_what_it_does_not_reach_is_listed(self):
        begin = time.monotonic()
        done = self.run_it("--minutes", "0.05", FAKE_SLEEPS="algorithms")
        self.assertLess(time.monotonic() - begin, 30)
        self.assert_exit(done, 6)
        self.assertRegex(done.stdout, "algorithms +cut off")
        self.assertRegex(done.stdout, "claims_0 +not reached")
        self.assertIn("for want of time: algorithms, types, ", (self.out / "README.md").read_text())

    def test_a_proof_that_is_cut_off_proves_nothing_and_one_that_ignores_an_interrupt_hangs(self):
        done = self.run_it("--only", "algorithms", "--minutes", "0.05", FAKE_SLEEPS="algorithms")
        self.assert_exit(done, 6)
        self.assertRegex(done.stdout, "algorithms +cut off .*after 0 of 24 cases: that proves nothing")
        self.out = self.room / "again"
        done = self.run_it("--only", "algorithms", "--minutes", "0.05", FAKE_SLEEPS="algorithms", FAKE_STAYS="1")
        self.assert_exit(done, 7)
        self.assertRegex(done.stdout, "algorithms +failed .*an interrupt did not end it")

    def test_a_measurement_that_is_cut_off_leaves_its_claims_open_and_fails_nothing(self):
        done = self.run_it("--only", "times", "--minutes", "0.05", FAKE_SLEEPS="times")
        self.assert_exit(done, 0)
        self.assertRegex(done.stdout, "times +cut off")

    def test_a_proof_of_fewer_rows_than_planned_or_without_room_for_a_kernel_is_not_whole(self):
        done = self.run_it("--only", "types", FAKE_LOSES="2")
        self.assert_exit(done, 6)
        self.assertRegex(done.stdout, "types +incomplete .*12 of 14 cases were run")
        self.out = self.room / "again"
        done = self.run_it("--only", "reference", FAKE_NO_ROOM="1")
        self.assert_exit(done, 6)
        self.assertRegex(done.stdout, "reference +incomplete .*holds 16 of ring_all_reduce_f32 at once")

    def test_a_proof_that_is_not_reached_is_none(self):
        done = self.run_it("--only", "copy_before,types", "--minutes", "0.001")
        self.assert_exit(done, 6)
        self.assertRegex(done.stdout, "types +not reached")

    def test_other_bytes_than_the_formulas_are_wrong(self):
        done = self.run_it("--only", "types", FAKE_BYTES="8")
        self.assert_exit(done, 5)
        self.assertRegex(done.stdout, "types +failed .*its busiest rank moved 8 bytes, the formula has 7")

    def test_a_stage_that_should_fail_by_itself_and_is_cut_off_has_failed(self):
        done = self.run_it("--only", "missing_rank", "--minutes", "0.05", FAKE_SLEEPS="missing_rank")
        self.assert_exit(done, 7)
        self.assertIn("it hung", done.stdout)

    def test_a_hang_that_nobody_explains_is_no_success(self):
        done = self.run_it("--only", "missing_rank", FAKE_COMPLAINT="it took too long")
        self.assert_exit(done, 7)
        self.assertIn("'waited for rank 0' were expected: it took too long", done.stdout)


class Refusals(Folders):
    def test_no_gpu_is_exit_77_with_the_reason(self):
        done = check("--out", self.out, COLLMARK=PROGRAM, **NOWHERE)
        self.assert_exit(done, 77)
        self.assertIn("no CUDA driver: /no/such/libcuda.so.1", done.stderr)
        self.assertFalse(self.out.exists())

    def test_a_folder_with_something_in_it_and_stages_that_are_none_are_refused(self):
        (self.room / "rows.csv").write_text("")
        done = dry("--out", self.room)
        self.assertEqual((done.returncode, "is not empty" in done.stderr), (2, True), done.stderr)
        done = dry("--out", self.out, "--only", "claims_0,clams")
        self.assertEqual((done.returncode, "no stage clams" in done.stderr), (2, True), done.stderr)

    def test_rows_of_somebody_else_are_not_judged(self):
        (self.room / "claims.csv").write_text("a,b\n1,2\n")
        done = check("--judge", self.room)
        self.assertEqual((done.returncode, "not written by collmark sweep" in done.stderr), (2, True), done.stderr)


class Proofs(unittest.TestCase):
    def test_name_every_algorithm_and_every_kernel(self):
        algorithms = re.findall(
            r"^[A-Z]+\((\w+), (\w+),", (ROOT / "collectives/catalogue.def").read_text(), re.MULTILINE
        )
        table = (ROOT / "kernels/hand_written.cpp").read_text()
        kernels = re.findall(r'HandWritten\{C::(\w+), "(\w+)", Way::(\w+)', table)
        self.assertGreater(len(kernels), 30)
        by_size = set(re.findall(r'HandWritten\{C::(\w+), "(\w+)", Way::low_latency, K::\w+,\s+k\w+\}', table))
        self.assertIn(("all_reduce", "ring"), by_size)
        self.assertNotIn(("all_reduce", "parameter_server"), by_size)
        for collective, name in algorithms:
            if (collective, name) not in by_size:
                self.assertIn(name, gpu_stages.PROVED[collective])
        for collective, name, way in kernels:
            chosen = way == "simple" and (collective, name) not in by_size  # without a word
            word = "" if chosen else {"simple": "/simple", "links": "/links", "low_latency": "/LL"}[way]
            self.assertIn(name + word, gpu_stages.PROVED[collective])


class Limits(unittest.TestCase):
    def test_of_what_one_gpu_does_add_up_to_less_than_8_minutes(self):
        place = gpu_stages.Place(Path(PROGRAM), Path("out"), 1, sanitizer="/usr/bin/compute-sanitizer")
        stages = [stage for stage in gpu_stages.stages(place, gpu_stages.Cases()) if "one GPU" not in stage.absent]
        self.assertLess(sum(stage.limit for stage in stages), 8 * 60)
        self.assertEqual(len({stage.name for stage in stages}), len(stages))

    def test_whoever_waits_says_so_before_its_stage_is_cut_off(self):
        place = gpu_stages.Place(Path(PROGRAM), Path("out"), 2, sanitizer="/usr/bin/compute-sanitizer")
        for stage in gpu_stages.stages(place, gpu_stages.Cases()):
            if PROGRAM in stage.command:
                patience = int(stage.command[stage.command.index("--timeout") + 1])
                self.assertLess(patience, stage.limit, stage.name)

    def test_every_kernel_meets_the_reference_before_anything_else(self):
        first = next(iter(gpu_stages.stages(gpu_stages.Place(Path(PROGRAM), Path("out"), 1), gpu_stages.Cases())))
        self.assertEqual((first.name, first.command[1:4]), ("reference", ["verify", "--backend", "cuda"]))
        for narrower in ("--dtype", "--op", "--placement", "--collective", "--size"):
            self.assertNotIn(narrower, first.command)


if __name__ == "__main__":
    unittest.main()
