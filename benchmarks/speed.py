"""Speed of tuned kernels against OpenBLAS and torch eager, on one core.

For each row: tunes the payload with cwm-tune (unless --results holds a
best.mlir of an earlier run), compiles the result with the tool's own pipeline,
and times it against the peer, interleaved in this process. Prints the median
of paired ratios (peer time / cwm time) with a 95 % bootstrap interval.

  python benchmarks/speed.py [--rows matmul_512,...] [--trials 64] [--rounds 41] [--results DIR]

Runs under the environment of `make benchmarks` (numpy, scipy-openblas32, torch).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

for _name in ("OMP", "MKL", "OPENBLAS"):
    os.environ[_name + "_NUM_THREADS"] = "1"
# This environment may carry a core type meant for other libraries; OpenBLAS
# shall choose for itself, and the table prints what it chose.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import harness  # noqa: E402
import numpy as np  # noqa: E402

Call = Callable[[], None]


class OpenBLAS:
    """The scipy-openblas32 wheel through its C interface."""

    def __init__(self, folder: pathlib.Path) -> None:
        import scipy_openblas32

        self.library = ctypes.CDLL(str(pathlib.Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"))
        self.library.scipy_openblas_set_num_threads(1)
        self.library.scipy_openblas_get_corename.restype = ctypes.c_char_p
        self.library.scipy_openblas_get_config.restype = ctypes.c_char_p
        loop = folder / "loop.so"
        subprocess.run(
            [
                "clang-22",
                "-O2",
                "-shared",
                "-fPIC",
                "-o",
                str(loop),
                str(pathlib.Path(__file__).parent / "openblas_loop.c"),
            ],
            check=True,
        )
        self.loop = ctypes.CDLL(str(loop))

    def describe(self) -> str:
        core = self.library.scipy_openblas_get_corename().decode()
        return f"{self.library.scipy_openblas_get_config().decode().strip()}, core type in use: {core}"

    def calls(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> dict[str, Call]:
        """Every way OpenBLAS has of doing this; the fastest counts."""
        batch = a.shape[0] if a.ndim == 3 else 1
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
        sgemm = self.library.scipy_cblas_sgemm
        function = ctypes.cast(sgemm, ctypes.c_void_p)
        loop = self.loop.loop_sgemm
        result: dict[str, Call] = {"loop of sgemm": lambda: loop(function, batch, m, n, k, *pointers)}
        if batch > 1:
            strided = self.library.scipy_cblas_sgemm_batch_strided
            one, zero = ctypes.c_float(1), ctypes.c_float(0)
            result["sgemm_batch_strided"] = lambda: strided(
                101,
                111,
                111,
                m,
                n,
                k,
                one,
                pointers[0],
                k,
                m * k,
                pointers[1],
                n,
                k * n,
                zero,
                pointers[2],
                n,
                m * n,
                batch,
            )
        return result


def torch_call(kind: str, inputs: list[np.ndarray]) -> tuple[Call, Callable[[], np.ndarray]]:
    """torch eager, one thread, as peers/serve_torch.py runs it: freed memory is kept, gradients are off."""
    import torch
    import torch.nn.functional as F

    ctypes.CDLL(None).mallopt(-1, ctypes.c_int(2_000_000_000))  # M_TRIM_THRESHOLD
    ctypes.CDLL(None).mallopt(-3, ctypes.c_int(1 << 30))  # M_MMAP_THRESHOLD
    torch.set_num_threads(1)
    tensors = [torch.from_numpy(x) for x in inputs]

    #: What the other payloads compute, by kind.
    functions: dict[str, Callable[..., torch.Tensor]] = {
        "softmax": lambda x: F.softmax(x, -1),
        "layernorm": lambda x, weight, bias: F.layer_norm(x, x.shape[-1:], weight, bias),
        "mean": lambda x: x.mean(-1, keepdim=True),
        "variance": lambda x, mean: (x - mean).pow(2).mean(-1, keepdim=True),
        "average pool": lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1),
        "permute": lambda x: x.permute(0, 2, 1, 3).contiguous(),
        "transpose": lambda x: x.transpose(2, 3).contiguous(),
    }

    def forward() -> torch.Tensor:
        if kind in functions:
            return functions[kind](*tensors)
        y = F.linear(*tensors)
        return F.gelu(y) if kind == "gelu" else y

    def call() -> None:
        with torch.no_grad():
            forward()

    def result() -> np.ndarray:
        with torch.no_grad():
            return forward().numpy()

    return call, result


#: name: (payload, peer, bar, input shapes, what torch computes)
ROWS: dict[str, tuple[str, str, float, list[tuple[int, ...]], str]] = {
    "matmul_512": ("matmul_512.mlir", "openblas", 0.95, [(512, 512), (512, 512)], ""),
    "matmul_1024": ("matmul_1024.mlir", "openblas", 0.95, [(1024, 1024), (1024, 1024)], ""),
    "matmul_1023x1000x777": ("matmul_1023x1000x777.mlir", "openblas", 0.90, [(1023, 777), (777, 1000)], ""),
    "batch_matmul_12x128x64x128": (
        "batch_matmul_12x128x64x128.mlir",
        "openblas",
        1.2,
        [(12, 128, 64), (12, 64, 128)],
        "",
    ),
    "bert-t2": ("rep/bert-t2.mlir", "torch", 1.1, [(128, 768), (3072, 768), (3072,)], "gelu"),
    "opt-t4": ("rep/opt-t4.mlir", "torch", 1.1, [(128, 2048), (2048, 2048), (2048,)], ""),
    "gpt2-t0": ("rep/gpt2-t0.mlir", "torch", 1.0, [(128, 768), (128, 1)], "variance"),
    "gpt2-t8": ("rep/gpt2-t8.mlir", "torch", 1.0, [(128, 768)], "mean"),
    "opt-t3": ("rep/opt-t3.mlir", "torch", 1.0, [(32, 128, 128)], "softmax"),
    "mbv2-t1": ("rep/mbv2-t1.mlir", "torch", 1.0, [(1, 1280, 7, 7)], "average pool"),
    "layernorm": ("layernorm_128x768.mlir", "torch", 1.0, [(128, 768), (768,), (768,)], "layernorm"),
    "permute": ("permute_1x128x12x64.mlir", "torch", 1.0, [(1, 128, 12, 64)], "permute"),
    "transpose": ("transpose_1x12x128x64.mlir", "torch", 1.0, [(1, 12, 128, 64)], "transpose"),
    "gptneo-t0": ("rep/gptneo-t0.mlir", "torch", 1.1, [(128, 2560), (2560, 2560)], ""),
}


def tune(payload: pathlib.Path, best: pathlib.Path, trials: int, seed: int) -> float:
    """Seconds that cwm-tune took."""
    start = time.monotonic()
    done = harness.run(
        [
            harness.tool("cwm-tune"),
            str(payload),
            "-o",
            str(best),
            f"--trials={trials}",
            f"--seed={seed}",
            f"--work-dir={best.with_suffix('.cwm')}",
        ]
    )
    if done.returncode:
        raise SystemExit(f"cwm-tune failed on {payload}:\n{done.stderr}")
    print(done.stdout + done.stderr, file=sys.stderr)
    return time.monotonic() - start


def measure(name: str, arguments: argparse.Namespace, folder: pathlib.Path, openblas: OpenBLAS) -> dict:
    """One row of the table."""
    file, peer, bar, shapes, kind = ROWS[name]
    payload = harness.PAYLOADS / file
    best = arguments.results / f"{name}.mlir"
    seconds = 0.0 if best.exists() else tune(payload, best, arguments.trials, arguments.seed)
    generator = np.random.default_rng(12345)
    inputs = [harness.aligned(generator.uniform(-1, 1, s).astype(np.float32)) for s in shapes]
    if peer == "openblas":
        output = harness.aligned(np.zeros((*shapes[0][:-1], shapes[1][-1]), np.float32))
        expected_buffer = harness.aligned(np.zeros_like(output))
        peers = openblas.calls(inputs[0], inputs[1], expected_buffer)
    else:
        call, result = torch_call(kind, inputs)
        output = harness.aligned(np.zeros(result().shape, np.float32))
        peers = {"eager": call}
    kernel = harness.Kernel(harness.compile_script(payload, best, folder), [*inputs, output])
    kernel()
    if peer == "openblas":
        next(iter(peers.values()))()
        expected = expected_buffer
    else:
        expected = result()
    error = float(np.abs(output - expected).max() / np.abs(expected).max())
    if not error < 1e-4:
        raise SystemExit(f"{name}: wrong numbers, relative error {error}")
    times = harness.interleave({**peers, "cwm": kernel}, arguments.rounds)
    ratios = {p: harness.paired(times[p], times["cwm"]) for p in peers}
    strongest = min(ratios, key=lambda p: ratios[p].median)
    return {
        "name": name,
        "peer": f"{peer} ({strongest})",
        "ratio": ratios[strongest],
        "bar": bar,
        "us": float(np.median(times["cwm"])) / 1e3,
        "error": error,
        "seconds": seconds,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--results", type=pathlib.Path, help="folder for best.mlir files; kept and reused")
    arguments = parser.parse_args()
    failed = 0
    with harness.scratch() as temporary:
        folder = pathlib.Path(temporary)
        arguments.results = arguments.results or folder / "results"
        arguments.results.mkdir(parents=True, exist_ok=True)
        openblas = OpenBLAS(folder)
        print(f"machine: {harness.machine()}")
        print(f"OpenBLAS: {openblas.describe()}")
        print(
            f"{'payload':28}{'peer':32}{'peer/cwm':>24}{'bar':>7}  {'':5}{'cwm us':>9}{'rel. error':>12}{'tune s':>8}"
        )
        for name in arguments.rows.split(","):
            row = measure(name, arguments, folder, openblas)
            good = row["ratio"].median >= row["bar"]
            failed += not good
            print(
                f"{row['name']:28}{row['peer']:32}{row['ratio']!s:>24}{row['bar']:7.2f}  {'ok' if good else 'MISS':5}"
                f"{row['us']:9.1f}{row['error']:12.1e}{row['seconds']:8.1f}",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
