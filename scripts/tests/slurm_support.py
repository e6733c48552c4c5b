"""A Slurm of one host for the tests, in a folder, a process namespace and a network of its own: its daemons believe
whoever speaks to them, so nobody outside may."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from program import environment

TOOLS = ("slurmctld", "slurmd", "srun", "sinfo", "unshare", "nsenter", "ip")
CONFIGURATION = """\
ClusterName=collmark
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
TmpFS={folder}/tmp
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=ALL Default=YES
"""
# The daemons listen where a name lookup says, and mpirun speaks over an interface: neither counts the loopback.
DAEMONS = """
    ip link add host type veth peer name nowhere && ip address add 10.77.0.1/24 dev host || exit
    ip link set lo up && ip link set host up && ip link set nowhere up && mkdir state spool tmp || exit
    slurmctld -D &
    exec slurmd -D
"""


class Slurm:
    """Up once made; gone, with whatever runs in it, after stop() and when this process ends."""

    def __init__(self):
        """Throws SkipTest where there can be none, with the reason."""
        missing = [tool for tool in TOOLS if not shutil.which(tool)]
        if missing:
            raise unittest.SkipTest(f"not installed: {', '.join(missing)}; on Debian apt-get install slurmctld slurmd")
        if os.getuid() != 0:
            raise unittest.SkipTest("Slurm starts ranks as root only")
        self.folder = Path(tempfile.mkdtemp(prefix="collmark-slurm-"))
        host = socket.gethostname().split(".")[0]
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(host=host, folder=self.folder))
        self.variables = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        with open(self.folder / "log", "w") as log:
            self.holder = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--mount-proc", "--fork",
                 "--kill-child", "sh", "-c", DAEMONS],
                cwd=self.folder, env=environment(**self.variables), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        if not self.comes_up():
            words = (self.folder / "log").read_text().strip().splitlines() or ["no word from it"]
            self.stop()
            raise unittest.SkipTest(f"no Slurm comes up here: {words[-1]}")

    def comes_up(self):
        deadline = time.monotonic() + 60
        while self.holder.poll() is None and time.monotonic() < deadline:
            if (self.folder / "slurmd.pid").exists() and self.run("sinfo", "--noheader", "--format=%t") == "idle":
                return True
            time.sleep(0.05)
        return False

    def command(self, *words):
        """In its network."""
        return ["nsenter", "-t", str(self.holder.pid), "--net", *map(str, words)]

    def run(self, *words):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=60, check=False,
                              env=environment(**self.variables))  # fmt: skip
        return done.stdout.strip()

    def stop(self):
        self.holder.kill()
        self.holder.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
