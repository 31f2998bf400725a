"""The serving side of the line protocol (docs/Benchmarks.md, "Peers in processes of their own").

A server is a small script:

    import protocol
    out = protocol.open_output()          # first: what others print goes to stderr
    row, inputs = protocol.load(sys.argv[1])
    ...                                   # compile
    protocol.serve(out, kernel)           # a protocol.Kernel

numpy is all it needs, so it may run in the peer's own environment (Python 3.8 or later).
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    import numpy as np

CHUNK_NS = 4_000_000


def open_output() -> TextIO:
    """The protocol's own stream; everything else that is printed goes to stderr."""
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return output


def keep_memory() -> None:
    """Makes the allocator keep what is freed.

    Otherwise a result above glibc's mmap threshold is mapped and faulted in anew
    on each call, which flatters whoever is compared with this peer.
    """
    libc = ctypes.CDLL(None)
    libc.mallopt(-1, ctypes.c_int(2_000_000_000))  # M_TRIM_THRESHOLD
    libc.mallopt(-3, ctypes.c_int(1 << 30))  # M_MMAP_THRESHOLD


def load(folder: str) -> tuple[dict, list[np.ndarray]]:
    """The row's entry and its inputs, in the payload's order and layout."""
    import numpy as np

    path = pathlib.Path(folder)
    row = json.loads((path / "row.json").read_text())
    return row, [np.load(path / f"{i}.npy") for i in range(len(row["args"]))]


class Kernel:
    """What is served: a kernel ready to run."""

    def __call__(self) -> object:
        """Runs it once."""
        raise NotImplementedError

    def repeat(self, count: int) -> None:
        """Runs it `count` times; overridden where the peer has a cheaper loop than Python's."""
        for _ in range(count):
            self()

    def result(self) -> np.ndarray:
        """Runs it and returns its output in the payload's layout."""
        raise NotImplementedError


class Function(Kernel):
    """A kernel made of two functions."""

    def __init__(self, call: Callable[[], object], result: Callable[[], np.ndarray]) -> None:
        self.call, self.output = call, result

    def __call__(self) -> object:
        return self.call()

    def result(self) -> np.ndarray:
        return self.output()


def timed(kernel: Kernel, count: int) -> tuple[float, int]:
    """Nanoseconds of this thread's CPU time per call, over at least CHUNK_NS, and the count used."""
    while True:
        begin = time.thread_time_ns()
        kernel.repeat(count)
        spent = time.thread_time_ns() - begin
        if spent >= CHUNK_NS:
            return spent / count, count
        count = max(count + 1, int(count * 1.1 * CHUNK_NS / max(spent, CHUNK_NS // 100)))


def close(output: np.ndarray, expected: np.ndarray) -> bool:
    """Whether a kernel computes the right thing at all; the asking side looks at every element.

    For makers of kernels that do not look at outputs and get some wrong.
    """
    import numpy as np

    if output.shape != expected.shape or not np.isfinite(output).all():
        return False
    return bool(np.abs(output - expected).max() <= 1e-4 * np.abs(expected).max())


def right_ones(kernels: Iterable[Kernel], expected: np.ndarray, wanted: int) -> tuple[list[Kernel], int]:
    """The first `wanted` kernels that compute what is expected, and how many before them did not."""
    right: list[Kernel] = []
    wrong = 0
    for kernel in kernels:
        if close(kernel.result(), expected):
            right.append(kernel)
        else:
            wrong += 1
        if len(right) == wanted:
            break
    return right, wrong


def fastest(kernels: Sequence[Kernel], rounds: int = 5) -> int:
    """The place of the fastest, timed in turn: single measurements made while tuning are noisy."""
    best = [float("inf")] * len(kernels)
    if len(kernels) == 1:
        return 0
    for _ in range(rounds):
        for i, kernel in enumerate(kernels):
            best[i] = min(best[i], timed(kernel, 1)[0])
    return best.index(min(best))


def decline(output: TextIO, reason: str) -> None:
    """Says that there is no like-for-like form of this row: an empty cell, not a failure."""
    print(json.dumps({"unsupported": reason}), file=output, flush=True)


def fail(output: TextIO, reason: str) -> None:
    """Says why this row cannot be served."""
    print(json.dumps({"error": reason}), file=output, flush=True)


def serve(output: TextIO, kernel: Kernel, **about: object) -> None:
    """Answers until `quit` or the end of stdin; `about` (versions) goes into the first line."""

    def say(**answer: object) -> None:
        print(json.dumps(answer), file=output, flush=True)

    for _ in range(3):
        kernel()
    count = timed(kernel, 1)[1]
    say(ready=True, **about)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "time":
            nanoseconds, count = timed(kernel, count)
            say(ns=nanoseconds, calls=count)
        elif command == "check":
            import numpy as np

            np.save(rest, kernel.result())
            say(ok=True)
        elif command == "quit":
            return
        else:
            say(error=f"unknown command '{command}'")
