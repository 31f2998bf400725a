"""Peers that run in environments of their own, made by benchmarks/peers/setup.sh."""

from __future__ import annotations

import os
import pathlib
import shlex

import harness

HERE = pathlib.Path(__file__).resolve().parent
#: Names of peers; each has a serve_<name>.py and a requirements-<name>.txt.
PEERS = ("iree", "ansor", "metaschedule")


def folder() -> pathlib.Path:
    """Where setup.sh puts the environments."""
    return pathlib.Path(os.environ.get("CWM_PEERS_ENV", harness.ROOT / "build" / "peers-env"))


def command(name: str) -> str:
    """The command of a peer's server, {} standing for the row's folder."""
    python = folder() / name / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"{python} does not exist: run benchmarks/peers/setup.sh {name}")
    return f"{shlex.quote(str(python))} {shlex.quote(str(HERE / f'serve_{name}.py'))} {{}}"
