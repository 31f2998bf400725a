"""Files of tensors go from Python's safetensors to the C++ side and back."""

from __future__ import annotations

import ctypes
import json
import pathlib
import struct

import safetensors

TENSORS = {
    "a.weight": {"dtype": "F32", "shape": [2, 3], "data": struct.pack("<6f", 1, -2.5, 3e-39, 4, 5, 6)},
    "scalar": {"dtype": "F64", "shape": [], "data": struct.pack("<d", 0.1)},
    "none": {"dtype": "F32", "shape": [0, 5], "data": b""},
    "halves": {"dtype": "BF16", "shape": [3], "data": bytes(range(6))},
    "whole": {"dtype": "I64", "shape": [1, 2], "data": struct.pack("<2q", -7, 1 << 40)},
    "bytes": {"dtype": "U8", "shape": [3], "data": b"\x01\x02\xff"},
    'é "quoted"\n': {"dtype": "BOOL", "shape": [1], "data": b"\x01"},
}
#: The package has other names for what it writes.
NAMES = {"F32": "float32", "F64": "float64", "BF16": "bfloat16", "I64": "int64", "U8": "uint8", "BOOL": "bool"}


def test_round_trip(tmp_path: pathlib.Path, model_tool) -> None:
    source, copy = tmp_path / "source.safetensors", tmp_path / "copy.safetensors"
    metadata = {"format": "pt", "note": "ü"}
    # The package takes addresses; these buffers live until it is done.
    buffers = {
        name: ctypes.create_string_buffer(tensor["data"], len(tensor["data"])) for name, tensor in TENSORS.items()
    }
    specs = {
        name: safetensors.TensorSpec(
            dtype=NAMES[tensor["dtype"]],
            shape=tensor["shape"],
            data_ptr=ctypes.addressof(buffers[name]),
            data_len=len(tensor["data"]),
        )
        for name, tensor in TENSORS.items()
    }
    data = safetensors.serialize(specs, metadata)
    source.write_bytes(data)
    done = model_tool("copy-tensors", source, copy)
    assert done.returncode == 0, done.stderr
    found = dict(safetensors.deserialize(copy.read_bytes()))
    assert {
        name: {"dtype": tensor["dtype"], "shape": tensor["shape"], "data": bytes(tensor["data"])}
        for name, tensor in found.items()
    } == TENSORS
    contents = copy.read_bytes()
    (length,) = struct.unpack_from("<Q", contents)
    assert json.loads(contents[8 : 8 + length])["__metadata__"] == metadata


def test_damage(tmp_path: pathlib.Path, model_tool) -> None:
    path = tmp_path / "cut.safetensors"
    path.write_bytes(struct.pack("<Q", 100) + b"{}")
    done = model_tool("copy-tensors", path, tmp_path / "copy")
    assert done.returncode == 1
    assert done.stderr == f"error: cannot read '{path}': its header has 100 bytes, but the file ends after 2 of them\n"
