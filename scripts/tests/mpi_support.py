"""What the tests of `collmark sweep --backend mpi` share."""

import os
import shlex
import shutil
import signal
import subprocess
import time
import unittest
import uuid
from pathlib import Path

from program import PROGRAM, collmark, environment, shim
from sweep_support import Folder, record_of, rows_of

MPIRUN = shutil.which(os.environ.get("COLLMARK_MPIRUN", "mpirun"))  # that of the library that was built with
QUICK = ["--backend", "mpi", "--sizes", "8,4K", "-n", "5", "-w", "1"]
LONG = ["--backend", "mpi", "--ranks", "2", "--sizes", "8:64K:x4", "--algorithm", "ring,two_shot",
        "--launches", "2", "-n", "2000", "--time-budget", "0.2"]  # fmt: skip

# So many cases that an interrupt finds some left even where a launcher takes seconds to pass it on.
ENDLESS = [*LONG[: LONG.index("--launches")], "--launches", "500", "-n", "2000", "--time-budget", "0.2"]


def why_not():
    version = collmark("--version").stdout
    if "MPI none" in version:
        return "this build has no MPI"
    return None if MPIRUN else "no mpirun on PATH"


def is_open_mpi():
    return "MPI Open MPI" in collmark("--version").stdout


def launcher_environment():
    return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",  # 4.1; and 5:
            "PRTE_MCA_rmaps_default_mapping_policy": "slot:oversubscribe"}  # fmt: skip


def preloaded():
    """What mpirun is told, so that ranks run with the library in which calls are stuck."""
    return ("-x LD_PRELOAD={}" if is_open_mpi() else "-genv LD_PRELOAD {}").format(shim("stuck"))


def each_behind_its_own(prefixes, *words):
    """Starts as many ranks as prefixes, each with `words` behind its "env X=1" or "taskset -c 0". mpirun's `:` would
    do, but that of Open MPI 5.0.7 crashes at it."""
    cases = " ".join(f'{rank}) set -- {shlex.join(map(str, prefix))} "$@" ;;' for rank, prefix in enumerate(prefixes))
    script = f'case ${{OMPI_COMM_WORLD_RANK-$PMI_RANK}} in {cases} esac; exec "$@"'
    return [MPIRUN, "-n", len(prefixes), "sh", "-c", script, "sh", *words]


@unittest.skipIf(why_not(), why_not())
class MpiSweep(Folder):
    """Every process of a test carries a mark in its environment, so that those left behind are found."""

    def setUp(self):
        super().setUp()
        self.mark = f"COLLMARK_TEST_MARK={uuid.uuid4()}"
        self.addCleanup(self.assert_nobody_left)

    def environment(self, **changes):
        name, value = self.mark.split("=")
        return environment(**launcher_environment(), **changes, **{name: value})

    def run_program(self, *words, **changes):
        return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                              env=self.environment(**changes))  # fmt: skip

    def sweep(self, *flags, **changes):
        return self.run_program(PROGRAM, "sweep", *flags, **changes)

    def mpirun(self, ranks, *flags, **changes):
        return self.run_program(MPIRUN, "-n", ranks, PROGRAM, "sweep", *flags, **changes)

    def start(self, *words, **changes):
        return subprocess.Popen([*map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment(**changes))  # fmt: skip

    def processes(self):
        """Process number -> environment, of every living process that carries the mark."""
        found = {}
        for folder in Path("/proc").iterdir():
            try:
                if not folder.name.isdigit() or "State:\tZ" in (folder / "status").read_text():
                    continue
                variables = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if self.mark in variables:
                found[int(folder.name)] = dict(v.split("=", 1) for v in variables if "=" in v)
        return found

    def process_of_rank(self, rank):
        """As Open MPI and MPICH number them."""
        for number, variables in self.processes().items():
            if str(rank) in (variables.get("OMPI_COMM_WORLD_RANK"), variables.get("PMI_RANK")):
                return number
        return None

    def assert_a_kill_is_told(self, *flags, **changes):
        """Of rank 1 in the midst of an endless sweep: in its row, by exit code 8, and the rows before it are kept."""
        sweep = self.start(PROGRAM, "sweep", *flags, "--csv", self.csv, **changes)
        self.wait_for_rows(2)
        os.kill(self.process_of_rank(1), signal.SIGKILL)
        _, said = sweep.communicate(timeout=60)
        self.assertEqual(sweep.returncode, 8, said)
        self.assert_whole_rows()
        *kept, last = rows_of(self.csv)
        self.assertGreaterEqual(len(kept), 2)
        self.assertEqual({row["status"] for row in kept}, {"ok"})
        self.assertEqual(last["status"], "failed")
        self.assertIn("rank 1 was killed by signal 9", last["reason"])
        self.assertFalse(record_of(self.csv)["complete"])

    def assert_nobody_left(self):
        self.wait_for(lambda: not self.processes())

    def wait_for(self, claim):
        deadline = time.monotonic() + 60
        while not claim():
            self.assertLess(time.monotonic(), deadline, self.processes().keys())
            time.sleep(0.02)

    def wait_for_rows(self, count):
        self.wait_for(lambda: self.csv.exists() and self.csv.read_text().count("\n") > count)
