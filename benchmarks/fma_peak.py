"""What several threads can do at most: multiply-adds a second of N threads over those of one.

Wall clock, vectors in registers, no memory: a machine whose second core is a
hyper-thread, or somebody else's, shows it here.

  python benchmarks/fma_peak.py [THREADS]
"""

from __future__ import annotations

import ctypes
import pathlib
import statistics
import sys
import threading
import time

import harness

#: Twelve chains of vectors, as in lib/Target/CPU/Measure.cpp.
SOURCE = """
typedef float vector __attribute__((vector_size(64)));
volatile float one = 1.0f, tiny = 1e-9f;
float multiply_add(long steps) {
  vector zero = {0}, factor = zero + one, term = zero + tiny, a[12];
  for (int i = 0; i < 12; ++i) a[i] = zero + (float)i;
  for (long s = 0; s < steps; ++s)
    for (int i = 0; i < 12; ++i) a[i] = a[i] * factor + term;
  float sum = 0;
  for (int i = 0; i < 12; ++i) sum += a[i][0];
  return sum;
}
"""
STEPS = 4_000_000


def build(folder: pathlib.Path) -> ctypes.CDLL:
    source, library = folder / "fma.c", folder / "fma.so"
    source.write_text(SOURCE)
    done = harness.run(
        ["clang-22", "-O2", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-o", str(library), str(source)]
    )
    if done.returncode:
        raise harness.Failed(f"fma.c: {harness.last_words(done.returncode, done.stderr)}")
    return ctypes.CDLL(str(library))


def seconds(library: ctypes.CDLL, threads: int) -> float:
    """Wall time of as many threads, each with the same work; ctypes releases the interpreter's lock."""
    running = [threading.Thread(target=library.multiply_add, args=(ctypes.c_long(STEPS),)) for _ in range(threads)]
    start = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return time.perf_counter() - start


def ratio(threads: int, rounds: int = 15) -> float:
    """Median over rounds that alternate."""
    with harness.scratch() as temporary:
        library = build(pathlib.Path(temporary))
        library.multiply_add.restype = ctypes.c_float
        seconds(library, threads)
        return statistics.median(threads * seconds(library, 1) / seconds(library, threads) for _ in range(rounds))


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    print(f"{count} threads make {ratio(count):.2f} times the multiply-adds of one")
