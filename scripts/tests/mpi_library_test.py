"""Forced algorithms of the MPI library: their names, what is read back, and what runs in their place."""

import json
import unittest
from collections import defaultdict
from pathlib import Path

from mpi_support import MpiSweep, is_open_mpi, why_not
from program import collmark, shim
from sweep_support import rows_of

FEW = ["--backend", "mpi", "-n", "3", "-w", "1"]


def listed(*flags):
    return json.loads(collmark("algorithms", "--backend", "mpi", "--json", *flags).stdout)


@unittest.skipIf(why_not(), why_not())
class Names(MpiSweep):
    def test_each_algorithm_of_the_library_is_listed_with_its_own_name(self):
        everything = listed()
        self.assertRegex(everything["library"], r"^\D+ \d+\.\d+")
        names = {(a["collective"], a["name"]) for a in everything["algorithms"]}
        for collective in ("all_reduce", "all_gather"):
            self.assertIn((collective, "library:recursive_doubling"), names)
        self.assertIn(("all_reduce", "library:rabenseifner"), names)
        text = collmark("algorithms", "--backend", "mpi", "--collective", "all_reduce").stdout
        self.assertIn("library:rabenseifner", text)
        self.assertNotIn("broadcast", text)

    def test_a_misspelt_name_is_refused_before_anything_runs(self):
        for name, hint in (
            ("library:recursive_dubling", "did you mean 'recursive_doubling'?"),
            ("library:", "a name is missing"),
            ("library:recursive_doubling:64K", "takes no segment"),
            ("library_ring", "is called 'library_ring'"),
        ):
            done = self.sweep(*FEW, "--ranks", "2", "--sizes", "8", "--algorithm", name, "--csv", self.csv)
            self.assert_exit(done, 2)
            self.assertIn(hint, done.stderr)
            self.assertFalse(self.csv.exists())

    def test_all_algorithms_of_the_library_run_and_are_right(self):
        done = self.sweep(*FEW, "--ranks", "4", "--sizes", "8,4K", "--algorithm", "library,library:all",
                          "--op", "avg", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        rows = rows_of(self.csv)
        expected = {a["name"] for a in listed("--collective", "all_reduce")["algorithms"]} | {"library"}
        self.assertEqual(len(rows), 2 * len(expected))
        for row in rows:
            self.assertTrue(row["algorithm"].endswith("+divide") or row["status"] == "skipped", row)
            self.assertIn(row["algorithm"].split("->")[0].removesuffix("+divide"), expected)

    def test_sums_of_small_integers_stay_in_range_and_are_right(self):
        algorithms = "library,library:recursive_doubling"
        done = self.sweep(*FEW, "--ranks", "2,4", "--sizes", "4,4K", "--algorithm", algorithms, "--dtype", "u8,i32",
                          "--op", "sum", "--csv", self.csv)  # fmt: skip
        self.assert_exit(done, 0)
        self.assertEqual({row["status"] for row in rows_of(self.csv)}, {"ok"})


@unittest.skipUnless(not why_not() and is_open_mpi(), "needs Open MPI")
class OpenMpi(MpiSweep):
    def messages(self, collective, ranks, *sizes):
        """Row name -> size -> sorted (messages, bytes) of each rank in one call, as Open MPI counts them."""
        files = Path(self.folder.name) / "messages"
        preload = f"-x LD_PRELOAD={shim('messages')} -x COLLMARK_TEST_MESSAGES={files}"
        monitoring = "--mca osc ^monitoring --mca pml_monitoring_enable 1"  # with osc's, windows cannot be made
        algorithms = "library:all" + (",library:segmented_ring:256" if collective == "all_reduce" else "")
        done = self.sweep(*FEW, "--collective", collective, "--algorithm", algorithms, "--ranks", ranks,
                          "--sizes", ",".join(map(str, sizes)), "--placement", "out_of_place", "--csv", self.csv,
                          "--launcher-args", f"{monitoring} {preload}")  # fmt: skip
        self.assert_exit(done, 0)
        numbers = {a["name"]: a["its_own_number"] for a in listed("--collective", collective)["algorithms"]}
        counted = defaultdict(set)  # (number, segment, count) -> (rank, messages, bytes)
        for rank in range(ranks):
            for line in Path(f"{files}.{rank}").read_text().splitlines():
                call, number, segment, of, count, sent, size = line.split()
                if call == CALLS[collective] and of == str(ranks):
                    counted[int(number), int(segment), int(count)].add((rank, int(sent), int(size)))
        found = defaultdict(dict)
        for row in rows_of(self.csv):
            if row["status"] != "ok":
                continue
            name = row["algorithm"].removesuffix("+copy")
            asked = name.split("->")[0]
            of_a_rank = collective in ("reduce_scatter", "all_gather", "all_to_all")  # what the call counts
            count = int(row["count"]) // (ranks if of_a_rank else 1)
            segment = 256 if asked.endswith(":256") else 0
            ranks_sent = counted[numbers[asked.removesuffix(":256")], segment, count]
            self.assertEqual(len(ranks_sent), ranks, f"{name}, {count}: {ranks_sent}")
            found[name][int(row["size_bytes"])] = [sent[1:] for sent in sorted(ranks_sent)]
        return found

    def test_all_reduce_sends_what_the_name_in_its_row_promises(self):
        found = self.messages("all_reduce", 4, 8, 4800)
        big = {name: sizes[4800] for name, sizes in found.items() if 4800 in sizes}
        linear = [(3, 14400), (1, 4800), (1, 4800), (1, 4800)]
        self.assertEqual(big["library:linear"], linear)
        self.assertEqual(big["library:recursive_doubling"], [(2, 9600)] * 4)
        self.assertEqual(big["library:ring"], [(6, 7200)] * 4)
        self.assertEqual(big["library:rabenseifner"], [(4, 7200)] * 4)
        self.assertEqual(big["library:segmented_ring->ring"], [(6, 7200)] * 4)
        messages = {sent for sent, _ in big["library:segmented_ring:256"]}
        self.assertGreater(min(messages), 6)
        small = {name: sizes[8] for name, sizes in found.items() if 8 in sizes}
        doubling = [(2, 16)] * 4
        self.assertEqual(small["library:recursive_doubling"], doubling)
        self.assertEqual(small["library:ring->recursive_doubling"], doubling)
        self.assertEqual(small["library:segmented_ring->recursive_doubling"], doubling)
        self.assertEqual(small["library:rabenseifner->linear"], [(3, 24), (1, 8), (1, 8), (1, 8)])
        self.assertNotIn("library:ring", small)

    def test_others_fall_back_as_their_rows_say(self):
        gathered = self.messages("all_gather", 3, 4800)
        bruck = gathered["library:bruck"][4800]
        self.assertEqual(gathered["library:recursive_doubling->bruck"][4800], bruck)
        self.assertEqual(gathered["library:neighbor_exchange->ring"][4800], [(2, 3200)] * 3)
        self.csv.unlink()
        self.csv.with_suffix(".run.json").unlink()
        spread = self.messages("broadcast", 4, 8, 4800)
        linear = [(3, 24), (0, 0), (0, 0), (0, 0)]
        self.assertEqual(spread["library:scatter_allgather->linear"][8], linear)
        self.assertEqual(spread["library:scatter_allgather_ring->linear"][8], linear)
        self.assertNotEqual(spread["library:scatter_allgather"][4800][1], (0, 0))

    def test_a_reduction_to_one_rank_falls_back_as_its_row_says(self):
        found = self.messages("reduce", 4, 8, 4800)
        self.assertEqual(found["library:rabenseifner->linear"][8], [(0, 0), (1, 8), (1, 8), (1, 8)])
        self.assertNotIn(8, found["library:rabenseifner"])
        self.assertEqual(found["library:linear"][4800], [(0, 0), (1, 4800), (1, 4800), (1, 4800)])
        self.assertEqual(sum(size for _, size in found["library:binomial"][4800]), 3 * 4800)
        self.assertGreater(found["library:rabenseifner"][4800][0][0], 0)  # the root sends halves too

    def test_scattered_reductions_and_exchanges_send_what_their_names_promise(self):
        scattered = self.messages("reduce_scatter", 4, 4800)
        self.assertEqual(scattered["library:ring"][4800], [(3, 3600)] * 4)
        self.assertEqual(scattered["library:recursive_halving"][4800], [(2, 3600)] * 4)
        self.csv.unlink()
        self.csv.with_suffix(".run.json").unlink()
        exchanged = self.messages("all_to_all", 4, 4800)
        self.assertEqual(exchanged["library:pairwise"][4800], [(3, 3600)] * 4)
        self.assertEqual(exchanged["library:bruck"][4800], [(2, 4800)] * 4)

    def test_a_forced_algorithm_is_used_before_every_other_component(self):
        done = self.sweep(*FEW, "--ranks", "2", "--sizes", "64K", "--algorithm", "library:ring", "--csv", self.csv,
                          "--launcher-args", "--mca coll_sm_priority 100")  # fmt: skip
        self.assert_exit(done, 0)
        self.assertEqual(rows_of(self.csv)[0]["algorithm"], "library:ring")

    def test_what_cannot_be_forced_is_a_skipped_row_with_the_reason(self):
        for collective, algorithm, ranks, size, words in (
            ("all_gather", "ring", 3, "4K", "coll_tuned_allgatherv_algorithm"),
            ("barrier", "two_proc", 3, "0", "two_proc"),
            ("all_reduce", "ring", 1, "4K", "1 rank"),
        ):
            done = self.sweep(*FEW, "--collective", collective, "--algorithm", f"library:{algorithm},library",
                              "--ranks", ranks, "--sizes", size, "--csv", self.csv)  # fmt: skip
            self.assert_exit(done, 0)
            reasons = {row["algorithm"]: row["reason"] for row in rows_of(self.csv)}
            self.assertIn(words, reasons[f"library:{algorithm}"])
            self.assertEqual(reasons["library"], "")
            self.csv.unlink()
            self.csv.with_suffix(".run.json").unlink()

    def test_the_librarys_own_choice_is_what_it_would_run_without_us(self):
        """Open MPI ignores a forced algorithm unless a second variable allows it, which we set for our own sake."""
        allowed = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
        for changes, algorithm in (({}, "library"), (allowed, "library->linear")):
            with self.subTest(changes=changes):
                sent = {}
                for number in ("1", "4"):  # linear, ring
                    sent[number] = self.messages_of_own_choice(
                        OMPI_MCA_coll_tuned_allreduce_algorithm=number, **changes
                    )
                self.assertEqual(sent["1"][0], algorithm)
                self.assertEqual(sent["1"] == sent["4"], not changes, sent)

    def messages_of_own_choice(self, **changes):
        """Its row's name, and what the ranks have sent in each call."""
        files = Path(self.folder.name) / "own"
        done = self.sweep(*FEW, "--algorithm", "library", "--ranks", "3", "--sizes", "64K", "--csv", self.csv,
                          "--launcher-args", "--mca osc ^monitoring --mca pml_monitoring_enable 1 -x LD_PRELOAD="
                          f"{shim('messages')} -x COLLMARK_TEST_MESSAGES={files}", **changes)  # fmt: skip
        self.assert_exit(done, 0)
        (row,) = rows_of(self.csv)
        sent = set()
        for rank in range(3):
            for line in Path(f"{files}.{rank}").read_text().splitlines():
                call, _, _, _, count, messages, size = line.split()
                if call == "allreduce" and int(count) == int(row["count"]):
                    sent.add((rank, messages, size))
            Path(f"{files}.{rank}").unlink()
        self.assertEqual(len(sent), 3, sent)
        self.csv.unlink()
        self.csv.with_suffix(".run.json").unlink()
        return row["algorithm"], sent

    def test_segments_that_the_user_has_set_are_in_the_name(self):
        """By a variable of the environment, or in a parameter file."""
        variable = "coll_tuned_allreduce_algorithm_segmentsize"
        parameters = Path(self.folder.name) / "parameters"
        parameters.write_text(f"{variable} = 16384\n")
        file = {"OMPI_MCA_mca_base_param_files": str(parameters)}
        set_ = {f"OMPI_MCA_{variable}": "16384"}
        forced = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allreduce_algorithm": "5"}
        for algorithm, changes, name in (
            ("library:segmented_ring", {}, "library:segmented_ring->ring"),  # one segment
            ("library:segmented_ring", set_, "library:segmented_ring:16K"),
            ("library:segmented_ring", file, "library:segmented_ring:16K"),
            ("library:segmented_ring:4K", set_, "library:segmented_ring:4K"),
            ("library:ring", set_, "library:ring"),
            ("library", set_, "library"),
            ("library", {**forced, **set_}, "library->segmented_ring:16K"),
            ("library", forced, "library->ring"),
        ):
            with self.subTest(algorithm=algorithm, changes=changes):
                done = self.sweep(*FEW, "--algorithm", algorithm, "--ranks", "2", "--sizes", "256K", "--csv",
                                  self.csv, **changes)  # fmt: skip
                self.assert_exit(done, 0)
                self.assertEqual([row["algorithm"] for row in rows_of(self.csv)], [name])
                self.csv.unlink()
                self.csv.with_suffix(".run.json").unlink()

    def test_blocks_without_elements_are_no_exchange(self):
        for algorithm, name in (("library:pairwise", "library:pairwise->none"), ("pairwise", "pairwise")):
            with self.subTest(algorithm=algorithm):
                done = self.sweep(*FEW, "--collective", "all_to_all", "--placement", "out_of_place", "--algorithm",
                                  algorithm, "--ranks", "3", "--sizes", "8,12", "--csv", self.csv)  # fmt: skip
                self.assert_exit(done, 0)
                less, enough = sorted(rows_of(self.csv), key=lambda row: int(row["size_bytes"]))
                self.assertEqual((less["algorithm"], enough["algorithm"]), (name, algorithm))
                self.assertEqual((less["algbw_gb_per_s"], less["busbw_gb_per_s"]), ("", ""))
                self.assertNotEqual(enough["algbw_gb_per_s"], "")
                self.csv.unlink()
                self.csv.with_suffix(".run.json").unlink()

    def test_a_job_that_was_told_to_ignore_forced_algorithms_says_so(self):
        done = self.sweep(*FEW, "--ranks", "2", "--sizes", "8", "--algorithm", "library:linear,library", "--csv",
                          self.csv, OMPI_MCA_coll_tuned_use_dynamic_rules="0")  # fmt: skip
        self.assert_exit(done, 0)
        forced, free = sorted(rows_of(self.csv), key=lambda row: row["algorithm"], reverse=True)
        self.assertIn("coll_tuned_use_dynamic_rules", forced["reason"])
        self.assertEqual(free["status"], "ok")


CALLS = {
    "all_reduce": "allreduce",
    "reduce_scatter": "reduce_scatter",
    "all_gather": "allgather",
    "broadcast": "bcast",
    "reduce": "reduce",
    "all_to_all": "alltoall",
}

if __name__ == "__main__":
    unittest.main()
