"""`scripts/gpu_check.sh --dry-run`: the commands that a machine with a GPU would run, on the stub driver."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from program import PROGRAM, ROOT, environment
from sweep_support import rows_of

SCRIPT = ROOT / "scripts/gpu_check.sh"


def check(*flags, **changes):
    return subprocess.run(
        [SCRIPT, *flags],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        env=environment(COLLMARK=PROGRAM, **changes),
    )


class DryRun(unittest.TestCase):
    def test_every_stage_runs_and_says_what_it_could_not_show(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check("--dry-run", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            for words in (
                "collmark stub",
                "memcheck: not run",
                "links not measured",
                "every result that there is is right",
            ):
                self.assertIn(words, done.stdout)
            for path in Path(folder).glob("*.csv"):
                for row in rows_of(path):
                    self.assertIn(row.get("status", "ok"), ("ok", "skipped"), row)
            steps = rows_of(Path(folder) / "step.csv")
            self.assertEqual({row["status"] for row in steps}, {"ok"})
            self.assertIn("per_tensor", {row["policy"] for row in steps})
            self.assertEqual(len(rows_of(Path(folder) / "hops.csv")), 4)  # two devices, each with itself and the other
            self.assertGreater(len(rows_of(Path(folder) / "types.csv")), 10)
            if "processes: not run" not in done.stdout:  # which says why
                self.assertEqual({row["status"] for row in rows_of(Path(folder) / "processes.csv")}, {"ok"})
            beside = rows_of(Path(folder) / "nccl.csv")
            self.assertEqual({row["status"] for row in beside}, {"ok"})
            self.assertIn("library:tree", {row["algorithm"] for row in beside})
            self.assertEqual({row["devices"] for row in rows_of(Path(folder) / "links.csv")}, {"2"})

    def test_without_nccl_it_goes_on_and_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check("--dry-run", "--out", folder, COLLMARK_STUB_NCCL="/no/such/libnccl.so.2")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, "NCCL not measured: +nccl +no: no NCCL: /no/such")

    def test_a_wrong_result_ends_it_with_5(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check("--dry-run", "--out", folder, COLLMARK_TEST_CORRUPT="0")
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertIn("algorithms failed", done.stderr)

    def test_without_a_folder_it_refuses(self):
        self.assertEqual(check().returncode, 2)


if __name__ == "__main__":
    unittest.main()
