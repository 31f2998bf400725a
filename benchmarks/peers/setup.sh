#!/usr/bin/env bash
# Makes the environments of peers that do not fit into .venv-bench.
#
#   benchmarks/peers/setup.sh iree ansor metaschedule
#
# Each goes to build/peers-env/PEER (CWM_PEERS_ENV names another folder) with the versions of
# requirements-PEER.txt; one that is there with the same versions is left as it is. Ansor needs
# Python 3.8: CWM_PYTHON38 names it, else python3.8 is looked for on the PATH and in pyenv.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=${CWM_PEERS_ENV:-$here/../../build/peers-env}

fail() {
  echo "setup.sh: error: $*" >&2
  exit 1
}

# A shim of pyenv may be on the PATH and still not run: each candidate is tried.
python38() {
  local candidate
  for candidate in "${CWM_PYTHON38:-}" python3.8 "$(pyenv root 2>/dev/null)"/versions/3.8*/bin/python3.8; do
    if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 8))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
    [ "$candidate" != "${CWM_PYTHON38:-}" ] || [ -z "$candidate" ] || fail "CWM_PYTHON38 is not a Python 3.8: '$candidate'"
  done
  fail "no Python 3.8 found: set CWM_PYTHON38"
}

[ $# -gt 0 ] || fail "expected peers: some of iree, ansor, metaschedule"
for peer in "$@"; do
  case $peer in
  ansor) python=$(python38) ;;
  iree | metaschedule) python=${PYTHON:-python3} ;;
  *) fail "unknown peer '$peer': expected some of iree, ansor, metaschedule" ;;
  esac
  if [ "$peer" = ansor ] && ! command -v g++ >/dev/null; then
    fail "ansor links its kernels with g++, which is not on the PATH"
  fi
  requirements=$here/requirements-$peer.txt
  if cmp -s "$requirements" "$folder/$peer/installed.txt"; then
    echo "$peer: up to date"
    continue
  fi
  mkdir -p "$folder"
  rm -rf "${folder:?}/$peer"
  "$python" -m venv "$folder/$peer"
  "$folder/$peer/bin/pip" install -q -r "$requirements"
  cp "$requirements" "$folder/$peer/installed.txt"
  echo "$peer: installed"
done
