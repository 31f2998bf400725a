"""What the benchmarks share: running the tools, loading kernels, paired timing.

Every comparison is a ratio of times taken in turn inside one process
(A B A B ...), on the CPU clock of the calling thread: absolute times drift on
shared machines, such ratios do not. An interval is a bootstrap over rounds.
"""

from __future__ import annotations

import ctypes
import dataclasses
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAYLOADS = ROOT / "benchmarks" / "payloads"
BUILD = pathlib.Path(os.environ.get("CWM_BUILD_DIR", ROOT / "build" / "release"))
#: Long enough to hide the clock's resolution and short enough to fall between
#: two preemptions.
CHUNK_NS = 4_000_000


def tool(name: str) -> str:
    """Path of one of cwm's tools in the build folder."""
    path = BUILD / "bin" / name
    if not path.exists():
        raise SystemExit(f"{path} does not exist: build the release preset or set CWM_BUILD_DIR")
    return str(path)


def run(command: Sequence[str], **keywords) -> subprocess.CompletedProcess:
    """Runs a command to its end; its output is captured as text."""
    return subprocess.run(list(command), capture_output=True, text=True, **keywords)


def machine() -> str:
    """One line about the machine, for the head of a table."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    version = run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]).stdout.strip()
    return f"{model.group(1) if model else 'unknown CPU'}, {os.cpu_count()} cores, commit {version or '?'}"


@dataclasses.dataclass
class Kernel:
    """A tuned kernel, callable on numpy arrays: inputs first, then results.

    Where the lowering split off the work on constant arguments, that is done
    here, once, and left out of the calls.
    """

    library: ctypes.CDLL
    buffers: list[np.ndarray]

    def __post_init__(self) -> None:
        pointers = [b.ctypes.data for b in self.buffers]
        self._entry = self.library.cwm_packed_entry
        if hasattr(self.library, "cwm_prepack_entry"):
            pointers += self._prepack(pointers)
            self._entry = self.library.cwm_prepacked_entry
        self._pointers = (ctypes.c_void_p * len(pointers))(*pointers)
        self._entry.argtypes = [ctypes.c_void_p]
        self._entry.restype = None

    def _prepack(self, pointers: list[int]) -> list[int]:
        """Addresses of the packed buffers; the table is described in docs/reference/Passes.md."""

        def table(length: int) -> list[int]:
            return list((ctypes.c_int64 * length).in_dll(self.library, "cwm_prepack_table"))

        _, num_constants, num_packed = table(3)
        numbers = table(3 + num_constants + num_packed)[3:]
        self._packed = [aligned(np.zeros(size, np.uint8)) for size in numbers[num_constants:]]
        packed = [b.ctypes.data for b in self._packed]
        arguments = [pointers[i] for i in numbers[:num_constants]] + packed
        prepack = self.library.cwm_prepack_entry
        prepack.argtypes = [ctypes.c_void_p]
        prepack.restype = None
        prepack((ctypes.c_void_p * len(arguments))(*arguments))
        return packed

    def __call__(self) -> None:
        self._entry(self._pointers)


def link(object_file: pathlib.Path, library: pathlib.Path) -> ctypes.CDLL:
    """Links an object of cwm with its runtime into a shared library."""
    runtime = BUILD / "lib" / "libcwm_runtime.a"
    subprocess.run(
        ["clang-22", "-shared", "-o", str(library), str(object_file), str(runtime), "-lm", "-lpthread"], check=True
    )
    return ctypes.CDLL(str(library))


def compile_script(payload: pathlib.Path, script: pathlib.Path, folder: pathlib.Path) -> ctypes.CDLL:
    """Compiles a bound script (or best.mlir) with the tool that also measures candidates."""
    object_file = folder / (script.stem + ".o")
    done = run([tool("cwm-runner"), f"--payload={payload}", f"--script={script}", f"--keep-object={object_file}"])
    if done.returncode:
        raise SystemExit(f"cwm-runner failed on {script}: {done.stderr}")
    return link(object_file, folder / (script.stem + ".so"))


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that begins on a page: where a buffer begins changes speeds."""
    raw = np.empty(array.nbytes + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    result = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def timed(call: Callable[[], None], count: int) -> tuple[float, int]:
    """Nanoseconds per call over a chunk of at least CHUNK_NS, and the count used."""
    while True:
        start = time.thread_time_ns()
        for _ in range(count):
            call()
        spent = time.thread_time_ns() - start
        if spent >= CHUNK_NS:
            return spent / count, count
        count = max(count + 1, int(count * 1.1 * CHUNK_NS / max(spent, CHUNK_NS // 100)))


def interleave(calls: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Nanoseconds per call of each contender, `rounds` times in turn."""
    counts = {}
    for name, call in calls.items():
        for _ in range(3):
            call()
        counts[name] = timed(call, 1)[1]
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            nanoseconds, counts[name] = timed(call, counts[name])
            times[name].append(nanoseconds)
    return times


@dataclasses.dataclass
class Ratio:
    """Median of paired ratios with a 95 % bootstrap interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def paired(reference: Sequence[float], ours: Sequence[float], seed: int = 0) -> Ratio:
    """reference / ours, round by round: above 1 means that ours is faster."""
    ratios = [r / o for r, o in zip(reference, ours, strict=False)]
    generator = random.Random(seed)
    medians = sorted(statistics.median(generator.choices(ratios, k=len(ratios))) for _ in range(2000))
    return Ratio(statistics.median(ratios), medians[49], medians[1949])


def scratch() -> tempfile.TemporaryDirectory:
    """A folder for one benchmark's files, removed at its end."""
    return tempfile.TemporaryDirectory(prefix="cwm-benchmark-")
