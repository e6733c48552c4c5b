"""emulated_cluster.sh: hosts with names and shaped links, and nothing left behind however it ends."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "emulated_cluster.sh"
REFUSED = 77
STATE = SCRIPT.with_name("cluster_state.sh")
STREAM = SCRIPT.with_name("tcp_stream.py")

# On host0: sixteen streams from here to host2, beside one from host1 to host3, for two seconds; prints the bytes.
TWO_HOSTS = """
import os, shlex, subprocess, sys
RECEIVE = '''
import socket, sys, threading
total = []
def take(peer):
    while data := peer.recv(1 << 18): total.append(len(data))
with socket.create_server(('', 5001)) as server:
    print('on', flush=True)
    all = [threading.Thread(target=take, args=[server.accept()[0]]) for _ in range(int(sys.argv[1]))]
    for one in all: one.start()
    for one in all: one.join()
print(sum(total), flush=True)
'''
SEND = '''
import socket, sys, threading, time
end = time.monotonic() + 2
def give():
    with socket.create_connection((sys.argv[1], 5001)) as to:
        while time.monotonic() < end: to.sendall(bytes(1 << 14))
all = [threading.Thread(target=give) for _ in range(int(sys.argv[2]))]
for one in all: one.start()
for one in all: one.join()
'''
def on(host, code, *words):
    agent = os.environ['OMPI_MCA_plm_rsh_agent'].split()
    command = [*agent, host, shlex.join([sys.executable, '-c', code, *map(str, words)])]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
takers = on('host2', RECEIVE, 16), on('host3', RECEIVE, 1)
for one in takers: one.stdout.readline()
givers = on('host0', SEND, 'host2', 16), on('host1', SEND, 'host3', 1)
for one in givers: one.wait()
print(*(one.stdout.readline().strip() for one in takers))
"""


class Cluster(unittest.TestCase):
    def setUp(self):
        self.name = f"test-{uuid.uuid4().hex[:8]}"
        done = self.run_on("--hosts", "2", "--", "true")
        if done.returncode == REFUSED:
            self.skipTest(done.stderr.strip())
        self.addCleanup(subprocess.run, [SCRIPT, "down", "--name", self.name], capture_output=True)

    def command(self, verb, *arguments):
        return [SCRIPT, verb, "--name", self.name, *arguments]

    def call(self, verb, *arguments):
        return subprocess.run(self.command(verb, *arguments), capture_output=True, text=True)

    def run_on(self, *arguments):
        return self.call("run", *arguments)

    def folder(self, run=None):
        """Of the cluster that is up, or of one that a run has built for itself."""
        return Path(f"/tmp/collmark-cluster-{os.getuid()}-{self.name}{f'.{run.pid}' if run else ''}")

    def assert_nothing_left(self):
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.processes(), [])
        self.assertEqual(glob.glob(f"/tmp/collmark-cluster-*-{self.name}*"), [])

    def processes(self):
        """Whose command line names this cluster."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                words = Path(path).read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if self.name in words:
                found.append(words)
        return found

    def megabits(self, host, *shape, size=2_000_000):
        """Goodput of a one-way stream from host0 [Mbit/s]."""
        command = [sys.executable, STREAM, host, str(size)]
        done = self.run_on(*shape, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        received, seconds = done.stdout.split()
        self.assertEqual(int(received), size)
        return size * 8 / float(seconds) / 1e6


class Hosts(Cluster):
    def test_each_has_a_name_that_all_others_know_and_mpirun_starts_one_rank_on_each(self):
        names = "for i in 0 1 2; do getent hosts host$i; done; hostname"
        done = self.run_on("--hosts", "3", "--", "sh", "-c", names)
        expected = ["10.77.0.1", "host0", "10.77.0.2", "host1", "10.77.0.3", "host2", "host0"]
        self.assertEqual(done.stdout.split(), expected)
        started = self.run_on("--hosts", "3", "--", "sh", "-c", "command -v mpirun || exit 77; mpirun -n 3 hostname")
        if started.returncode == 77:
            self.skipTest("no mpirun here")
        self.assertEqual(sorted(started.stdout.split()[1:]), ["host0", "host1", "host2"], started.stderr)

    def test_the_commands_input_output_and_status_are_the_scripts(self):
        command = self.command("run", "--hosts", "2", "--", "sh", "-c", "cat; echo words >&2; exit 3")
        done = subprocess.run(command, input="data", capture_output=True, text=True)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("data", "words\n", 3))
        self.assert_nothing_left()

    def test_no_host_sees_the_real_network(self):
        done = self.run_on("--hosts", "2", "--", "sh", "-c", "ip -o link show | wc -l; ip route")
        self.assertNotIn("default", done.stdout)


class Links(Cluster):
    def test_a_stream_is_no_faster_than_its_link(self):
        slow = self.megabits("host1", "--hosts", "2", "--rate", "40mbit", size=1_000_000)
        fast = self.megabits("host1", "--hosts", "2", "--rate", "400mbit")
        self.assertLess(slow, 44)
        self.assertLess(fast, 440)
        self.assertGreater(fast, slow, "the rate that was asked for makes the difference")

    def test_between_racks_the_uplink_decides(self):
        racks = ("--hosts", "4", "--racks", "2", "--rate", "400mbit", "--uplink", "40mbit")
        inside, outside = self.megabits("host1", *racks), self.megabits("host2", *racks, size=1_000_000)
        self.assertLess(outside, 44)
        self.assertGreater(inside, outside)

    def fair_share(self):
        """Of an uplink's bytes the part of a host with one stream, beside a host with sixteen."""
        done = self.run_on("--hosts", "4", "--racks", "2", "--rate", "200mbit", "--uplink", "40mbit", "--fair",
                           "--", sys.executable, "-c", TWO_HOSTS)  # fmt: skip
        if done.returncode == REFUSED:
            self.assertRegex(done.stderr, "the kernel refused: .*(htb|u32)")
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        many, one = map(int, done.stdout.split())
        return one / (one + many)

    def test_hosts_of_a_rack_share_a_fair_uplink_evenly_however_many_streams_they_have(self):
        for _ in range(3):  # first come, first served gives a host with one stream 0.02 to 0.4, seldom more
            self.assertAlmostEqual(self.fair_share(), 0.5, delta=0.1)

    def test_a_fair_uplink_is_no_faster_than_it_was_asked_for(self):
        racks = ("--hosts", "4", "--racks", "2", "--rate", "400mbit", "--uplink", "40mbit", "--fair")
        outside = self.megabits("host2", *racks, size=1_000_000)
        self.assertLess(outside, 44)
        self.assertGreater(outside, 24, "a host that is alone has all of it, not its half")

    def test_a_delay_is_in_every_way_or_the_kernel_has_no_netem(self):
        connect = (
            "import socket, subprocess, sys, time\n"
            "start = time.monotonic()\n"
            "try: socket.create_connection(('host1', 9))\n"
            "except ConnectionRefusedError: print(time.monotonic() - start)"  # one way there, one way back
        )
        done = self.run_on("--hosts", "2", "--delay", "40ms", "--", sys.executable, "-c", f"{connect}\n{connect}")
        if done.returncode == REFUSED:
            self.assertIn("netem", done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assert_nothing_left()
            self.skipTest(done.stderr.strip())
        seconds = float(done.stdout.split()[-1])  # the first asked for the address too
        self.assertGreater(seconds, 0.08)
        self.assertLess(seconds, 0.2)


class Ends(Cluster):
    def start(self):
        """A cluster with a command that runs on and on; returns once it does."""
        command = self.command("run", "--hosts", "2", "--", "sh", "-c", "echo on; exec sleep 1000")
        run = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.stderr.close)
        self.assertEqual(run.stdout.readline(), "on\n")
        return run

    def test_signals_end_it_and_leave_nothing(self):
        for how, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            run = self.start()
            run.send_signal(how)
            self.assertEqual(run.wait(20), status)
            self.assertEqual(run.stderr.read(), "")
            self.assert_nothing_left()

    def test_signals_while_it_is_built_end_it_and_leave_nothing(self):
        for verb in ("run", "up"):
            command = self.command(verb, "--hosts", "4", *(["--", "sleep", "1000"] if verb == "run" else []))
            early = ended = late = 0
            for moment in (0, 5, 9, 12, 15, 18, 22, 30, 45):  # from before its first line to after its last [10 ms]
                for how, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                    script = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
                    time.sleep(moment / 100)
                    # As a terminal does, and as whoever knows the process alone.
                    os.killpg(script.pid, how) if how == signal.SIGINT else script.send_signal(how)
                    code, words = script.wait(20), script.communicate()[1]
                    self.assertIn(code, (-how, status, 0), words)
                    self.assertEqual(words, "")
                    early, ended, late = early + (code == -how), ended + (code == status), late + (code == 0)
                    if code == 0:  # it was up before the signal
                        self.assertEqual(self.call("down").returncode, 0)
                    self.assert_nothing_left()
            self.assertGreater(ended, 0, f"{verb}: {early} ended before they began, {late} after they were done")

    def test_a_signal_before_the_command_runs_in_a_cluster_of_others_still_ends_it(self):
        self.assertEqual(self.call("up", "--hosts", "2").returncode, 0)
        for moment in range(0, 30, 3):
            command = self.command("run", "--", "sleep", "1234")
            script = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
            time.sleep(moment / 100)
            script.terminate()
            self.assertIn(script.wait(20), (143, -signal.SIGTERM), script.communicate()[1])
            script.stderr.close()
            sleeping = subprocess.run(["pgrep", "-f", "^sleep 1234$"], capture_output=True, text=True).stdout
            self.assertEqual(sleeping, "", f"{moment} ms")

    def test_a_host_that_the_kernel_refuses_is_told(self):
        limit = Path("/proc/sys/user/max_net_namespaces")
        if os.getuid() != 0:
            self.skipTest("needs root to limit the number of namespaces")
        used = 'echo 2 >/proc/sys/user/max_net_namespaces; exec "$@"'  # of a user namespace of its own: switch, host0
        command = ["unshare", "--user", "--map-root-user", "sh", "-c", used, "sh", *self.command("up", "--hosts", "4")]
        before = limit.read_text()
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(limit.read_text(), before)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (REFUSED, 1), done.stderr)
        self.assertIn("unshare", done.stderr)
        self.assert_nothing_left()

    def test_ctrl_c_reaches_the_command_once(self):
        counts = "trap 'echo caught; ends=yes' INT; echo on; while sleep 0.3; [[ ! $ends ]]; do :; done"
        command = self.command("run", "--hosts", "2", "--", "bash", "-c", counts)
        run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(run.stdout.close)
        self.assertEqual(run.stdout.readline(), "on\n")
        os.killpg(run.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(run.wait(30), 130)
        self.assertEqual(run.stdout.read(), "caught\n")
        self.assert_nothing_left()

    def killed_outright(self):
        """The folder that such a run leaves; no process stays."""
        run = self.start()
        run.kill()
        run.wait()
        deadline = time.monotonic() + 10
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.processes(), [])
        return self.folder(run)

    def test_even_killed_outright_no_process_stays_and_its_folder_is_cleared_away(self):
        for clear in (self.command("down", "--stale"), self.command("run", "--hosts", "2", "--", "true")):
            left = self.killed_outright()
            deadline = time.monotonic() + 10  # the last of its processes may still be dying
            while left.exists():
                done = subprocess.run(clear, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertLess(time.monotonic(), deadline)

    def test_only_what_is_known_to_be_a_dead_cluster_is_cleared_away(self):
        run = self.start()
        self.assertEqual(self.call("up", "--hosts", "2").returncode, 0)  # by a process that ends
        own = self.folder()
        foreign, elsewhere = (own.with_name(f"{own.name}-{word}") for word in ("foreign", "elsewhere"))
        for path in (foreign, elsewhere):
            path.mkdir()
            self.addCleanup(subprocess.run, ["rm", "-r", path])
        (elsewhere / "collmark-cluster").write_text("1 1 pid:[1]\n")  # of processes that cannot be seen from here
        self.assertEqual(self.call("down", "--stale").returncode, 0)
        for path in (foreign, elsewhere, own, self.folder(run)):
            self.assertTrue(path.is_dir(), path)
        self.assertEqual(self.run_on("--", "hostname").stdout, "host0\n")
        self.assertEqual(self.call("down").returncode, 0)
        run.terminate()
        self.assertEqual(run.wait(20), 143)


class NoPrograms(Cluster):
    def test_mpirun_reaches_all_hosts_where_nothing_in_tmp_may_be_executed(self):
        if os.getuid() != 0 or not shutil.which("mpirun"):
            self.skipTest("needs root to mount, and mpirun")
        mounted = (
            "mount -t tmpfs none /mnt; cp $0 $1 /mnt; mount -t tmpfs -o noexec none /tmp; "
            "exec /mnt/emulated_cluster.sh run --hosts 2 -- mpirun -n 2 hostname"
        )
        command = ["unshare", "--mount", "sh", "-euc", mounted, SCRIPT, STATE]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60)
        self.assertEqual((sorted(done.stdout.split()), done.stderr), (["host0", "host1"], ""))


class WithoutRoot(unittest.TestCase):
    def test_a_user_builds_one_where_the_kernel_lets_users_make_namespaces(self):
        if os.getuid() != 0:
            self.skipTest("the other tests are this one")
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        with tempfile.TemporaryDirectory() as room:
            os.chmod(room, 0o755)
            script, stream = (shutil.copy(path, room) for path in (SCRIPT, STREAM))
            shutil.copy(STATE, room)
            name = f"test-{uuid.uuid4().hex[:8]}"
            command = [script, "run", "--name", name, "--hosts", "2", "--rate", "80mbit", "--"]
            command += ["/usr/bin/python3", stream, "host1", "1000000"]  # one that everybody may run
            done = subprocess.run([*nobody, *command], capture_output=True, text=True, cwd="/", timeout=60)
        self.assertEqual(glob.glob(f"/tmp/collmark-cluster-*-{name}*"), [])
        if done.returncode == REFUSED:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        received, seconds = done.stdout.split()
        self.assertEqual(int(received), 1_000_000)
        self.assertLess(8 / float(seconds), 88)


class WhatOthersLayInTmp(Cluster):
    """Anybody may make a folder of any name there: a cluster is a folder that its user alone may enter."""

    def setUp(self):
        super().setUp()
        self.victim = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(self.victim.wait)
        self.addCleanup(self.victim.kill)
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder()])

    def as_a_cluster(self, path, mode=0o700):
        """All that a cluster's folder has; its first process is one that this script never started."""
        fields = Path(f"/proc/{self.victim.pid}/stat").read_text().split()
        path.mkdir()
        process = f"{self.victim.pid} {fields[21]}"
        here = os.readlink("/proc/self/ns/pid")
        (path / "collmark-cluster").write_text(f"{process} {here}\n")
        (path / "holder").write_text(f"{process}\n")
        (path / "hosts").write_text(f"host0 {self.victim.pid}\n")
        (path / "agent").write_text("#!/bin/sh\n")
        path.chmod(mode)
        return path

    def assert_refused(self, path):
        for verb, *rest in (("up",), ("down",), ("run", "--", "true"), ("down", "--stale")):
            done = self.call(verb, *rest)
            told = (0, 0) if rest == ["--stale"] else (2, 1)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), told, (verb, done.stderr))
            self.assertIn(str(self.folder()) if told[0] else "", done.stderr)
            self.assertIsNone(self.victim.poll(), f"{verb} ended a process that no cluster started")
            self.assertTrue((path / "agent").exists(), verb)
            self.assertTrue(self.folder().exists(), verb)

    def test_a_folder_of_another_user_is_refused_and_the_process_that_it_names_lives_on(self):
        if os.getuid() != 0:
            self.skipTest("needs root to give a folder to somebody else")
        path = self.as_a_cluster(self.folder())
        for entry in (path, *path.iterdir()):
            os.chown(entry, 65534, 65534)
        self.assert_refused(path)

    def test_a_folder_that_others_may_enter_is_refused(self):
        for mode in (0o777, 0o770, 0o755):
            path = self.as_a_cluster(self.folder(), mode)
            self.assert_refused(path)
            shutil.rmtree(path)

    def test_a_symbolic_link_is_refused_even_to_what_is_like_a_cluster(self):
        with tempfile.TemporaryDirectory() as room:
            path = self.as_a_cluster(Path(room, "cluster"))
            self.folder().symlink_to(path)
            self.assert_refused(path)

    def test_a_symbolic_link_to_nothing_and_a_file_are_refused(self):
        for lay in (lambda: self.folder().symlink_to("/nowhere"), self.folder().touch):
            lay()
            for verb, *rest in (("up",), ("down",), ("run", "--", "true")):
                done = self.call(verb, *rest)
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), (verb, done.stderr))
            self.folder().unlink()

    def test_a_process_that_has_got_the_number_of_a_clusters_first_lives_on(self):
        path = self.as_a_cluster(self.folder())
        for name in ("collmark-cluster", "holder"):
            told = (path / name).read_text().split()
            (path / name).write_text(" ".join([told[0], str(int(told[1]) - 1), *told[2:]]) + "\n")
        self.assertEqual(self.call("down").returncode, 0)
        self.assertIsNone(self.victim.poll())
        self.assertFalse(path.exists())

    def test_a_cluster_of_another_container_is_refused(self):
        path = self.as_a_cluster(self.folder())
        (path / "collmark-cluster").write_text("1 1 pid:[1]\n")
        self.assert_refused(path)


class AMachineWithoutTools(unittest.TestCase):
    def test_it_names_the_package_and_ends_in_77(self):
        with tempfile.TemporaryDirectory() as room:
            for tool in ("bash", "realpath", "dirname", "id", "sed"):
                Path(room, tool).symlink_to(shutil.which(tool))
            command = [SCRIPT, "run", "--", "true"]
            done = subprocess.run(command, capture_output=True, text=True, env={"PATH": room})
        self.assertEqual(done.returncode, REFUSED, done.stderr)
        self.assertEqual(done.stderr, "emulated_cluster.sh: needs ip: apt-get install iproute2 util-linux\n")


class UpAndDown(Cluster):
    def test_a_cluster_that_is_up_serves_several_runs(self):
        self.assertEqual(self.call("up", "--hosts", "2").returncode, 0)
        try:
            self.assertEqual(self.run_on("--", "hostname").stdout, "host0\n")
            self.assertEqual(self.run_on("--", "hostname").stdout, "host0\n")
            again = self.call("up")
            self.assertEqual((again.returncode, len(again.stderr.splitlines())), (2, 1))
            self.assertIn("is up already", again.stderr)
        finally:
            self.assertEqual(self.call("down").returncode, 0)
        self.assert_nothing_left()
        self.assertIn("there is no cluster", self.call("down").stderr)

    def test_of_several_that_build_it_at_once_one_does_and_the_others_are_told(self):
        for _ in range(4):
            started = [
                subprocess.Popen(self.command("up", "--hosts", "2"), stderr=subprocess.PIPE, text=True)
                for _ in range(3)
            ]
            ended = [(words, each.returncode) for each in started for words in [each.communicate(timeout=60)[1]]]
            self.assertEqual(sorted(code for _, code in ended), [0, 2, 2], ended)
            for words, code in ended:
                if code:
                    self.assertRegex(words, "^emulated_cluster.sh: cluster '.*' is (being built|up already).*\n$")
            self.assertEqual(self.run_on("--", "hostname").stdout, "host0\n")
            self.assertEqual(self.call("down").returncode, 0)
            self.assert_nothing_left()

    def test_while_it_is_built_nobody_uses_it_or_takes_it_away(self):
        building = subprocess.Popen(self.command("up", "--hosts", "50"), stderr=subprocess.PIPE, text=True)
        while not (self.folder() / "hosts").exists():
            self.assertIsNone(building.poll())
            time.sleep(0.005)
        for verb, *rest in (("down",), ("run", "--", "true")):
            done = self.call(verb, *rest)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), (verb, done.stderr))
            self.assertIn("is being built", done.stderr)
        self.assertEqual(building.communicate(timeout=60)[1], "")
        self.assertEqual(building.returncode, 0)
        self.assertEqual(self.call("down").returncode, 0)
        self.assert_nothing_left()

    def test_what_it_did_not_create_it_does_not_touch(self):
        foreign = self.folder()
        foreign.mkdir()
        self.addCleanup(foreign.rmdir)
        for verb in ("up", "down"):
            done = self.call(verb)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), done.stderr)
        self.assertTrue(foreign.is_dir())
        self.assertEqual(subprocess.run([SCRIPT, "hold"], capture_output=True).returncode, 2)

    def test_bad_options_are_one_line(self):
        for wrong in (
            ("--hosts", "1"), ("--hosts", "four"), ("--hosts",), ("--racks", "3"), ("--racks", "0"), ("--rate", "200"),
            ("--rate", "0mbit"), ("--uplink", "fast"), ("--delay", "5"), ("--delay", "0ms"),
            ("--stale",), ("--fair", "--racks", "1"), ("--fast",), ("true",), (),
        ):  # fmt: skip
            done = self.run_on(*wrong)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1), (wrong, done.stderr))


if __name__ == "__main__":
    unittest.main()
