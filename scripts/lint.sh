#!/usr/bin/env bash
# Every check that needs no test run: layout, mistakes that clang-tidy and ruff find, headers that
# compile, alone and all at once. Wants `scripts/setup.sh --ci` and a configured build directory.
#
#   scripts/lint.sh [BUILD_DIR]        default: build. Ends with "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
if [[ ! -f $build/compile_commands.json ]]; then
  echo "lint.sh: no $build/compile_commands.json: run cmake --preset default first" >&2
  exit 2
fi
logs=$build/lint
mkdir -p "$logs"
mapfile -t sources < <(git ls-files '*.cpp' '*.hpp' '*.cu')

formatted() { clang-format --dry-run -Werror "${sources[@]}"; }
tidy() {  # tests are left to the compiler's warnings and the sanitizers: they would double the time
  # simd/x86.cpp asks __builtin_cpu_supports for levels that clang 14 does not know.
  git ls-files -z '*.cpp' | grep -zvE '_test\.cpp$|/simd/x86\.cpp$' |
    xargs -0 /usr/bin/python3 scripts/tidy.py "$build"
}
python_style() { .venv/bin/ruff check scripts && .venv/bin/ruff format --check scripts; }
headers_alone() { /usr/bin/python3 scripts/check_headers.py "$build"; }
shell_syntax() { local f; for f in scripts/*.sh .ci/run; do bash -n "$f" || return 1; done; }

passed=0 failed=0
check() {  # check NAME: runs it, keeps its words, shows them when it fails
  local start=$SECONDS
  if "$1" >"$logs/$1.log" 2>&1; then
    passed=$((passed + 1))
    echo "lint: $1 ok ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    echo "lint: $1 FAILED ($((SECONDS - start)) s), in full in $logs/$1.log"
    head -n 40 "$logs/$1.log" | sed 's/^/    /'
  fi
}
for name in formatted shell_syntax python_style headers_alone tidy; do check "$name"; done
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
