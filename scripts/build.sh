#!/usr/bin/env bash
# usage: scripts/build.sh PRESET [tools | all | target...]   (default: all)
# Configures a preset once and builds it; ninja reconfigures when it has to.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: scripts/build.sh PRESET [tools | all | target...]}
shift
targets=("$@")
[ "${targets[*]:-}" != tools ] || targets=(cwm-opt cwm-tune cwm-runner CwmPlugin)
[ -e "build/$preset/build.ninja" ] || cmake --preset "$preset" -Wno-dev >"${TMPDIR:-/tmp}/cwm-configure.$$" 2>&1 || {
  cat "${TMPDIR:-/tmp}/cwm-configure.$$" >&2
  rm -f "${TMPDIR:-/tmp}/cwm-configure.$$" "build/$preset/build.ninja"
  exit 1
}
rm -f "${TMPDIR:-/tmp}/cwm-configure.$$"
exec ninja -C "build/$preset" -j "${CWM_JOBS:-$(nproc)}" "${targets[@]:-all}"
