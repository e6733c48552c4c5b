#!/usr/bin/env bash
# Installs what collmark builds, tests and draws with, from Debian's packages. Safe to run again: it
# installs only what is missing, and with nothing missing it needs no root.
#
#   scripts/setup.sh          the compiler, the libraries, and what the figures need
#   scripts/setup.sh --ci     also the checkers, Open MPI for the comparison, what emulates a cluster, and Slurm
set -euo pipefail
cd "$(dirname "$0")/.."

build=(g++ cmake ninja-build git ca-certificates
       libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev libbenchmark-dev)
figures=(python3 python3-matplotlib python3-pandas)
checkers=(clang-format clang-tidy ccache python3-venv libopenmpi-dev openmpi-bin iproute2
          slurmctld slurmd relacy-dev)
ruff=ruff==0.17.6  # in .venv: Debian has no package of it

wanted=("${build[@]}" "${figures[@]}")
case ${1-} in
  "") ;;
  --ci) wanted+=("${checkers[@]}") ;;
  *) echo "setup.sh: unknown option '$1' (usage: scripts/setup.sh [--ci])" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: knows Debian's packages only; elsewhere install what these hold: ${wanted[*]}" >&2
  exit 2
fi

installed() { [[ $(dpkg-query -W -f '${Status}' "$1" 2>/dev/null) == "install ok installed" ]]; }

missing=()
for package in "${wanted[@]}"; do installed "$package" || missing+=("$package"); done

if [[ ${#missing[@]} == 0 ]]; then
  echo "setup: all ${#wanted[@]} packages are there"
elif [[ $(id -u) != 0 ]]; then
  echo "setup.sh: not root, and missing: sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 2
else
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup.sh: apt-get failed; its last lines are above" >&2
    exit 1
  fi
  echo "setup: installed ${#missing[@]} packages"
fi

if [[ ${1-} == --ci && $(.venv/bin/ruff --version 2>/dev/null) != "ruff ${ruff#*==}" ]]; then
  echo "setup: installing $ruff in .venv"
  /usr/bin/python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check "$ruff"
fi
