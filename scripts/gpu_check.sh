#!/usr/bin/env bash
# On a machine with GPUs: proves every kernel there, then measures, and leaves rows and a record of the run.
#
#   scripts/gpu_check.sh --out FOLDER       build/collmark, or what COLLMARK names, which may have been built elsewhere
#   scripts/gpu_check.sh --dry-run          the same commands on the stub driver, with few and small cases: no GPU is needed
#
# In order: what is there; every algorithm, data type, operator and placement, each result compared bit for bit; the
# same under compute-sanitizer, where it is installed; training steps; times; packing; hops, launches and links; with several GPUs,
# a rank on each, ours and NCCL's side by side, and with an mpirun a process for each. Nothing is downloaded. Ends with exit
# code 0, or that of the first stage that failed (docs/command-line.md). With one GPU, ranks share it, and neither a link nor
# NCCL is measured: that wants a GPU for each rank.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${COLLMARK:-build/collmark}
out='' dry=''
usage() { echo "usage: gpu_check.sh --out FOLDER | --dry-run" >&2; exit 2; }
while [[ $# -gt 0 ]]; do
  case $1 in
    --out) out=${2-}; shift 2 || usage ;;
    --dry-run) dry=yes; shift ;;
    *) usage ;;
  esac
done
[[ -n $out || -n $dry ]] || usage
if [[ ! -x $program ]]; then
  echo "gpu_check.sh: no $program: cmake --preset default && cmake --build build, or set COLLMARK" >&2
  exit 2
fi

kernels=all,ring_interpreted,ring/graph,one_shot/LL,two_shot/LL,parameter_server/links
if [[ -n $dry ]]; then
  export COLLMARK_CUDA_DRIVER=${COLLMARK_STUB_DRIVER:-$PWD/build/kernels/stub_driver/libcollmark_stub_driver.so}
  export COLLMARK_NCCL=${COLLMARK_STUB_NCCL:-$PWD/build/kernels/stub_nccl/libcollmark_stub_nccl.so}
  out=${out:-$(mktemp -d)}
  mkdir -p "$out"
  ranks=2:3 many=3 sizes=60 dtypes=f32,bf16 operators=avg timed=1K copied=64K
  printf 'name,shape,numel\na,3x5,15\nb,64,64\nc,700,700\nd,1,1\n' >"$out/gradients"
  model=$out/gradients policies=ddp,per_tensor,horovod caps=2K packing='gpu_pack/dlrm.*/bf16'
  kernels=ring,ring_interpreted,ring/graph,one_shot/LL,parameter_server/links
  few=(--threads 4 --channels 2)
else
  ranks=1:8 many=8 sizes=0,4,60,1K,4100,96K,1M,5M dtypes=f32,f64,f16,bf16,i32,i64,u8
  operators=sum,prod,min,max,avg timed=8:1G:x8 copied=64M
  model=resnet50 policies=ddp,per_tensor,horovod,byteps caps=1M:64M:x4 packing=gpu_
  few=()
fi
mkdir -p "$out"
once=(-n 1 -w 0 --time-budget 0.001)

logged() {  # logged NAME COMMAND...: what it says goes into NAME.txt
  local name=$1
  shift
  echo "== $name"
  "$@" >"$out/$name.txt" ||
    { local code=$?; tail -n 5 "$out/$name.txt"; echo "gpu_check.sh: $name failed; all of it in $out" >&2; exit "$code"; }
}
stage() { sweep "$1" --backend cuda "${few[@]}" "${@:2}"; }  # stage NAME FLAGS...
sweep() { logged "$1" "${before[@]}" "$program" sweep "${@:2}" --csv "$out/$1.csv"; }  # sweep NAME FLAGS...: into NAME.csv
before=()

"$program" doctor | tee "$out/doctor.txt" | grep -E '^ +cuda '
stage algorithms --algorithm $kernels --ranks $ranks --sizes $sizes --placement in_place,out_of_place "${once[@]}"
stage types --algorithm $kernels --ranks 3 --sizes 4100 --dtype $dtypes --op $operators \
  --placement in_place,out_of_place "${once[@]}"
for collective in reduce_scatter all_gather broadcast reduce all_to_all barrier; do
  stage "$collective" --collective "$collective" --algorithm all --ranks $many --sizes $sizes \
    --placement out_of_place "${once[@]}"
done
if command -v compute-sanitizer >/dev/null && [[ -z $dry ]]; then
  before=(compute-sanitizer --error-exitcode 1 --log-file "$out/memcheck.txt")
  stage memcheck --algorithm $kernels --ranks 4 --sizes 4100 "${once[@]}"
  before=()
else
  echo "== memcheck: not run, $([[ -n $dry ]] && echo "a dry run" || echo "no compute-sanitizer on PATH")"
fi
logged step "$program" step --backend cuda "${few[@]}" --model "$model" --bucket-policy $policies --bucket-bytes $caps \
  --ranks $many --algorithm ring,two_shot --time-budget 0.2 --csv "$out/step.csv"
stage times --algorithm ring,ring/graph,ring_interpreted,two_shot,two_shot/LL,one_shot,one_shot/LL,parameter_server,double_binary_tree \
  --ranks 2,$many --sizes $timed --placement out_of_place --time-budget 0.2
micro=$(dirname "$program")/collmark_micro
if [[ -x $micro ]]; then
  logged packing "$micro" "--benchmark_filter=$packing" --benchmark_min_time="$([[ -n $dry ]] && echo 0.001 || echo 0.2)"
  # A benchmark that cannot run says so and ends well all the same.
  if grep -q 'ERROR OCCURRED' "$out/packing.txt"; then
    grep -m 1 'ERROR OCCURRED' "$out/packing.txt" >&2
    grep -q 'is wrong' "$out/packing.txt" && exit 5
    exit 1
  fi
else
  echo "== packing: not run, no $micro"
fi
[[ -z $dry ]] || export COLLMARK_STUB_DEVICES=2
logged hops "$program" links --backend cuda --size $copied --csv "$out/hops.csv"
cat "$out/hops.txt"
gpus=$("$program" doctor | grep -E '^ +cuda ' | grep -o 'GPU-[0-9a-f-]*' | wc -l)
if [[ $gpus -gt 1 ]]; then
  apart=(--ranks "$gpus" --sizes $timed --placement out_of_place --time-budget 0.2)
  stage links --algorithm ring,ring/graph,double_binary_tree,two_shot "${apart[@]}"
  sweep nccl --backend nccl --allow-missing \
    --algorithm library,library:ring,library:tree,library/graph,library/registered "${apart[@]}"
  grep -q ',ok,' "$out/nccl.csv" || echo "NCCL not measured: $("$program" doctor | grep -E '^ +nccl ')"
fi
if [[ $gpus -le 1 || -n $dry ]]; then
  echo "links not measured: all ranks shared one device"
  echo "NCCL not measured: it wants a GPU for each rank"
fi
why=''
[[ $gpus -gt 1 ]] || why="one GPU"
command -v mpirun >/dev/null || why="no mpirun on PATH"
[[ $("$program" --version) != *"MPI none"* ]] || why="built without MPI"
if [[ -z $why ]]; then
  stage processes --processes --algorithm $kernels --ranks 2,"$gpus" --sizes $sizes --placement in_place,out_of_place "${once[@]}"
  stage process_times --processes --algorithm ring,two_shot,two_shot/LL,one_shot/LL --ranks 2,"$gpus" --sizes $timed \
    --placement out_of_place --time-budget 0.2
else
  echo "== processes: not run, $why"
fi
/usr/bin/env python3 - "$out"/*.csv <<'END' || true
import collections, csv, pathlib, sys
skipped = collections.Counter()
for path in map(pathlib.Path, sys.argv[1:]):
    with path.open() as rows:
        skipped.update((path.stem, row["reason"]) for row in csv.DictReader(rows) if row.get("status") == "skipped")
for (stage, reason), rows in skipped.most_common():
    print(f"skipped in {stage}: {rows} rows: {reason}")
END
echo "every result that there is is right; rows, tables and run.json in $out"
