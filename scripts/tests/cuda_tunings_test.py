"""Lists of --channels, --threads, --slots and --slot-bytes on the stub driver: every combination is a case."""

import json
import re
import signal
import subprocess
import time
import unittest
from collections import Counter
from pathlib import Path

from cuda_support import STUB, stubbed
from cuda_test import CudaTest
from program import PROGRAM, ROOT, environment
from records_test import faults
from sweep_support import record_of, sweep

FEW = ("--ranks", "3", "--sizes", "1K", "--algorithm", "ring", "-n", "2", "-w", "1", "--time-budget", "0.01")
TWICE_TWO = (*FEW, "--threads", "2", "--channels", "1,2", "--slots", "2,4")
ASKED = tuple(f"channels={c} threads=2 slots={s}" for c in (1, 2) for s in (2, 4))


class Lists(CudaTest):
    def test_each_combination_is_a_row_that_says_what_was_asked_and_what_ran(self):
        rows, done = self.run_sweep("--backend", "cuda", *TWICE_TWO)
        self.assert_all_ok(rows)
        self.assertEqual(sorted(row["asked_tuning"] for row in rows), list(ASKED))
        for row in rows:
            self.assertTrue(row["tuning"].startswith(row["asked_tuning"] + " slot_bytes="), row)
        record = record_of(self.csv)
        configuration = record["configuration"]
        self.assertEqual([configuration[knob] for knob in ("channels", "threads", "slots")], [[1, 2], [2], [2, 4]])
        self.assertNotIn("slot_bytes", configuration)
        self.assertEqual(list(faults(record, json.loads((ROOT / "results/run.schema.json").read_text()))), [])
        table, comparison = done.stdout.split("\n\n", 1)
        self.assertRegex(table, r"^ranks +size +algorithm +channels +slots +time ")
        for channels, slots in ((1, 2), (1, 4), (2, 2), (2, 4)):
            self.assertEqual(len(re.findall(rf"(?m)^ +3 +1 KiB +ring +{channels} +{slots} ", table)), 1, table)
            self.assertEqual(len(re.findall(rf"(?m)^1 KiB +{channels} +{slots} +\d", comparison)), 1, comparison)

    def test_auto_is_what_is_chosen_where_nothing_is_asked_for(self):
        flags = ("--backend", "cuda", *FEW, "--threads", "2", "--slot-bytes", "auto,64,32:64:x2,auto")
        rows, _ = self.run_sweep(*flags)
        self.assert_all_ok(rows)
        tuning = {row["asked_tuning"]: row["tuning"] for row in rows}
        self.assertEqual(sorted(tuning), ["threads=2", "threads=2 slot_bytes=32", "threads=2 slot_bytes=64"])
        self.assertEqual(len(rows), 3)
        self.assertEqual(record_of(self.csv)["configuration"]["slot_bytes"], ["auto", 64, 32])
        self.csv.unlink()
        ((row,), _) = self.run_sweep(*flags[:-2])
        self.assertEqual(row["tuning"], tuning["threads=2"])

    def test_another_backend_gets_each_case_once(self):
        rows, _ = self.run_sweep("--backend", "threads,cuda", *TWICE_TWO)
        asked = sorted((row["backend"], row["asked_tuning"]) for row in rows)
        self.assertEqual(asked, [*(("cuda", words) for words in ASKED), ("threads", "")])
        self.assertEqual({row["status"] for row in rows}, {"ok"})

    def test_a_dry_run_counts_them(self):
        done = sweep("--backend", "cuda,threads", *TWICE_TWO, "--launches", "3", "--dry-run", env=stubbed())
        self.assertTrue(done.stdout.startswith("15 cases, 15 of them"), done.stdout)

    def test_lists_from_a_file_are_the_same(self):
        config = Path(self.folder.name) / "knobs.toml"
        config.write_text('[sweep]\nchannels = [1, 2]\nslots = ["auto", 2]\n')
        rows, _ = self.run_sweep("--backend", "cuda", *FEW, "--threads", "2", "--config", config)
        asked = [f"channels={c} threads=2{s}" for c in (1, 2) for s in ("", " slots=2")]
        self.assertEqual(sorted(row["asked_tuning"] for row in rows), asked)
        config.write_text('[sweep]\nchannels = "1,x"\n')
        done = sweep("--backend", "cuda", "--config", config, env=stubbed())
        self.assert_exit(done, 2)
        self.assertIn("knobs.toml:2: cannot read --channels '1,x'", done.stderr)

    def test_a_combination_that_does_not_fit_is_a_skipped_row_that_names_it(self):
        flags = (*FEW, "--threads", "2", "--channels", "1,4096")
        rows, done = self.run_sweep("--backend", "cuda", *flags)
        by_status = {row["status"]: row for row in rows}
        self.assert_skipped([by_status["skipped"]], "4096 channels", "12288 blocks")
        self.assertEqual(by_status["skipped"]["asked_tuning"], "channels=4096 threads=2")
        self.assertEqual(by_status["skipped"]["tuning"], "")
        self.assertEqual((len(rows), by_status["ok"]["asked_tuning"]), (2, "channels=1 threads=2"))
        self.assertRegex(done.stdout, r"ring +4096 +.*skipped: ")

    def test_a_case_that_ends_the_run_says_what_was_asked_for(self):
        absent = {"COLLMARK_TEST_ABSENT_RANK": "2"}
        ((row,), _) = self.run_sweep("--backend", "cuda", *TWICE_TWO, "--timeout", "0.1", code=7, **absent)
        self.assertEqual(row["status"], "failed")
        self.assertIn(row["asked_tuning"], ASKED)

    def test_a_run_that_was_killed_is_resumed_and_has_every_combination_once(self):
        flags = ("--backend", "cuda", *TWICE_TWO, "--launches", "6")
        words = [PROGRAM, "sweep", *flags, "--csv", str(self.csv)]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment(**stubbed()))
        deadline = time.monotonic() + 60
        while not self.csv.exists() or self.csv.read_text().count("\n") <= 3:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.kill()
        self.assertEqual(process.wait(timeout=30), -signal.SIGKILL)
        before = self.csv.read_text()
        self.assertLess(before.count("\n"), 25)
        other = [word if word != "2,4" else "2,8" for word in flags]
        done = sweep(*other, "--csv", self.csv, "--resume", env=stubbed())
        self.assert_exit(done, 2)
        self.assertIn("another configuration: slots was [2,4], is now [2,8]", done.stderr)
        rows, _ = self.run_sweep(*flags, "--resume")
        whole = before[: before.rfind("\n") + 1]
        self.assertTrue(self.csv.read_text().startswith(whole))
        self.assertEqual(sorted(int(row["seq"]) for row in rows), list(range(24)))
        self.assertEqual(Counter(row["asked_tuning"] for row in rows), dict.fromkeys(ASKED, 6))


if __name__ == "__main__":
    if not Path(STUB).exists():
        raise SystemExit(f"{STUB} is not built")
    unittest.main()
