"""`collmark step` from the outside: files, sentences, refusals."""

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

COLLMARK = os.environ.get("COLLMARK", "build/collmark")
RESNET18 = 46_758_048  # bytes of all gradients in f32
QUICK = ["--ranks", "2", "--algorithm", "ring", "-n", "2", "-w", "0"]


def step(*words, **environment):
    return subprocess.run(
        [COLLMARK, "step", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **environment},
    )


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Measured(unittest.TestCase):
    """One sweep of ResNet-18: two policies, two caps; and what it left behind."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.csv = Path(cls.folder.name) / "step.csv"
        cls.arguments = ["--model", "resnet18", "--bucket-policy", "ddp,per_tensor"]
        cls.arguments += ["--bucket-bytes", "4M,25M", *QUICK, "--csv", cls.csv]
        cls.run_once = step(*cls.arguments)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_ends_well(self):
        self.assertEqual(self.run_once.returncode, 0, self.run_once.stderr)

    def test_a_policy_without_a_cap_is_measured_once_and_said(self):
        caps = sorted((row["policy"], row["bucket_bytes"]) for row in rows(self.csv))
        self.assertEqual(caps, [("ddp", "26214400"), ("ddp", "4194304"), ("per_tensor", "")])
        self.assertIn("per_tensor has no cap", self.run_once.stderr)

    def test_the_identity_columns_come_first(self):
        header = self.csv.read_text(encoding="utf-8").splitlines()[0].split(",")
        self.assertEqual(header[:4], ["schema", "run_id", "launch", "seq"])
        self.assertLess(header.index("reason"), header.index("model"))
        self.assertEqual(len(header), len(set(header)))

    def test_every_row_is_verified_and_moves_what_the_formula_says(self):
        for row in rows(self.csv):
            self.assertEqual((row["status"], row["wrong"]), ("ok", "0"), row["reason"])
            self.assertEqual(row["wire_bytes_busiest"], row["wire_bytes_formula"])
            self.assertEqual(int(row["planned_bytes"]), RESNET18)
            self.assertEqual(int(row["sent_bytes"]), 2 * RESNET18)
            self.assertGreater(float(row["time_us_p50"]), 0)

    def test_buckets_add_up_to_the_model(self):
        buckets = rows(self.csv.with_name("step.buckets.csv"))
        for row in rows(self.csv):
            own = [b for b in buckets if b["seq"] == row["seq"]]
            self.assertEqual(len(own), int(row["buckets"]))
            self.assertEqual(sum(int(b["planned_bytes"]) for b in own), RESNET18)
            self.assertEqual(sum(int(b["sent_bytes"]) for b in own), int(row["sent_bytes"]))
            self.assertEqual(own[-1]["planned_bytes"], row["tail_bytes"])

    def test_ddp_at_25_mib_plans_the_buckets_that_pytorch_logs(self):
        seq = next(r["seq"] for r in rows(self.csv) if r["bucket_bytes"] == "26214400")
        buckets = rows(self.csv.with_name("step.buckets.csv"))
        sizes = [int(b["planned_bytes"]) for b in buckets if b["seq"] == seq]
        self.assertEqual(sizes, [2_052_000, 28_852_224, 15_853_824])

    def test_it_ends_in_a_sentence_with_the_flag_to_paste(self):
        sentences = self.run_once.stdout.strip().splitlines()
        self.assertTrue(any("best cap" in s and "Set bucket_cap_mb=" in s for s in sentences))
        self.assertTrue(sentences[-1].startswith("Fastest: resnet18, "), sentences[-1])

    def test_the_run_record_is_complete(self):
        record = json.loads(self.csv.with_name("step.run.json").read_text(encoding="utf-8"))
        self.assertTrue(record["complete"])
        self.assertEqual((record["planned"], record["finished"]), (3, 3))
        self.assertEqual(record["configuration"]["bucket_bytes"], [4194304, 26214400])

    def test_an_existing_file_is_refused_and_resume_has_nothing_left_to_do(self):
        before = self.csv.read_text(encoding="utf-8")
        again = step(*self.arguments)
        self.assertEqual(again.returncode, 2)
        self.assertIn("--resume", again.stderr)
        resumed = step(*self.arguments, "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        self.assertEqual(self.csv.read_text(encoding="utf-8"), before)
        self.assertIn("bucket_cap_mb=", resumed.stdout)
        other = step(*self.arguments, "--resume", "--seed", 7)
        self.assertEqual(other.returncode, 2)
        self.assertIn("another configuration", other.stderr)


class Other(unittest.TestCase):
    def test_json_is_one_document(self):
        run = step("--model", "dlrm-mlperf-dense", "--bucket-policy", "byteps", "--json", *QUICK)
        document = json.loads(run.stdout)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(len(document["steps"]), 1)
        planned = sum(b["planned_bytes"] for b in document["steps"][0]["buckets"])
        self.assertEqual(planned, 4 * 2_368_897)
        self.assertIn("BYTEPS_PARTITION_BYTES=4096000", document["verdicts"][0])

    def test_a_config_file_gives_flags_and_those_on_the_command_line_win(self):
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "step.toml"
            config.write_text('model = "vgg16"\nbucket-policy = "horovod"\n', encoding="utf-8")
            run = step("--config", config, "--bucket-policy", "deepspeed", "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("deepspeed", run.stdout)
        self.assertNotIn("horovod", run.stdout)

    def test_a_dry_run_shows_plans_and_measures_nothing(self):
        run = step("--model", "vgg16", "--bucket-policy", "horovod", "--dry-run")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("8,257,536", run.stdout)  # the tail
        self.assertIn("nothing was run", run.stdout)

    def test_a_model_that_does_not_fit_is_a_skipped_row(self):
        with tempfile.TemporaryDirectory() as folder:
            huge = Path(folder) / "huge.csv"
            huge.write_text("name,shape,numel\nw,1048576x1048576,1099511627776\n", encoding="utf-8")
            results = Path(folder) / "step.csv"
            run = step("--model", huge, "--csv", results, *QUICK)
            self.assertEqual(run.returncode, 6, run.stderr)  # nothing measured
            (row,) = rows(results)
            self.assertEqual(row["status"], "skipped")
            self.assertIn("of memory", row["reason"])

    def test_a_wrong_gradient_ends_in_5_and_is_named(self):
        run = step("--model", "dlrm-mlperf-dense", *QUICK, COLLMARK_TEST_CORRUPT="1")
        self.assertEqual(run.returncode, 5, run.stderr)
        self.assertIn("rank 1, tensor top_l.8.bias, element 0, bucket 0", run.stdout)


class Refused(unittest.TestCase):
    """Exit 2, one line, and what would be right."""

    def refuse(self, *words):
        run = step(*words)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        return run.stderr

    def refuse_list(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "list.csv"
            path.write_text(text, encoding="utf-8")
            return self.refuse("--model", path)

    def test_unknown_names_get_a_did_you_mean(self):
        policy = self.refuse("--model", "resnet18", "--bucket-policy", "horovd")
        self.assertIn("did you mean 'horovod'?", policy)
        self.assertIn("did you mean 'resnet50'?", self.refuse("--model", "resnet5O"))
        algorithm = self.refuse("--model", "resnet18", "--algorithm", "rnig")
        self.assertIn("did you mean 'ring'?", algorithm)

    def test_a_model_must_be_named(self):
        self.assertIn("--model", self.refuse())

    def test_a_missing_file(self):
        self.assertIn("no/such.csv: cannot be read", self.refuse("--model", "no/such.csv"))

    def test_a_truncated_list_is_named_by_line(self):
        self.assertIn("list.csv:3: expected 3", self.refuse_list("name,shape,numel\na,2,2\nb,2"))

    def test_a_shape_that_contradicts_its_numel(self):
        message = self.refuse_list("name,shape,numel\na,2x3,7\n")
        self.assertIn("list.csv:2: numel 7 is not the product of shape 2x3, 6", message)

    def test_a_cap_of_zero_or_less_than_an_element(self):
        self.assertIn("0 bytes", self.refuse("--model", "resnet18", "--bucket-bytes", "0"))
        self.assertIn("f32", self.refuse("--model", "resnet18", "--bucket-bytes", "3"))

    def test_gradients_are_floating_point(self):
        self.assertIn("--dtype", self.refuse("--model", "resnet18", "--dtype", "i32"))

    def test_split_indices_without_a_policy_that_follows_them(self):
        self.assertIn("mindspore_index", self.refuse("--model", "resnet18", "--split-indices", "3"))

    def test_an_output_that_cannot_be_written_is_seen_before_measuring(self):
        self.assertIn("/no/such", self.refuse("--model", "resnet18", "--csv", "/no/such/x.csv"))


if __name__ == "__main__":
    unittest.main()
