#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test that can run with what is installed. After
# scripts/setup.sh --ci those are all: CONTRIBUTING.md says which need MPI, Slurm, iproute2 or relacy.
#
#   scripts/test.sh           the default preset
#   scripts/test.sh asan      another one of CMakePresets.json: ci (warnings are errors), asan, tsan
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-default}

scripts/setup.sh
cmake --preset "$preset"
cmake --build --preset "$preset"

# ThreadSanitizer of GCC 12 cannot map its shadow where the kernel randomises addresses by more than 28 bits.
fixed_addresses=()
if [[ $preset == tsan ]] && setarch -R true 2>/dev/null; then fixed_addresses=(setarch -R); fi
"${fixed_addresses[@]}" ctest --preset "$preset"
