"""What a clumsy or hostile caller does: files that are not what they say, values beyond all bounds,
two runs at once, streams that are closed. One line says what is wrong; nothing crashes or hangs."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program import PROGRAM, CommandLineTest, collmark, environment
from sweep_support import record_of, rows_of

QUICK = ("sweep", "--algorithm", "ring", "-n", "2", "-w", "0")
ONE = (*QUICK, "--ranks", "2", "--sizes", "1K")


def transfer(src, dst, chunk=0, verb="reduce", **more):
    return {"src": src, "dst": dst, "src_chunk": chunk, "verb": verb, **more}


def signal(src, dst):
    return {"src": src, "dst": dst, "verb": "signal"}


# Each wrong in its own way, and each passes for right where the data hides it: under max, at 0 bytes,
# with fewer elements than chunks, or for want of data.
WRONG = {
    "counts a rank twice": {
        "steps": [[transfer(0, 1)], [transfer(0, 1)], [transfer(1, 0, verb="copy")]],
    },
    "does nothing": {"steps": []},
    "lets two copies race": {
        "ranks": 3,
        "steps": [[transfer(0, 2, verb="copy"), transfer(1, 2, verb="copy")]],
    },
    "copies in a circle": {
        "ranks": 3,
        "steps": [[transfer(r, (r + 1) % 3, verb="copy") for r in range(3)]],
    },
    "reads what nobody wrote": {
        "collective": "broadcast",
        "ranks": 3,
        "steps": [[transfer(2, 1, verb="copy")], [transfer(0, 2, verb="copy")]],
    },
    "forgets the last chunk": {
        "chunks": 8,
        "steps": [[transfer(0, 1, count=8), transfer(1, 0, count=7)]],
    },
    "adds what the server holds": {
        "ranks": 3,
        "servers": 1,
        "steps": [[transfer(0, 1), transfer(2, 1)], [transfer(1, 2, verb="copy")]],
    },
    "sends blocks to the wrong place": {
        "collective": "all_to_all",
        "chunks": 4,
        "steps": [[transfer(0, 1, 1, "copy", dst_chunk=3), transfer(1, 0, 0, "copy", dst_chunk=2)]],
    },
    "waits for half of the ranks": {
        "collective": "barrier",
        "ranks": 3,
        "steps": [[signal(0, 1)], [signal(1, 2)]],
    },
    "signals itself": {"collective": "barrier", "steps": [[signal(0, 0), signal(1, 1)]]},
}


class Folder(CommandLineTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.csv = self.folder / "x.csv"

    def files(self):
        return sorted(os.listdir(self.folder))


class WrongSchedules(Folder):
    def written(self, schedule):
        path = self.folder / "wrong.json"
        frame = {"format": "collmark-schedule", "version": 1, "collective": "all_reduce", "ranks": 2, "chunks": 1}
        path.write_text(json.dumps({**frame, **schedule}))
        return f"file:{path}"

    def test_a_sweep_never_calls_one_verified_whatever_the_data_hide(self):
        for how, schedule in WRONG.items():
            file = self.written(schedule)
            self.assertEqual(collmark("verify", file).returncode, 5, how)
            arguments = ["sweep", "--algorithm", file, "--ranks", str(schedule.get("ranks", 2)), "-n", "2", "-w", "0"]
            arguments += ["--collective", schedule.get("collective", "all_reduce"), "--placement", "out_of_place"]
            arguments += ["--sizes", "0,4,1000", "--op", "sum,max", "--timeout", "5"]
            with self.subTest(how):
                done = collmark(*arguments)
                self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
                self.assertNotIn("verified", done.stdout)
                self.assertIn("wrong schedule: ", done.stdout)

    def test_nor_does_a_training_step(self):
        file = self.written(WRONG["forgets the last chunk"])
        done = collmark("step", "--model", "dlrm-mlperf-dense", "--algorithm", file, "--ranks", "2", "-n", "1")
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("wrong schedule: ", done.stdout)


class BeyondAllBounds(Folder):
    def test_parameters_of_algorithms(self):
        for name in ("pipelined_tree:2147483647", "double_binary_tree:1000000000", "pipelined_tree:65537"):
            for command in (("explain", name, "--ranks", "4"), ("verify", name), ("sweep", "--algorithm", name)):
                self.assert_refused(*command, words=["from 1 to 65536"])

    def test_more_cases_than_anyone_waits_for(self):
        self.assert_refused("sweep", "--launches", "1000000000", "--dry-run", words=["cases are more than"])
        many = ("--ranks", "1:10000", "--sizes", "1:10000:+1", "--dry-run")
        self.assert_refused("sweep", *many, words=["cases are more than"])
        many = ("--bucket-bytes", "4:40000:+4", "--ranks", "1:1000", "--dry-run")
        self.assert_refused("step", "--model", "vgg16", *many, words=["cases are more than"])

    def test_more_ranks_than_can_be_threads_are_a_row_with_its_reason(self):
        done = collmark(*QUICK, "--sizes", "0", "--ranks", "2,100000,2147483647", "--csv", str(self.csv))
        self.assertEqual(done.returncode, 0, done.stderr)
        reasons = {row["ranks"]: row["reason"] for row in rows_of(self.csv)}
        self.assertEqual(reasons["2"], "")
        self.assertIn("at most 1024 ranks", reasons["100000"])
        self.assertIn("at most 1024 ranks", reasons["2147483647"])

    def test_a_rank_count_beyond_all_bounds_costs_no_time(self):
        for command in (("sweep", "--sizes", "8"), ("step", "--model", "dlrm-mlperf-dense")):
            begin = time.monotonic()
            self.assert_ok(*command, "--algorithm", "ring", "--ranks", "2147483647", "--dry-run")
            self.assertLess(time.monotonic() - begin, 10)

    def test_threads_that_the_system_refuses_are_a_row_with_its_reason(self):
        if "sanitizers none" not in self.assert_ok("--version"):
            self.skipTest("sanitizers reserve more address space than any limit")
        command = " ".join([PROGRAM, *QUICK, "--sizes", "1K", "--ranks", "2,400", "--csv", str(self.csv)])
        done = subprocess.run(
            ["bash", "-c", f"ulimit -v 600000; {command}"],
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
            env=environment(),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["ranks"]: row for row in rows_of(self.csv)}
        self.assertEqual((rows["2"]["status"], rows["400"]["status"]), ("ok", "skipped"))

    def test_sizes_whose_buffers_cannot_even_be_counted(self):
        sizes = "4611686018427387904,9223372036854775807"
        done = collmark(*QUICK, "--ranks", "2", "--sizes", sizes, "--csv", str(self.csv))
        self.assertEqual(done.returncode, 6, done.stderr)
        for row in rows_of(self.csv):
            self.assertIn("of memory", row["reason"])
        if len(os.sched_getaffinity(0)) > 1:
            self.assert_refused("links", "--size", "9223372036854775807", words=["of memory"], code=6)

    def test_numbers_that_are_not_whole(self):
        for flag in ("--launches", "--iterations", "--warmups", "--seed", "--root"):
            self.assert_refused("sweep", flag, "1e3", words=[flag, "'1e3' is no whole number"])
        self.assert_refused("explain", "binomial_tree", "--ranks", "4", "--root", "1.5", words=["no whole number"])

    def test_numbers_in_results(self):
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv)).returncode, 0)
        header, row = self.csv.read_text().splitlines()
        for column, value in (("ranks", "100000"), ("ranks", "2.5"), ("ranks", "1e300"), ("count", "-5")):
            cells = row.split(",")
            cells[header.split(",").index(column)] = value
            self.csv.write_text(f"{header}\n{','.join(cells)}\n")
            self.assert_refused("fit", str(self.csv), words=["x.csv:2: expected a whole number", column, value])


class NotWhatItSays(Folder):
    def test_directories_and_endless_devices_are_no_input(self):
        for command in (("fit",), ("sweep", "--config"), ("step", "--model", "vgg16", "--config")):
            self.assert_refused(*command, str(self.folder), words=[str(self.folder), "Is a directory"])

    def test_a_name_too_long_for_the_system(self):
        self.assert_refused(*ONE, "--csv", str(self.folder / ("x" * 300 + ".csv")), words=["File name too long"])

    def test_an_empty_value_is_a_variable_that_is_not_set(self):
        for word in (("--csv", ""), ("--csv=",), ("--samples", ""), ("--config", ""), ("--ranks", "")):
            self.assert_refused(*ONE, *word, words=["empty"])
        self.assert_refused("explain", "ring", "--ranks", "4", "--trace", "", words=["--trace", "empty"])

    def test_a_record_with_other_types_is_refused_by_key_and_the_csv_left_alone(self):
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv)).returncode, 0)
        before = self.csv.read_bytes()
        record = record_of(self.csv)
        for key, value in (
            ("run_id", 3),
            ("configuration", None),
            ("machine", "x"),
            ("machine", {"name": 3}),
            ("program", {"commit": []}),
            ("earlier", 3),
            ("started_utc", 3),
            ("complete", "yes"),
        ):
            with self.subTest(key=key, value=value):
                self.csv.with_suffix(".run.json").write_text(json.dumps({**record, key: value}))
                self.assert_refused(*ONE, "--csv", str(self.csv), "--resume", words=["x.run.json", key])
                self.assertEqual(self.csv.read_bytes(), before)

    def test_rows_with_a_seq_that_is_none_are_refused_by_line(self):
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv)).returncode, 0)
        header, row = self.csv.read_text().splitlines()
        for seq in ("-1", "1.5", "1e300", "x"):
            cells = row.split(",")
            cells[3] = seq
            self.csv.write_text(f"{header}\n{','.join(cells)}\n")
            self.assert_refused(*ONE, "--csv", str(self.csv), "--resume", words=["x.csv:2:", "seq", seq])

    def test_bytes_that_are_no_text_are_recorded_all_the_same(self):
        odd = os.fsencode(self.folder) + b"/\xff.csv"
        done = subprocess.run(
            [PROGRAM, *ONE, "--csv", odd],
            capture_output=True,
            check=False,
            timeout=60,
            env={**environment(), "COLLMARK_NOTE": os.fsdecode(b"\xff")},
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(odd[:-4] + b".run.json", encoding="utf-8") as file:
            self.assertTrue(json.load(file)["complete"])


class SeveralAtOnce(Folder):
    LONG = ("sweep", "--ranks", "2", "--sizes", "8:4K:x2", "--algorithm", "ring,two_shot", "--launches", "5")

    def test_a_file_that_another_run_writes_is_refused(self):
        arguments = (*self.LONG, "-n", "2000", "--time-budget", "0.2", "--csv", str(self.csv))
        first = subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        deadline = time.monotonic() + 30
        while not self.csv.exists() or self.csv.read_text().count("\n") < 2:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        for how in ("--resume", "--append"):
            self.assert_refused(*arguments, how, words=["x.csv", "is being written by another run"])

    def test_one_file_for_two_outputs_is_refused_and_nothing_is_left(self):
        for samples in (self.csv, self.csv.with_suffix(".run.json"), "/no/such/samples.csv", "/dev/full"):
            with self.subTest(samples=samples):
                self.assert_refused(*ONE, "--csv", str(self.csv), "--samples", str(samples))
                self.assertEqual(self.files(), [])


class Resumed(Folder):
    def test_nothing_left_to_do_is_no_failure(self):
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv)).returncode, 0)
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv), "--resume").returncode, 0)

    def test_what_failed_before_still_counts(self):
        self.assertEqual(collmark(*ONE, "--csv", str(self.csv), COLLMARK_TEST_CORRUPT="1").returncode, 5)
        done = collmark(*ONE, "--csv", str(self.csv), "--resume")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("failed before: 1", done.stderr)


class ClosedStreams(Folder):
    def test_what_is_printed_never_lands_in_an_output_file(self):
        for closed in (">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                self.csv.unlink(missing_ok=True)
                command = " ".join([PROGRAM, *ONE, "--csv", str(self.csv), closed])
                done = subprocess.run(["bash", "-c", command], check=False, timeout=60, env=environment())
                self.assertEqual(done.returncode, 0)
                self.assertEqual(len(self.csv.read_text().splitlines()), 2)
                self.assertEqual([row["status"] for row in rows_of(self.csv)], ["ok"])


if __name__ == "__main__":
    unittest.main()
