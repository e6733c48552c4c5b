"""The command line as a process: exit codes, what goes to stdout and to stderr, golden output.

Deterministic output is compared with results/golden; after a wanted change, write it anew with
    COLLMARK=build/collmark python3 scripts/tests/cli_test.py --write-golden
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program import PROGRAM, ROOT, CommandLineTest, collmark

GOLDEN = ROOT / "results" / "golden"

GOLDEN_OUTPUT = {
    "explain_ring_3.txt": ("explain", "ring", "--ranks", "3"),
    "explain_ring_4.txt": ("explain", "ring", "--ranks", "4"),
    "explain_ring_3.json": ("explain", "ring", "--ranks", "3", "--json"),
    "explain_ring_4.json": ("explain", "ring", "--ranks", "4", "--json"),
    "explain_parameter_server_4.txt": ("explain", "parameter_server", "--ranks", "4"),
    "explain_ring_64.txt": ("explain", "ring", "--ranks", "64"),
}


class Program(CommandLineTest):
    def test_version_names_commit_build_type_and_libraries(self):
        for word in ("collmark 0.", "commit ", "compiler ", "fmt ", "CLI11 ", "sanitizers "):
            self.assertIn(word, self.assert_ok("--version"))

    def test_help_of_every_command_has_an_example(self):
        listed = self.assert_ok("--help")
        for command in ("doctor", "algorithms", "explain", "verify", "sweep", "step", "links", "fit"):
            self.assertIn(command, listed)
            text = self.assert_ok(command, "--help")
            self.assertIn(f"Usage: collmark {command}", text)
            self.assertIn(f"Example:  collmark {command}", text)

    def test_no_command_is_a_usage_error_that_lists_them(self):
        self.assert_refused(words=["expected a command", "doctor"])

    def test_misspelt_command_is_suggested_even_with_flags_behind_it(self):
        self.assert_refused("explian", words=["unknown command 'explian' (did you mean 'explain'?)"])
        self.assert_refused("verfy", "ring", "--ranks", "2", words=["(did you mean 'verify'?)"])

    def test_misspelt_flag_is_suggested_and_never_ignored(self):
        self.assert_refused("explain", "ring", "--rnks", "4", words=["'--rnks' (did you mean '--ranks'?)"])
        self.assert_refused("verify", "--jsn", words=["'--jsn' (did you mean '--json'?)"])
        self.assert_refused("--versoin", words=["'--versoin' (did you mean '--version'?)"])

    def test_misspelt_value_is_suggested_and_never_becomes_a_default(self):
        self.assert_refused("algorithms", "--collective", "allreduce", words=["did you mean 'all_reduce'?"])
        self.assert_refused("explain", "rnig", "--ranks", "4", words=["did you mean 'ring'?"])

    def test_closed_reader_is_no_error(self):
        shell = f"set -o pipefail; '{PROGRAM}' algorithms --json | head -c 1 >/dev/null"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, check=False, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_full_disk_under_stdout_is_exit_9(self):
        if not Path("/dev/full").exists():
            self.skipTest("no /dev/full here")
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAM, "algorithms", "--json"],
                stdout=full,
                check=False,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
            )
        self.assertEqual(done.returncode, 9)
        self.assertIn("No space left on device", done.stderr)

    def test_out_of_memory_is_one_line_and_exit_1(self):
        if "sanitizers none" not in self.assert_ok("--version"):
            self.skipTest("sanitizers reserve more address space than any limit")
        shell = f"ulimit -v 200000; '{PROGRAM}' verify ring --collective all_reduce --ranks 1024"
        done = subprocess.run(["bash", "-c", shell], capture_output=True, check=False, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (1, "collmark: out of memory\n"))


class Golden(CommandLineTest):
    def test_deterministic_output_is_as_recorded(self):
        for name, arguments in GOLDEN_OUTPUT.items():
            with self.subTest(name):
                self.assertEqual(self.assert_ok(*arguments), (GOLDEN / name).read_text())


class Explain(CommandLineTest):
    def test_trace_is_a_timeline_with_a_row_per_rank_and_an_arrow_per_message(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ring.json")
            self.assert_ok("explain", "ring", "--ranks", "4", "--trace", path)
            events = json.loads(Path(path).read_text())["traceEvents"]
            self.assertEqual({e["tid"] for e in events if e["ph"] == "X"}, {0, 1, 2, 3})
            self.assertEqual(sum(e["ph"] == "s" for e in events), 4 * 6)
            self.assertEqual([p.name for p in Path(folder).iterdir()], ["ring.json"])

    def test_trace_that_cannot_be_written_is_refused_and_leaves_nothing(self):
        self.assert_refused(
            "explain",
            "ring",
            "--ranks",
            "4",
            "--trace",
            "/no/such/folder/x.json",
            words=["/no/such/"],
        )
        with tempfile.TemporaryDirectory() as folder:
            self.assert_refused("explain", "ring", "--ranks", "4", "--trace", folder, words=["Is a directory"])
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_written_schedule_is_read_back_explained_and_proved(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            Path(path).write_text(self.assert_ok("explain", "two_shot", "--ranks", "5", "--json"))
            self.assertIn("5 ranks, 5 chunks, 2 steps", self.assert_ok("explain", f"file:{path}"))
            self.assertIn("proved", self.assert_ok("verify", f"file:{path}"))
            self.assert_refused("explain", f"file:{path}", "--ranks", "4", words=["is for 5 ranks, not for 4"])

    def test_name_of_several_collectives_asks_which(self):
        self.assert_refused("explain", "binomial", "--ranks", "4", words=["broadcast and of reduce", "--collective"])
        self.assertIn(
            "rank 2 ends",
            self.assert_ok("explain", "binomial", "--ranks", "4", "--collective", "reduce", "--root", "2"),
        )

    def test_rank_counts_and_costs_that_make_no_sense_are_refused(self):
        self.assert_refused("explain", "ring", words=["--ranks"])
        self.assert_refused("explain", "ring", "--ranks", "0", words=["the least rank count is 1", "^"])
        self.assert_refused("explain", "ring", "--ranks", "2:4", words=["takes one number"])
        self.assert_refused("explain", "ring", "--ranks", "99999999999", words=["largest", "^"])
        self.assert_refused("explain", "ring", "--ranks", "4", "--root", "2", words=["no root"])
        self.assert_refused("explain", "binomial", "--collective", "reduce", "--ranks", "4", "--root", "4")
        self.assert_refused("explain", "ring", "--ranks", "4", "--alpha", "-1", words=["--alpha"])
        self.assert_refused("explain", "ring", "--ranks", "4", "--alpha", "nan", words=["--alpha"])
        self.assert_refused("explain", "ring", "--ranks", "4", "--size", "64KB", words=["64KB", "^"])
        self.assert_refused("explain", "swing", "--ranks", "3", words=["power of two"])
        self.assert_refused("explain", "ring:4", "--ranks", "4", words=["takes no parameter"])
        self.assert_refused("explain", "ring", "--ranks", "65536", "--json", words=["fewer ranks"])
        self.assert_refused("explain", "two_shot", "--ranks", "65536", words=["fewer ranks"])
        self.assert_refused("explain", "ring", "--ranks", "2147483647", words=["at most 65,536"])
        self.assert_refused("verify", "ring", "--ranks", "2:100000", words=["at most 2048"])


class Verify(CommandLineTest):
    def test_the_whole_catalogue_is_proved_for_1_to_33_ranks(self):
        done = self.assert_ok("verify", "--json")
        rows = json.loads(done)["algorithms"]
        names = [(a["collective"], a["name"]) for a in json.loads(self.assert_ok("algorithms", "--json"))["algorithms"]]
        self.assertEqual([(r["collective"], r["algorithm"]) for r in rows], names)
        for row in rows:
            with self.subTest(row["algorithm"]):
                self.assertEqual(row["wrong"], [])
                skipped = [s["ranks"] for s in row["skipped"]]
                self.assertEqual(sorted(row["proved"] + skipped), list(range(1, 34)))

    def wrong_ring(self, folder):
        """A ring of three that adds its first chunk twice."""
        schedule = json.loads(self.assert_ok("explain", "ring", "--ranks", "3", "--json"))
        schedule["steps"][1][0] = schedule["steps"][0][0]
        path = os.path.join(folder, "wrong.json")
        Path(path).write_text(json.dumps(schedule))
        return path

    def test_wrong_schedule_is_exit_5_with_a_counter_example(self):
        with tempfile.TemporaryDirectory() as folder:
            done = collmark("verify", f"file:{self.wrong_ring(folder)}", "ring")
            self.assertEqual(done.returncode, 5)
            self.assertIn("WRONG", done.stdout)
            self.assertRegex(done.stdout, r"wrong: all_reduce file:.*, 3 ranks: .*rank \d, chunk \d")
            self.assertRegex(done.stdout, r"all_reduce +ring +proved +1-33")
            document = json.loads(collmark("verify", "--json", f"file:{self.wrong_ring(folder)}").stdout)
            self.assertEqual(document["algorithms"][0]["verdict"], "wrong")
            self.assertTrue(document["algorithms"][0]["wrong"])

    def test_nothing_that_could_be_proved_is_exit_6(self):
        done = collmark("verify", "swing", "--ranks", "3")
        self.assertEqual(done.returncode, 6)
        self.assertIn("skipped 3", done.stdout)

    def test_broken_files_are_refused_by_path_and_place(self):
        good = self.assert_ok("explain", "ring", "--ranks", "3", "--json")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bad.json")
            for text, words in (
                (good[: len(good) // 2], ["ends in the middle"]),
                (good.replace('"src": 0', '"src": 3', 1), ["step 0, transfer 0", "'src'"]),
                (good.replace('"dst"', '"dts"', 1), ["step 0, transfer 0", "did you mean 'dst'?"]),
                ("\x7fELF\x00", ["bad.json:1:1", "not valid JSON"]),
            ):
                Path(path).write_text(text)
                self.assert_refused("verify", f"file:{path}", words=[path, *words])
            self.assert_refused("verify", f"file:{folder}", words=[folder, "cannot be read"])
            self.assert_refused("verify", "file:/no/such.json", words=["/no/such.json", "cannot be read"])


class Algorithms(CommandLineTest):
    def test_json_has_the_documented_shape(self):
        document = json.loads(self.assert_ok("algorithms", "--json"))
        self.assertEqual(list(document), ["algorithms"])
        for entry in document["algorithms"]:
            self.assertEqual(
                list(entry),
                [
                    "collective",
                    "name",
                    "parameter",
                    "default",
                    "ranks_up_to_33",
                    "formula",
                    "costs",
                    "source",
                ],
            )
            self.assertEqual(
                list(entry["formula"]),
                ["rounds", "wire_bytes_busiest", "bytes_reduced_busiest", "time"],
            )
            self.assertTrue(entry["source"], entry["name"])
            for cost in entry["costs"]:
                self.assertEqual(list(cost), ["ranks", "rounds", "wire_bytes_busiest_per_byte"])

    def test_ring_and_parameter_server_cost_what_the_literature_says(self):
        entries = json.loads(self.assert_ok("algorithms", "--collective", "all_reduce", "--json"))["algorithms"]
        by_name = {e["name"]: e for e in entries}
        for cost in by_name["ring"]["costs"]:
            n = cost["ranks"]
            self.assertAlmostEqual(cost["wire_bytes_busiest_per_byte"], 2 * (n - 1) / n)
            self.assertEqual(cost["rounds"], 2 * (n - 1))
        for cost in by_name["parameter_server"]["costs"]:
            self.assertEqual(cost["wire_bytes_busiest_per_byte"], cost["ranks"] - 1)


class Doctor(CommandLineTest):
    def test_names_every_backend_and_why_it_is_not_here(self):
        text = self.assert_ok("doctor")
        for word in (
            "cpu",
            "memory",
            "/dev/shm",
            "huge pages",
            "noise",
            "threads",
            "mpi",
            "cuda",
            "nccl",
        ):
            self.assertIn(word, text)
        document = json.loads(self.assert_ok("doctor", "--json"))
        self.assertEqual([b["name"] for b in document["backends"]], ["threads", "mpi", "cuda", "nccl"])
        self.assertTrue(document["backends"][0]["available"])
        self.assertTrue(all(b["reason"] for b in document["backends"]))


def write_golden():
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, arguments in GOLDEN_OUTPUT.items():
        (GOLDEN / name).write_text(collmark(*arguments).stdout)


if __name__ == "__main__":
    if "--write-golden" in sys.argv:
        write_golden()
    else:
        unittest.main()
