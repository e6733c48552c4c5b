"""What remains of `collmark step` when it is stopped or when something is in its way."""

import signal
import unittest

from program import collmark
from sweep_support import Folder, record_of, rows_of

# Twelve rows, some seconds.
LONG = ("step", "--model", "dlrm-mlperf-dense", "--bucket-policy", "ddp,single", "--ranks", "2", "--algorithm", "ring")
LONG += ("--launches", "6", "-n", "2000", "--time-budget", "0.2")


class Interrupted(Folder):
    def test_finished_rows_are_kept_and_resume_finishes_the_rest(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                self.csv = self.csv.with_name(f"{number.name}.csv")
                said = self.interrupt(number, *LONG, after=2)
                kept = rows_of(self.csv)
                self.assertGreaterEqual(len(kept), 2)
                self.assertFalse(record_of(self.csv)["complete"])
                for words in (f"{len(kept)} of 12 rows are in", self.csv.name, "--resume"):
                    self.assertIn(words, said)
                resumed = collmark(*LONG, "--csv", str(self.csv), "--resume")
                self.assertEqual(resumed.returncode, 0, resumed.stderr)
                rows = rows_of(self.csv)
                self.assertEqual(rows[: len(kept)], kept)
                self.assertEqual(sorted(int(row["seq"]) for row in rows), list(range(12)))
                self.assertTrue(record_of(self.csv)["complete"])

    def test_a_resumed_run_that_hung_still_ends_as_a_hang(self):
        arguments = ("step", "--model", "dlrm-mlperf-dense", "--bucket-policy", "ddp,single", "--ranks", "2")
        arguments += ("--algorithm", "ring", "-n", "2", "-w", "0", "--timeout", "0.3", "--csv", str(self.csv))
        self.assertEqual(collmark(*arguments, COLLMARK_TEST_ABSENT_RANK="1").returncode, 7)
        done = collmark(*arguments, "--resume")
        self.assertEqual(done.returncode, 7, done.stderr)
        hung, finished = rows_of(self.csv)
        self.assertEqual((hung["status"], hung["wrong"], finished["status"]), ("failed", "", "ok"))
        self.assertTrue(hung["reason"].startswith("timed out: "), hung["reason"])


class Refusing(Folder):
    """Exit 2, one readable line with the place, and no file begun."""

    def refuse(self, *flags):
        done = collmark("step", *map(str, flags), "--csv", str(self.csv))
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertLess(len(done.stderr), 400)
        self.assertTrue(done.stderr.strip().isprintable(), repr(done.stderr))
        self.assertFalse(self.csv.exists())
        return done.stderr


class Config(Refusing):
    def written(self, text):
        path = self.csv.with_name("step.toml")
        path.write_text(text)
        return path

    def test_a_valid_file_is_what_the_flags_are(self):
        path = self.written(
            'model = "dlrm-mlperf-dense"\nbucket-policy = ["ddp", "single"]\nbucket-bytes = "1M"\n'
            'algorithm = "ring"\nranks = 2\niterations = 3\nwarmups = 0\n[sweep]\nsizes = "8"\n'
        )
        done = collmark("step", "--config", str(path), "--csv", str(self.csv))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["policy"]: row for row in rows_of(self.csv)}
        self.assertEqual(sorted(rows), ["ddp", "single"])
        self.assertEqual((rows["ddp"]["bucket_bytes"], rows["single"]["bucket_bytes"]), ("1048576", ""))
        self.assertEqual({(row["iterations"], row["warmups"]) for row in rows.values()}, {("3", "0")})

    def test_an_unknown_key_is_named_with_its_line_and_the_nearest(self):
        path = self.written('model = "vgg16"\nbucket-polcy = "ddp"\n')
        said = self.refuse("--config", path)
        self.assertIn("step.toml:2: 'bucket-polcy' is not a flag of step", said)
        self.assertIn("did you mean 'bucket-policy'?", said)

    def test_a_value_of_another_type_is_refused_with_its_line(self):
        for line, words in {
            'iterations = "many"': "--iterations: 'many' is no whole number",
            "launches = [1, 2]": "--launches: '1,2' is no whole number",
            "warmups = 1.5": "--warmups: '1.5' is no whole number",
            "launches =": "--launches",
            'json = "perhaps"': "--json",
        }.items():
            with self.subTest(line):
                path = self.written(f'model = "vgg16"\n{line}\n')
                self.assertIn(words, self.refuse("--config", path))

    def test_a_file_that_is_no_text_is_refused(self):
        for text in ('mod\0el = "vgg16"\n', "\0" * 10000, "\x7fELF\1\2", "\x1b[31mred = 1\n"):
            with self.subTest(text[:10]):
                said = self.refuse("--model", "vgg16", "--config", self.written(text))
                self.assertIn("step.toml:1: control character 0x", said)


class ModelLists(Refusing):
    HEAD = b"name,shape,numel\n"
    GOOD = HEAD + b"conv,64x3x7x7,9408\nfc,10,10\n"

    def refuse_list(self, data):
        path = self.csv.with_name("list.csv")
        path.write_bytes(data)
        said = self.refuse("--model", path)
        self.assertRegex(said, r"^collmark: .*list\.csv:\d+: ")
        return said

    def test_a_list_cut_anywhere_is_refused_or_a_shorter_list(self):
        for end in range(len(self.GOOD)):
            path = self.csv.with_name("list.csv")
            path.write_bytes(self.GOOD[:end])
            done = collmark("step", "--model", str(path), "--dry-run")
            with self.subTest(end=end):
                self.assertIn(done.returncode, (0, 2), done.stderr)
                whole = end in (len(self.HEAD) + 18, len(self.HEAD) + 19, len(self.GOOD) - 1)
                self.assertEqual(done.returncode == 0, whole, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 0 if whole else 1, done.stderr)

    def test_bytes_that_are_no_text(self):
        for data in (
            self.HEAD + b"a\0b,2,2\n",
            self.HEAD + b"a,2\0,2\n",
            self.HEAD + b"a,2,2\0\n",
            self.HEAD + b"\x1b[31mred,2,2\n",
            b"name\0,shape,numel\na,2,2\n",
            b"\0" * 100_000,
            "name,shape,numel\na,2,2\n".encode("utf-16"),
        ):
            with self.subTest(data[:40]):
                self.assertIn("control character", self.refuse_list(data))

    def test_numbers_that_are_none_or_beyond_all_bounds(self):
        for row in (
            b"a,-2x-3,6",
            b"a,-2,-2",
            b"a,2x3,-6",
            b"a,0,0",
            b"a,1e3,1000",
            b"a,nan,nan",
            b"a,99999999999999999999999,99999999999999999999999",
            b"a,4294967296x4294967296,18446744073709551616",
            b"a,2147483648x2147483648x2147483648,1",
            b"a,1099511627777,1099511627777",
        ):
            with self.subTest(row):
                self.refuse_list(self.HEAD + row + b"\n")

    def test_more_elements_than_can_be_counted_in_bytes(self):
        rows = [b"t%d,1048576x1048576,1099511627776" % i for i in range(5)]
        self.assertIn("list.csv:6: ", self.refuse_list(self.HEAD + b"\n".join(rows)))
        path = self.csv.with_name("list.csv")
        path.write_bytes(self.HEAD + b"\n".join(rows[:4]))
        more = ("--algorithm", "ring", "--ranks", "2147483647", "--csv", str(self.csv))
        done = collmark("step", "--model", str(path), *more)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"skipped"})

    def test_a_line_without_end_is_not_repeated_in_full(self):
        self.refuse_list(self.HEAD + b"a" * 1_000_000)
        self.refuse_list(b"a" * 1_000_000)
        self.refuse_list(self.HEAD + b"a," + b"2x" * 100_000 + b"0,6")

    def test_a_device_without_end(self):
        endless = self.csv.with_name("endless.csv")
        endless.symlink_to("/dev/zero")
        self.assertIn("larger than", self.refuse("--model", endless))


if __name__ == "__main__":
    unittest.main()
