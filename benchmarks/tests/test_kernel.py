"""Calls of a kernel whose work on constants was split off: packed once, by the table."""

import ctypes
import pathlib
import subprocess

import harness
import pytest

np = pytest.importorskip("numpy")

# kernel(x, w, r): r = x + 10 w; packing multiplies.
SOURCE = """
#include <stdint.h>
#include <stdlib.h>
void *cwm_alloc(size_t size) { return malloc(size); }
int packings;
const int64_t cwm_prepack_table[] = {3, 1, 1, 1, 8};
void cwm_packed_entry(float **a) { for (int i = 0; i < 2; ++i) a[2][i] = -1; }
void cwm_prepack_entry(float **a) { ++packings; for (int i = 0; i < 2; ++i) a[1][i] = 10 * a[0][i]; }
void cwm_prepacked_entry(float **a) { for (int i = 0; i < 2; ++i) a[2][i] = a[0][i] + a[3][i]; }
"""


def test_constants_are_packed_once(tmp_path: pathlib.Path) -> None:
    (tmp_path / "kernel.c").write_text(SOURCE)
    library = tmp_path / "kernel.so"
    subprocess.run(["clang-22", "-shared", "-fPIC", "-o", library, tmp_path / "kernel.c"], check=True)
    loaded = ctypes.CDLL(str(library))
    buffers = [harness.aligned(np.array(values, np.float32)) for values in ([1, 2], [3, 4], [0, 0])]
    kernel = harness.Kernel(loaded, buffers)
    for _ in range(3):
        kernel()
    assert buffers[2].tolist() == [31, 42]
    assert ctypes.c_int.in_dll(loaded, "packings").value == 1
