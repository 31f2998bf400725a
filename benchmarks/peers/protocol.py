"""The serving side of the line protocol (docs/Benchmarks.md, "Peers in processes of their own").

A server is a small script:

    import protocol
    out = protocol.open_output()          # first: what others print goes to stderr
    row, inputs = protocol.load(sys.argv[1])
    ...                                   # compile
    protocol.serve(out, call, result)     # call() runs the kernel, result() returns its output

numpy is all it needs, so it may run in the peer's own environment.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from collections.abc import Callable
from typing import TextIO

import numpy as np

CHUNK_NS = 4_000_000


def open_output() -> TextIO:
    """The protocol's own stream; everything else that is printed goes to stderr."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return output


def load(folder: str) -> tuple[dict, list[np.ndarray]]:
    """The row's entry and its inputs, in the payload's order and layout."""
    path = pathlib.Path(folder)
    row = json.loads((path / "row.json").read_text())
    return row, [np.load(path / f"{i}.npy") for i in range(len(row["args"]))]


def timed(call: Callable[[], object], count: int) -> tuple[float, int]:
    """Nanoseconds of this thread's CPU time per call, over at least CHUNK_NS, and the count used."""
    while True:
        begin = time.thread_time_ns()
        for _ in range(count):
            call()
        spent = time.thread_time_ns() - begin
        if spent >= CHUNK_NS:
            return spent / count, count
        count = max(count + 1, int(count * 1.1 * CHUNK_NS / max(spent, CHUNK_NS // 100)))


def serve(output: TextIO, call: Callable[[], object], result: Callable[[], np.ndarray], **about: object) -> None:
    """Answers until `quit` or the end of stdin; `about` (versions) goes into the first line."""

    def say(**answer: object) -> None:
        print(json.dumps(answer), file=output, flush=True)

    for _ in range(3):
        call()
    count = timed(call, 1)[1]
    say(ready=True, **about)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "time":
            nanoseconds, count = timed(call, count)
            say(ns=nanoseconds, calls=count)
        elif command == "check":
            np.save(rest, result())
            say(ok=True)
        elif command == "quit":
            return
        else:
            say(error=f"unknown command '{command}'")
