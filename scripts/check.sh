#!/usr/bin/env bash
# Builds one preset and runs every test of the project: gtest, lit, pytest.
# The last line is `N passed, N failed` over all of them.
#
# usage: scripts/check.sh [--preset=dev] [--results=DIR] [--only=gtest,lit,pytest]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=dev results='' only=gtest,lit,pytest
for arg in "$@"; do
  case "$arg" in
    --preset=*) preset=${arg#*=} ;;
    --results=*) results=${arg#*=} ;;
    --only=*) only=${arg#*=} ;;
    *) echo "check: error: unknown option '$arg'" >&2; exit 1 ;;
  esac
done
build=build/$preset
results=${results:-$build/test-results}
rm -rf "$results"
mkdir -p "$results"
python=.venv/bin/python3

wants() { case ",$only," in *",$1,"*) return 0 ;; *) return 1 ;; esac; }
# note NAME STATUS: what summarise_tests.py compares a runner's report with.
note() { echo "$2" >"$results/$1.status"; }

# lit alone needs no unit tests: a third of the build.
targets=(all)
wants gtest || targets=(cwm-opt cwm-tune cwm-train cwm-runner CwmPlugin)

if ! scripts/build.sh "$preset" "${targets[@]}"; then
  note build 1
elif [ ! -x "$python" ]; then
  echo "check: error: no .venv: run scripts/setup.sh" >&2
  note setup 1
else
  lit=$(sed -n 's/^LLVM_EXTERNAL_LIT:[A-Z]*=//p' "$build/CMakeCache.txt")
  if wants gtest; then
    for binary in "$build"/unittests/*; do
      [ -x "$binary" ] && [ -f "$binary" ] || continue
      name=gtest-$(basename "$binary")
      timeout 900 "$binary" --gtest_brief=1 --gtest_output="json:$results/$name.json"
      note "$name" $?
    done
  fi
  if wants lit; then
    # Two tests at a time, each with a limit: a hang is a failure, not a stop.
    "$python" "$lit" -sv -j "${CWM_JOBS:-$(nproc)}" --timeout "${CWM_TEST_TIMEOUT:-600}" \
      --output "$results/lit.json" "$build/test"
    note lit $?
  fi
  if wants pytest; then
    folders=(scripts benchmarks)
    [ ! -d python ] || folders+=(python)
    CWM_TEST_BUILD_DIR=$PWD/$build "$python" -m pytest -q -p no:cacheprovider --junitxml="$results/pytest.xml" "${folders[@]}"
    note pytest $?
  fi
fi
[ -x "$python" ] || python=python3
exec "$python" scripts/summarise_tests.py "$results"
