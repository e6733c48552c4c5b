"""Runs `collmark links` and `collmark fit` from outside."""

import csv
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import unittest
from pathlib import Path

COLLMARK = os.environ.get("COLLMARK", "build/collmark")
ALPHA, BETA = 1e-6, 2e-10  # of the made-up results
PAIRS = list(itertools.combinations(sorted(os.sched_getaffinity(0)), 2))  # of cores


def collmark(*words):
    return subprocess.run([COLLMARK, *map(str, words)], capture_output=True, text=True, timeout=120)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "x.csv"


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core has no links")
class Links(Folder):
    def test_every_pair_of_cores_is_in_the_document_and_the_csv(self):
        done = collmark("links", "--size", "64K", "--json", "--csv", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        links = json.loads(done.stdout)["links"]
        self.assertEqual([(link["first"], link["second"]) for link in links], PAIRS)
        with open(self.path, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(int(r["first"]), int(r["second"])) for r in rows], PAIRS)
        self.assertTrue(all(float(r["flag_ns"]) > 0 for r in rows))

    def test_the_slowest_link_is_named(self):
        done = collmark("links", "--size", "64K")
        self.assertIn("slowest flag: core", done.stdout)
        self.assertIn("slowest copy: core", done.stdout)

    def test_an_absent_backend_is_77_and_the_others_are_measured(self):
        done = collmark("links", "--size", "64K", "--backend", "threads,cuda")
        self.assertEqual(done.returncode, 77)
        self.assertIn("slowest flag", done.stdout)
        self.assertIn("cuda: skipped", done.stderr)

    def test_a_full_device_is_seen_before_measuring(self):
        done = collmark("links", "--size", "64K", "--csv", "/dev/full")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((done.stdout, done.stderr.count("\n")), ("", 1))
        self.assertIn("No space left", done.stderr)

    def test_a_pipe_gets_header_and_rows_once(self):
        done = collmark("links", "--size", "64K", "--csv", "/dev/stderr")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("backend,first,second"), 1)
        self.assertEqual(done.stderr.count("threads,"), len(PAIRS))

    def test_nonsense_is_refused(self):
        for flags in (["--size", "0"], ["--size", "x"], ["--csv", "/nowhere/x.csv"], ["--backend", "thread"]):
            self.assertEqual(collmark("links", *flags).returncode, 2, flags)


class Fit(Folder):
    def write(self, rows):
        header = (
            "backend,collective,algorithm,ranks,count,dtype,mode,oversubscribed,rounds,"
            "wire_bytes_busiest,time_us_p50,status,nodes,placement,cache"
        )
        self.path.write_text("\n".join([header, *rows]) + "\n")

    def ring(self, count, ranks=2, status="ok", noise=1.0, *, where="1,in_place,touched", dtype="f32"):
        moved = 2 * 4 * count * (ranks - 1) // ranks
        rounds = 2 * (ranks - 1)
        time = noise * (ALPHA * rounds + BETA * moved) * 1e6
        return f"threads,all_reduce,ring,{ranks},{count},{dtype},latency,0,{rounds},{moved},{time},{status},{where}"

    def fitted(self):
        done = collmark("fit", self.path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_alpha_and_beta_of_made_up_results_are_found(self):
        self.write([self.ring(2**k, ranks) for k in range(4, 24, 2) for ranks in (2, 4)])
        (fit,) = self.fitted()["fits"]
        self.assertAlmostEqual(fit["alpha_s"] / ALPHA, 1, places=4)
        self.assertAlmostEqual(fit["beta_s_per_byte"] / BETA, 1, places=4)
        self.assertIsNone(fit["gamma_s_per_byte"])  # a ring reduces half of what it moves
        self.assertLess(fit["worst_relative_residual"], 1e-4)

    def test_beta_of_a_ring_over_hosts_is_the_goodput_of_their_links(self):
        """Of a run that is in results/, with the goodput that a plain stream had in it."""
        folder = Path(__file__).resolve().parents[2] / "results" / "cluster-2026-11-30"
        streams = json.loads((folder / "streams.json").read_text())["goodput_bytes_per_s"]
        self.path = folder / "rows.csv"
        beta = {fit["algorithm"]: fit["beta_s_per_byte"] for fit in self.fitted()["fits"]}
        goodput = statistics.median(streams)
        self.assertAlmostEqual(beta["ring"] * goodput, 1, delta=0.05)
        self.assertAlmostEqual(beta["parameter_server"] * goodput, 2, delta=0.1)  # one way, then the other

    def test_rows_of_one_size_or_with_large_errors_are_marked_in_the_table_and_in_json(self):
        many = [self.ring(2**k, ranks) for k in range(4, 24, 2) for ranks in (2, 4)]
        self.write(many)
        self.assertEqual([fit["doubts"] for fit in self.fitted()["fits"]], [[]])
        self.write([self.ring(2**20, ranks) for ranks in range(2, 9)])
        self.assertEqual([fit["doubts"] for fit in self.fitted()["fits"]], [["one size"]])
        table = collmark("fit", self.path).stdout
        self.assertIn("one size", table.splitlines()[2])
        self.assertIn("\none size: ", table)
        self.write([*many, *(self.ring(2**k, noise=3.0) for k in range(4, 24, 2))])
        self.assertEqual([fit["doubts"] for fit in self.fitted()["fits"]], [["large errors"]])
        self.assertIn("large errors", collmark("fit", self.path).stdout.splitlines()[2])

    def test_the_stored_cluster_run_is_marked_wholly_and_its_cores_are_unknown(self):
        """Of one size, of hosts that share two cores: nothing in the rows says how many cores there were."""
        self.path = Path(__file__).resolve().parents[2] / "results" / "cluster-2026-11-30" / "rows.csv"
        fits = {fit["algorithm"]: fit for fit in self.fitted()["fits"]}
        self.assertEqual(len(fits), 5)
        for name, fit in fits.items():
            self.assertIn("one size", fit["doubts"], name)
            self.assertIsNone(fit["oversubscribed"], name)
            self.assertEqual(fit["hosts"], "one a rank", name)
        self.assertIn("large errors", fits["(together)"]["doubts"])
        table = collmark("fit", self.path).stdout
        self.assertNotIn("one core each", table)
        self.assertIn("a host each, cores unknown", table)

    def test_unlike_rows_of_one_file_share_no_fit(self):
        """One host and a cluster, two dtypes, placements, cache states: each has constants of its own."""
        unlike = {
            "1,in_place,touched": 1, "2,in_place,touched": 2, "1,out_of_place,touched": 3, "1,in_place,cold": 4,
        }  # fmt: skip
        sizes = [2**k for k in range(4, 24, 2)]
        rows = [self.ring(count, noise=noise, where=where) for where, noise in unlike.items() for count in sizes]
        self.write(rows + [self.ring(count, noise=5, dtype="i32") for count in sizes])
        fits = self.fitted()["fits"]
        self.assertEqual(sorted(round(fit["alpha_s"] / ALPHA, 3) for fit in fits), [1, 2, 3, 4, 5])
        whose = {(fit["dtype"], fit["placement"], fit["cache"], fit["hosts"]): fit["alpha_s"] for fit in fits}
        self.assertEqual(len(whose), 5)
        self.assertAlmostEqual(whose["f32", "in_place", "touched", "one a rank"] / ALPHA, 2, places=3)
        table = collmark("fit", self.path).stdout
        for word in ("out_of_place", "cold", "i32", "a host each"):
            self.assertIn(word, table)

    def test_several_algorithms_together_tell_moving_from_reducing(self):
        def one_shot(count, gamma=5e-11):
            moved = reduced = 4 * count
            time = (ALPHA + BETA * moved + gamma * reduced) * 1e6
            return f"threads,all_reduce,one_shot,2,{count},f32,latency,0,1,{moved},{time},ok,1,in_place,touched"

        def ring(count, gamma=5e-11):
            moved, reduced = 4 * count, 2 * count
            time = (2 * ALPHA + BETA * moved + gamma * reduced) * 1e6
            return f"threads,all_reduce,ring,2,{count},f32,latency,0,2,{moved},{time},ok,1,in_place,touched"

        self.write([row(2**k) for k in range(4, 24, 2) for row in (one_shot, ring)])
        fits = {fit["algorithm"]: fit for fit in self.fitted()["fits"]}
        self.assertIsNone(fits["ring"]["gamma_s_per_byte"])
        self.assertAlmostEqual(fits["(together)"]["gamma_s_per_byte"] / 5e-11, 1, places=3)
        self.assertAlmostEqual(fits["(together)"]["beta_s_per_byte"] / BETA, 1, places=3)

    def test_rows_that_were_asked_differently_of_kernels_are_fitted_apart(self):
        lines = {"": 1.0, "channels=8": 3.0}  # how much slower
        rows = [f"{self.ring(2**k, noise=slower)},{asked}" for k in range(4, 24, 2) for asked, slower in lines.items()]
        self.write(rows)
        header, rest = self.path.read_text().split("\n", 1)
        self.path.write_text(f"{header},asked_tuning\n{rest}")
        fits = {fit["asked_tuning"]: fit for fit in self.fitted()["fits"]}
        self.assertEqual(fits.keys(), lines.keys())
        for asked, slower in lines.items():
            self.assertAlmostEqual(fits[asked]["beta_s_per_byte"] / BETA, slower, places=4)
        table = collmark("fit", self.path).stdout
        self.assertRegex(table, r"(?m)^threads +all_reduce +ring +f32 (?!.*channels)")
        self.assertRegex(table, r"(?m)^threads +all_reduce +ring +f32 .*channels=8 +one core each ")

    def test_rows_of_two_protocols_are_fitted_apart(self):
        ran = {"channels=8 protocol=LL": 1.0, "channels=8 protocol=simple": 3.0}  # how much slower
        rows = [f"{self.ring(2**k, noise=slower)},,{tuning}" for k in range(4, 24, 2) for tuning, slower in ran.items()]
        self.write([row.replace("threads,", "cuda,", 1) for row in rows])
        header, rest = self.path.read_text().split("\n", 1)
        self.path.write_text(f"{header},asked_tuning,tuning\n{rest}")
        fits = {fit["asked_tuning"]: fit for fit in self.fitted()["fits"]}
        self.assertEqual(fits.keys(), {"protocol=LL", ""})
        self.assertAlmostEqual(fits["protocol=LL"]["beta_s_per_byte"] / BETA, 1, places=4)
        self.assertAlmostEqual(fits[""]["beta_s_per_byte"] / BETA, 3, places=4)

    def test_a_row_that_does_not_fit_shows_as_the_worst_residual(self):
        self.write([self.ring(2**k) for k in range(4, 24)] + [self.ring(64, noise=2.0)])
        (fit,) = self.fitted()["fits"]
        self.assertGreater(fit["worst_relative_residual"], 0.3)
        self.assertLess(fit["median_relative_residual"], 0.1)

    def test_rows_that_failed_or_were_skipped_are_left_out_and_counted(self):
        self.write([self.ring(2**k) for k in range(4, 20, 2)] + [self.ring(64, status="failed", noise=9)])
        document = self.fitted()
        self.assertEqual(document["rows_left_out"], 1)
        self.assertEqual(document["fits"][0]["rows"], 8)

    def test_bad_files_are_refused_with_file_and_line(self):
        self.write([self.ring(64), self.ring(128).replace("f32", "f33")])
        cases = {
            self.path.read_text(): "x.csv:3: expected a dtype",
            "": "x.csv:1: expected a header",
            "a,b\n1,2\n": "x.csv:1: expected a column",
            "a,b\n1\n": "x.csv:2: expected 2 cells",
        }
        self.write([self.ring(64).replace("ring", "rnig")])
        cases[self.path.read_text()] = "x.csv:2: no all_reduce algorithm is called 'rnig'"
        for text, message in cases.items():
            with self.subTest(message=message):
                self.path.write_text(text)
                done = collmark("fit", self.path)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(message, done.stderr)

    def test_rows_of_training_steps_are_refused(self):
        self.write([self.ring(2**k) for k in range(4, 20)])
        header, *rows = self.path.read_text().splitlines()
        rows = [f"{row},resnet50,ddp" for row in rows]
        self.path.write_text("\n".join([f"{header},model,policy", *rows]) + "\n")
        done = collmark("fit", self.path)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn("x.csv:1: these rows are training steps", done.stderr)

    def test_a_missing_file_is_refused_and_nothing_to_fit_is_no_success(self):
        self.assertEqual(collmark("fit", "/nowhere.csv").returncode, 2)
        self.write([self.ring(64, status="skipped")])
        self.assertEqual(collmark("fit", self.path).returncode, 6)


if __name__ == "__main__":
    unittest.main()
