#!/usr/bin/env bash
# gpu_code.sh BUILD: what nvcc has made of the kernels in a build folder, registers and blocks of each, read from the
# machine code. Where there is an nvcc and yet no code, that is a failure; where there is none, it is skipped and says so.
set -uo pipefail
cd "$(dirname "$0")/.."
code=${1:-build}/kernels/kernels.fatbin
home=${CUDA_HOME:-/usr/local/cuda}
nvcc=$(command -v nvcc || ls "$home/bin/nvcc" 2>/dev/null)
if [[ -f $code ]]; then
  /usr/bin/python3 scripts/cubin.py "$code" && echo "1 passed, 0 failed" && exit 0
  echo "0 passed, 1 failed" && exit 1
fi
if [[ -n $nvcc ]]; then
  echo "FAILED: $nvcc is there, but no code for GPUs was built: no $code (cmake prints why)"
  echo "0 passed, 1 failed"
  exit 1
fi
echo "skipped: no code for GPUs was built, as there is no nvcc on PATH or in $home/bin: kernels ran on the CPU only"
echo "0 passed, 0 failed"
