#!/usr/bin/env bash
# usage: scripts/format.sh [--check]
# clang-format and ruff over all own files; with --check nothing is changed and
# the exit status tells.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(-i) ruff=(format --quiet)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run --Werror) ruff=(format --quiet --check)
fi
status=0
git ls-files -z '*.cpp' '*.h' '*.c' | xargs -0 -r clang-format-22 "${mode[@]}" || status=1
python_files=$(git ls-files '*.py')
if [ -n "$python_files" ]; then
  # shellcheck disable=SC2086
  .venv/bin/ruff "${ruff[@]}" $python_files || status=1
  .venv/bin/ruff check --quiet $python_files || status=1
fi
exit $status
