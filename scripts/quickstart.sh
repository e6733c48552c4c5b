#!/usr/bin/env bash
# What a ring costs against a parameter server, measured on this machine in under two minutes: over
# tensor sizes, over the number of ranks, and over the bucket sizes of ResNet-50's gradients. Every
# result is checked, every byte counted. Installs what is missing (as root) and builds first.
#
#   scripts/quickstart.sh [--out DIR]        default: out/quickstart-DATE-TIME
set -euo pipefail
cd "$(dirname "$0")/.."

out=out/quickstart-$(date +%Y%m%d-%H%M%S)
if [[ ${1-} == --out && $# == 2 ]]; then
  out=$2
elif [[ $# != 0 ]]; then
  echo "quickstart.sh: unknown option '$1' (usage: scripts/quickstart.sh [--out DIR])" >&2
  exit 2
fi
mkdir -p "$out" 2>/dev/null && [[ -w $out ]] || { echo "quickstart.sh: cannot write to $out" >&2; exit 2; }

say() { printf '\n== %s\n' "$*"; }

say "Setting up and building: minutes the first time, seconds after that"
scripts/setup.sh
build_log=$out/build.log
if ! { cmake --preset default && cmake --build --preset default --target collmark; } >"$build_log" 2>&1; then
  tail -n 30 "$build_log" >&2
  echo "quickstart.sh: the build failed; all of it is in $build_log" >&2
  exit 1
fi
collmark=build/collmark
"$collmark" --version
measuring_since=$SECONDS

ranks=4  # at two ranks ring and parameter server move the same bytes
algorithms=ring,parameter_server,two_shot,double_binary_tree,rabenseifner

say "1/4  How a ring works, on $ranks ranks"
"$collmark" explain ring --ranks $ranks >"$out/ring.txt"
head -n 24 "$out/ring.txt"
echo "(its other steps: $out/ring.txt)"

say "2/4  all_reduce over tensor sizes, 4 B to 64 MiB, $ranks ranks: about 15 s"
"$collmark" sweep --collective all_reduce --algorithm $algorithms --backend threads \
  --ranks $ranks --sizes 4:64M:x8 --time-budget 0.3 --csv "$out/sizes.csv"

say "3/4  all_reduce of 16 MiB over 2 to 8 ranks: about 15 s"
"$collmark" sweep --collective all_reduce --algorithm $algorithms --backend threads \
  --ranks 2:8 --sizes 16M --time-budget 0.3 --csv "$out/ranks.csv"

say "4/4  One training step of ResNet-50, 161 gradient tensors, over bucket sizes: about 40 s"
"$collmark" step --model resnet50 --bucket-policy ddp,per_tensor,single --bucket-bytes 1M:64M:x2 \
  --algorithm ring,parameter_server --backend threads --ranks $ranks --csv "$out/step.csv"

say "Figures and data in $out, measured in $((SECONDS - measuring_since)) s"
scripts/plot.py "$out"/{sizes,ranks,step}.csv --out "$out"
ls "$out"/*.csv

say "What was seen"
scripts/seen.py "$out"
