"""Prints names and shapes of the tensors of a safetensors file."""

from __future__ import annotations

import json
import pathlib
import struct
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
for name, tensor in sorted(header.items()):
    if name != "__metadata__":
        print(name, tensor["shape"])
