#!/usr/bin/env bash
# Installs what building, running and testing cwm needs: distribution packages
# (only when one is missing) and the Python environment .venv. Safe to run
# again, also after an interruption; a run that finds everything is instant.
#
# usage: scripts/setup.sh [--ci] [--no-packages]
#   --ci           also what .ci/run needs (g++-12, clang-format, clang-tidy, sanitizers)
#   --no-packages  leave the distribution's packages alone (unknown systems)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*"; }
die() {
  printf 'setup: error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf 'setup:   %s\n' "$line" >&2; done
  exit 1
}

with_ci=no with_packages=yes
for arg in "$@"; do
  case "$arg" in
    --ci) with_ci=yes ;;
    --no-packages) with_packages=no ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) die "unknown option '$arg'" "usage: scripts/setup.sh [--ci] [--no-packages]" ;;
  esac
done

# The compiler and MLIR, with the OpenMP runtime of kernels that use several
# threads; the build; what LLVM's CMake files look for; the record
# store; the Python environment; the tests.
packages=(clang-22 lld-22 llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools
  libomp-22-dev
  cmake ninja-build ccache make git ca-certificates
  zlib1g-dev libzstd-dev libxml2-dev
  libsqlite3-dev sqlite3
  python3 python3-venv
  libgtest-dev libgmock-dev)
if [ "$with_ci" = yes ]; then
  packages+=(g++-12 clang-format-22 clang-tidy-22 libclang-rt-22-dev)
fi

# Fills the array `missing`.
find_missing() {
  missing=()
  local installed package
  # dpkg-query's own status only says that some package is unknown to it.
  installed=" $( (dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true) |
    awk '$2 == "installed" {print $1}' | tr '\n' ' ') "
  for package in "$@"; do
    case "$installed" in *" $package "*) ;; *) missing+=("$package") ;; esac
  done
}

install_packages() {
  local os_release=${CWM_OS_RELEASE:-/etc/os-release} system=unknown family=
  if [ -r "$os_release" ]; then
    system=$(. "$os_release" && echo "${PRETTY_NAME:-${ID:-unknown}}")
    family=$(. "$os_release" && echo " ${ID:-} ${ID_LIKE:-} ")
  fi
  case "$family" in
    *" debian "* | *" ubuntu "*) ;;
    *) die "unknown operating system '$system': this script knows Debian and Ubuntu" \
      "install the equivalents of: ${packages[*]}" \
      "then run: scripts/setup.sh --no-packages" ;;
  esac
  find_missing "${packages[@]}"
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "packages are missing and there is neither root nor sudo" \
      "run as root: apt-get update && apt-get install ${missing[*]}"
    as_root=(sudo)
    say "using sudo for apt-get"
  fi
  say "installing ${#missing[@]} packages on $system: ${missing[*]}"
  local refreshed=yes
  "${as_root[@]}" apt-get update -qq -o APT::Update::Error-Mode=any || refreshed=no
  local absent=() package policy
  for package in "${missing[@]}"; do
    # Not a pipe into `grep -q`: that kills apt-cache, and pipefail sees it.
    policy=$(apt-cache policy "$package" 2>/dev/null || true)
    case "$policy" in *"Candidate: (none)"* | '') absent+=("$package") ;; esac
  done
  if [ ${#absent[@]} -gt 0 ]; then
    [ "$refreshed" = yes ] || die "the package lists could not be refreshed and lack: ${absent[*]}" \
      "check the network and the files under /etc/apt, then run this again"
    die "the package sources of $system lack: ${absent[*]}" \
      "LLVM 22 is in Debian 12 and 13 with security updates enabled; elsewhere add LLVM's own apt" \
      "repository (see llvm.org, 'LLVM Debian/Ubuntu packages'), then run this again"
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install: ${missing[*]}" "its messages are above; run this again when that is repaired"
  find_missing "${missing[@]}"
  [ ${#missing[@]} -eq 0 ] || die "still missing after apt-get: ${missing[*]}"
}

# A stamp holds the sum of the requirements that .venv was made from. A marker
# tells an interrupted installation, whose remains are not trusted.
install_venv() {
  local stamp=.venv/.cwm-requirements marker=.venv/.cwm-incomplete wanted
  wanted=$(cksum <scripts/requirements.txt)
  if [ -e "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && .venv/bin/python3 -c '' 2>/dev/null; then
    return 0
  fi
  local python=/usr/bin/python3
  [ -x "$python" ] || python=$(command -v python3) || die "python3 was not found"
  if [ -e "$marker" ] || ! .venv/bin/python3 -m pip --version >/dev/null 2>&1; then
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv ||
      die "$python could not make a virtual environment" "is the package python3-venv installed?"
  fi
  touch "$marker"
  say "installing Python packages of scripts/requirements.txt into .venv"
  .venv/bin/python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile -r scripts/requirements.txt ||
    die "pip could not install the packages of scripts/requirements.txt" \
      "its messages are above; without a network, point PIP_FIND_LINKS at a folder with the wheels"
  echo "$wanted" >"$stamp"
  rm -f "$marker"
}

# The same version of PyTorch exists as a build for CPUs and as builds for GPUs,
# and it is the index that decides which one pip finds.
check_torch() {
  local version
  for version in .venv/lib/python3*/site-packages/torch/version.py; do
    [ -e "$version" ] || continue
    if grep -Eq "^(cuda|hip|xpu)[ :].*= *['\"]" "$version"; then
      die "pip installed a build of PyTorch for GPUs, and cwm needs the one for CPUs" \
        "take the command for 'CPU' from the selector on PyTorch's site, add --no-deps, and run it as" \
        ".venv/bin/pip install --force-reinstall --no-deps torch==2.13.0 ...; then run this again" \
        "(without the encoder: scripts/setup.sh may be left, build with -DCWM_ENABLE_TORCH=OFF)"
    fi
  done
}

[ "$with_packages" = no ] || install_packages
install_venv
check_torch
