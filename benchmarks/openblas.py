"""OpenBLAS as a peer: the scipy-openblas32 wheel through its C interface."""

from __future__ import annotations

import ctypes
import os
import pathlib

os.environ["OPENBLAS_NUM_THREADS"] = "1"
# The environment may carry a core type meant for other libraries; OpenBLAS
# shall choose for itself, and the table prints what it chose.
os.environ.pop("OPENBLAS_CORETYPE", None)
os.environ.pop("OPENBLAS_L2_SIZE", None)

import harness
import numpy as np

ROW_MAJOR, NO_TRANSPOSE = 101, 111


class Product(harness.InProcess):
    """One way of calling OpenBLAS, writing to an array of its own."""

    def __init__(self, call, result: np.ndarray) -> None:
        super().__init__(call)
        self.result = result

    def output(self) -> np.ndarray:
        self.call()
        return self.result

    def close(self) -> None:
        pass


class OpenBLAS:
    """The loaded library."""

    def __init__(self, folder: pathlib.Path) -> None:
        import scipy_openblas32

        self.library = ctypes.CDLL(str(pathlib.Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"))
        self.library.scipy_openblas_set_num_threads(1)
        self.library.scipy_openblas_get_corename.restype = ctypes.c_char_p
        self.library.scipy_openblas_get_config.restype = ctypes.c_char_p
        loop, source = folder / "loop.so", pathlib.Path(__file__).parent / "openblas_loop.c"
        done = harness.run(["clang-22", "-O2", "-shared", "-fPIC", "-o", str(loop), str(source)])
        if done.returncode:
            raise harness.Failed(f"cannot compile {source.name}: {harness.last_words(done.returncode, done.stderr)}")
        self.loop = ctypes.CDLL(str(loop))

    def describe(self) -> str:
        core = self.library.scipy_openblas_get_corename().decode()
        return f"{self.library.scipy_openblas_get_config().decode().strip()}, core type in use {core}"

    def ways(self, a: np.ndarray, b: np.ndarray) -> dict[str, Product]:
        """Every way OpenBLAS has of doing a * b; the fastest counts."""
        batch = a.shape[0] if a.ndim == 3 else 1
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        c = harness.aligned(np.zeros((*a.shape[:-1], n), np.float32))
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
        function = ctypes.cast(self.library.scipy_cblas_sgemm, ctypes.c_void_p)
        loop = self.loop.loop_sgemm
        result = {"loop of sgemm": Product(lambda: loop(function, batch, m, n, k, *pointers), c)}
        if batch > 1:
            strided = self.library.scipy_cblas_sgemm_batch_strided
            one, zero = ctypes.c_float(1), ctypes.c_float(0)
            sizes = (ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, m, n, k)
            operands = (one, pointers[0], k, m * k, pointers[1], n, k * n, zero, pointers[2], n, m * n)
            result["sgemm_batch_strided"] = Product(lambda: strided(*sizes, *operands, batch), c)
        return result
