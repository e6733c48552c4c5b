#!/usr/bin/env python3
"""A one-way TCP stream from this host of an emulated cluster to another, timed where it arrives.

tcp_stream.py HOST BYTES      prints the bytes that arrived and the seconds from the first to the last
"""

import os
import shlex
import subprocess
import sys

# What the other host runs, started through the launch agent that the cluster names.
RECEIVE = """
import socket, time
server = socket.create_server(('', 5001))
server.settimeout(60)
print('ready', flush=True)
peer, _ = server.accept()
size, start = len(peer.recv(1)), time.monotonic()
while data := peer.recv(1 << 20):
    size += len(data)
print(size, time.monotonic() - start, flush=True)
"""
SEND = """
import os, socket, sys
with socket.create_connection((sys.argv[1], 5001)) as to:
    to.sendall(os.urandom(int(sys.argv[2])))
"""


def stream(host, size):
    """(bytes, seconds) at the other end.  Raises ConnectionError if nothing can be sent."""
    agent = os.environ["OMPI_MCA_plm_rsh_agent"].split()  # noqa: SIM112
    there = [*agent, host, shlex.join([sys.executable, "-c", RECEIVE])]
    here = [sys.executable, "-c", SEND, host, str(size)]
    with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as receiver:
        receiver.stdout.readline()
        sender = subprocess.run(here, check=False, capture_output=True, text=True)
        if sender.returncode:
            receiver.kill()
            raise ConnectionError(f"no stream from here to {host}: {sender.stderr.strip().splitlines()[-1]}")
        received, seconds = receiver.stdout.readline().split()
    return int(received), float(seconds)


if __name__ == "__main__":
    print(*stream(sys.argv[1], int(sys.argv[2])))
