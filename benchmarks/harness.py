"""What the benchmarks share: running the tools, loading kernels, paired timing.

Every comparison is a ratio of times taken in turn (A B A B ...), on the CPU
clock of the thread that runs the kernel: absolute times drift on shared
machines, such ratios do not. An interval is a bootstrap over rounds.

numpy is imported where it is used, so that the parts without it (statistics,
running tools) work and are tested without it.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAYLOADS = ROOT / "benchmarks" / "payloads"
#: Long enough to hide the clock's resolution and short enough to fall between
#: two preemptions.
CHUNK_NS = 4_000_000
#: Of the kernels and of torch; set for child processes, too, by those who compare several.
THREADS = int(os.environ.get("CWM_BENCH_THREADS", "1"))
#: Longer than the threads of one runtime spin before they leave the cores to those of another
#: (KMP_BLOCKTIME of ours is 20 ms, GNU's spin for a few).
PAUSE = 0.03


class Failed(Exception):
    """What makes one row of a table fail; the other rows go on."""


class Unsupported(Exception):
    """A peer has no like-for-like form of a row: an empty cell, not a failure."""


def build_folder() -> pathlib.Path:
    """Where the tools are: build/release unless CWM_BUILD_DIR says otherwise."""
    return pathlib.Path(os.environ.get("CWM_BUILD_DIR", ROOT / "build" / "release"))


def tool(name: str) -> str:
    """Path of one of cwm's tools in the build folder."""
    path = build_folder() / "bin" / name
    if not path.exists():
        raise SystemExit(f"{path} does not exist: build the release preset or set CWM_BUILD_DIR")
    return str(path)


def run(command: Sequence[str], **keywords) -> subprocess.CompletedProcess:
    """Runs a command to its end; its output is captured as text."""
    return subprocess.run(list(command), capture_output=True, text=True, errors="replace", **keywords)


def last_words(returncode: int, output: str) -> str:
    """Why a command failed, in one line: its first error, else its signal, else its last line."""
    if returncode < 0:
        return f"died of {signal.Signals(-returncode).name}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error: " in line.lower()]
    return (errors or lines[-1:] or [f"exit status {returncode}"])[0][:300]


@dataclasses.dataclass
class Tuned:
    """What a run of cwm-tune left: its end, and its summary if it wrote one."""

    returncode: int
    seconds: float
    output: str
    summary: dict | None

    def why(self) -> str:
        return last_words(self.returncode, self.output)


def summary_of(best: pathlib.Path) -> dict | None:
    """What the run of cwm-tune that wrote `best` said about itself, if it is there."""
    summary = best.with_suffix(".summary.json")
    return json.loads(summary.read_text()) if summary.exists() else None


def tune(payload: pathlib.Path, best: pathlib.Path, trials: int, seed: int, limit: float = 3600) -> Tuned:
    """Runs cwm-tune; raises Failed only if it does not end within `limit` seconds."""
    summary = best.with_suffix(".summary.json")
    summary.unlink(missing_ok=True)
    command = [
        tool("cwm-tune"),
        str(payload),
        "-o",
        str(best),
        f"--trials={trials}",
        f"--seed={seed}",
        f"--work-dir={best.with_suffix('.cwm')}",
        f"--summary={summary}",
    ]
    if THREADS > 1:
        command.append(f"--threads={THREADS}")
    start = time.monotonic()
    try:
        done = run(command, timeout=limit)
    except subprocess.TimeoutExpired:
        raise Failed(f"cwm-tune did not end within {limit:.0f} s") from None
    seconds = time.monotonic() - start
    return Tuned(done.returncode, seconds, done.stdout + done.stderr, summary_of(best))


def machine() -> str:
    """One line about the machine, for the head of a table."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*: (.*)", text)
    version = run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"]).stdout.strip()
    return f"{model.group(1) if model else 'unknown CPU'}, {os.cpu_count()} cores, commit {version or '?'}"


def load() -> str:
    """Load averages over 1, 5 and 15 minutes: how quiet the machine was."""
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


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
        """Addresses of the packed buffers; the table is described in docs/reference/Passes.md.

        From the allocator of the runtime, which asks for large pages: packed weights
        of 16 MB in small ones cost a third of the speed.
        """

        def table(length: int) -> list[int]:
            return list((ctypes.c_int64 * length).in_dll(self.library, "cwm_prepack_table"))

        _, num_constants, num_packed = table(3)
        numbers = table(3 + num_constants + num_packed)[3:]
        allocate = self.library.cwm_alloc
        allocate.argtypes = [ctypes.c_size_t]
        allocate.restype = ctypes.c_void_p
        packed = [allocate(size) for size in numbers[num_constants:]]
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
    runtime = build_folder() / "lib" / "libcwm_runtime.a"
    libraries = ["-lm", "-lpthread"]
    if THREADS > 1:
        folder = run(["llvm-config-22", "--libdir"]).stdout.strip()
        libraries += [f"-L{folder}", f"-Wl,-rpath,{folder}", "-lomp"]
    done = run(["clang-22", "-shared", "-o", str(library), str(object_file), str(runtime), *libraries])
    if done.returncode:
        raise Failed(f"cannot link {object_file.name}: {last_words(done.returncode, done.stderr)}")
    return ctypes.CDLL(str(library))


def compile_script(payload: pathlib.Path, script: pathlib.Path, folder: pathlib.Path) -> ctypes.CDLL:
    """Compiles a bound script (or best.mlir) with the tool that also measures candidates."""
    object_file = folder / (script.stem + ".o")
    threads = [f"--kernel-threads={THREADS}"] if THREADS > 1 else []
    done = run(
        [tool("cwm-runner"), f"--payload={payload}", f"--script={script}", f"--keep-object={object_file}", *threads]
    )
    if done.returncode:
        raise Failed(f"cwm-runner: {last_words(done.returncode, done.stderr)}")
    return link(object_file, folder / (script.stem + ".so"))


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that begins on a page: where a buffer begins changes speeds."""
    import numpy as np

    raw = np.empty(array.nbytes + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    result = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    result[...] = array
    return result


def timed(call: Callable[[], object], count: int) -> tuple[float, int]:
    """Nanoseconds per call over a chunk of at least CHUNK_NS, and the count used.

    Of the thread's CPU clock; of several threads, by the wall clock.
    """
    clock = time.perf_counter_ns if THREADS > 1 else time.thread_time_ns
    while True:
        start = clock()
        for _ in range(count):
            call()
        spent = clock() - start
        if spent >= CHUNK_NS:
            return spent / count, count
        count = max(count + 1, int(count * 1.1 * CHUNK_NS / max(spent, CHUNK_NS // 100)))


class Contender(Protocol):
    """Something that can be timed in turn with others."""

    def warm_up(self) -> None:
        """Runs it a few times, so that the first timed chunk is like the others."""

    def time(self) -> float:
        """Nanoseconds per call over one chunk."""


class InProcess:
    """A contender that is called in this process."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.count = 1

    def warm_up(self) -> None:
        for _ in range(3):
            self.call()
        self.count = timed(self.call, 1)[1]

    def time(self) -> float:
        if THREADS > 1:
            time.sleep(PAUSE)
            self.call()  # wakes its threads up
        nanoseconds, self.count = timed(self.call, self.count)
        return nanoseconds


def interleave(contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """Nanoseconds per call of each contender, `rounds` times in turn."""
    for contender in contenders.values():
        contender.warm_up()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            times[name].append(contender.time())
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


def best_of(times: dict[str, Sequence[float]], ours: Sequence[float]) -> tuple[str, Ratio]:
    """The fastest contender and its ratio: picked on even rounds, measured on odd ones.

    Picking and measuring on the same rounds would favour the lucky one.
    """
    best = min(times, key=lambda name: statistics.median(times[name][::2]))
    return best, paired(times[best][1::2], ours[1::2])


def geomean(values: Iterable[float]) -> float:
    """NaN if there is nothing to average."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def scratch() -> tempfile.TemporaryDirectory:
    """A folder for one benchmark's files, removed at its end."""
    return tempfile.TemporaryDirectory(prefix="cwm-benchmark-")
