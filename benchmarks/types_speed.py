"""Speed of half precision and of bytes against f32: the same product in three types, on one core.

Tunes matmul 1024 x 1024 x 1024 in f32, bf16 (sums in f32) and i8 (sums in i32) with cwm-tune and times the three
kernels interleaved in one process. Prints the median of paired ratios (f32 time / time) with a 95 % bootstrap
interval; exit status 1 when one is below its bar and the processor has instructions for dot products.

  python benchmarks/types_speed.py [--trials 16] [--rounds 31] [--seed 1]

Runs under the environment of `make benchmarks` (numpy).
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import harness
import numpy as np

#: name of the payload: (elements, sums, bar). numpy has no bf16: its bits.
TYPES = {
    "matmul_1024": (np.float32, np.float32, 1.0),
    "matmul_1024_bf16": (np.uint16, np.float32, 1.3),
    "matmul_1024_i8": (np.int8, np.int32, 2.0),
}


def inputs(kind: type, generator: np.random.Generator) -> np.ndarray:
    """Values in [-1, 1), or in [-8, 8] for bytes."""
    shape = (1024, 1024)
    if kind is np.int8:
        return generator.integers(-8, 9, shape).astype(np.int8)
    values = generator.uniform(-1, 1, shape).astype(np.float32)
    return values if kind is np.float32 else (values.view(np.uint32) >> 16).astype(np.uint16)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    has_dots = "amx_tile" in flags or "avx512_vnni" in flags
    generator = np.random.default_rng(arguments.seed)
    with harness.scratch() as temporary:
        folder = pathlib.Path(temporary)
        kernels = {}
        for name, (elements, sums, _) in TYPES.items():
            payload = harness.PAYLOADS / f"{name}.mlir"
            best = folder / f"{name}.mlir"
            tuned = harness.tune(payload, best, arguments.trials, arguments.seed)
            if not best.exists():
                print(f"{name}: {tuned.why()}", file=sys.stderr)
                return 2
            buffers = [inputs(elements, generator), inputs(elements, generator), np.zeros((1024, 1024), sums)]
            library = harness.compile_script(payload, best, folder)
            kernels[name] = harness.InProcess(harness.Kernel(library, [harness.aligned(b) for b in buffers]))
        times = harness.interleave(kernels, arguments.rounds)
    print(f"machine: {harness.machine()}; load {harness.load()}")
    print("| payload | ms | f32 time / time | bar |\n|---|---:|---:|---:|")
    missed = False
    for name, (_, _, bar) in TYPES.items():
        ratio = harness.paired(times["matmul_1024"], times[name])
        print(f"| {name} | {sorted(times[name])[len(times[name]) // 2] / 1e6:.2f} | {ratio} | {bar} |")
        missed |= has_dots and ratio.median < bar
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
