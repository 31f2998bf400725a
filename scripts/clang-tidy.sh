#!/usr/bin/env bash
# usage: scripts/clang-tidy.sh BUILD_DIR
# clang-tidy on the sources changed since the merge base with main (or since
# $CWM_BASE), and on all of them when nothing differs or no base is known. A
# changed header counts for every source of its folder in lib/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:?usage: scripts/clang-tidy.sh BUILD_DIR}
base=${CWM_BASE:-}
if [ -z "$base" ]; then
  for main in origin/main main; do
    base=$(git merge-base HEAD "$main" 2>/dev/null) && break
  done
fi
all=$(git ls-files 'lib/*.cpp' 'tools/*.cpp' 'plugin/*.cpp' 'runtime/*.cpp')
changed=
if [ -n "$base" ]; then
  changed=$(git diff --name-only --diff-filter=d "$base" -- | while read -r file; do
    case "$file" in
      *.cpp) grep -Fx -- "$file" <<<"$all" || true ;;
      include/cwm/*.h | lib/*.h)
        folder=$(dirname "${file#include/cwm/}")
        grep -E "^lib/${folder#lib/}/[^/]*\.cpp$" <<<"$all" || true ;;
    esac
  done | sort -u)
fi
files=${changed:-$all}
echo "clang-tidy: $(wc -l <<<"$files") of $(wc -l <<<"$all") sources"
xargs -P "${CWM_JOBS:-$(nproc)}" -n 1 clang-tidy-22 -p "$build" --quiet --warnings-as-errors='*' <<<"$files" 2>/dev/null
