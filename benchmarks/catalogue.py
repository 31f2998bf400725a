"""The payloads of the benchmarks: what an index.json says about each of them.

An index is a list of entries: `name`, `file` (beside the index), `kind`,
`flops` (multiply-adds count as 2; 0 for work bound by memory), `args` and
`result` (`shape`, `dtype`, and for arguments `role`: activation or constant,
and `domain` if random values need one). Entries with `torch` say what torch
computes on those arguments (torch_peers.py); `layout` is `nhwc` where the
payload's arrays are.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import re

import harness

#: What `torch` may hold: an operation's parameters, those in brackets may be left out.
OPERATIONS = {
    "conv": "stride padding [groups] [activation]",
    "linear": "[activation]",
    "matmul": "[transpose_b]",
    "softmax": "",
    "mean": "dims keepdim",
    "variance": "",
    "max_pool": "kernel stride padding",
    "layer_norm": "eps",
    "permute": "permutation",
}
#: Element types of payloads by the names that the indexes use.
DTYPES = {"f32": "float32", "i1": "bool"}


@dataclasses.dataclass(frozen=True)
class Array:
    """An argument or a result of a payload."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    role: str = "activation"
    domain: str = ""

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclasses.dataclass(frozen=True)
class Entry:
    """One payload; `torch` is empty where nothing is compared with torch."""

    name: str
    file: pathlib.Path
    kind: str
    flops: int
    args: tuple[Array, ...]
    result: Array
    torch: dict = dataclasses.field(default_factory=dict)
    what: str = ""
    layout: str = ""
    model: str = ""

    @property
    def reduction(self) -> int:
        """About how many terms one element of the result sums: what rounding grows with."""
        inputs = sum(a.size for a in self.args if a.role == "activation")
        return max(1, self.flops // (2 * self.result.size), inputs // self.result.size)

    def to_json(self) -> dict:
        return dataclasses.asdict(self) | {"file": str(self.file)}


def array(value: dict) -> Array:
    return Array(**{**value, "shape": tuple(value["shape"])})


def entry(value: dict, folder: pathlib.Path) -> Entry:
    """An entry from its JSON; what the index holds beyond the fields is left to its other readers."""
    known = {f.name for f in dataclasses.fields(Entry)}
    fields = {k: v for k, v in value.items() if k in known}
    fields["file"] = folder / value["file"]
    fields["args"] = tuple(array(a) for a in value["args"])
    fields["result"] = array(value["result"])
    return Entry(**fields)


def load(name: str) -> dict[str, Entry]:
    """The entries of benchmarks/payloads/<name>/index.json by what is unique: the name, or model/name."""
    folder = harness.PAYLOADS / name
    entries = [entry(value, folder) for value in json.loads((folder / "index.json").read_text())]
    result = {f"{e.model}/{e.name}" if e.model else e.name: e for e in entries}
    if len(result) != len(entries):
        raise ValueError(f"{folder / 'index.json'} names a payload twice")
    return result


def tensor(text: str) -> tuple[tuple[int, ...], str]:
    """Shape and element type of `tensor<2x3xf32>`."""
    match = re.fullmatch(r"tensor<((?:\d+x)*)(\w+)>", text.strip())
    if not match or match.group(2) not in DTYPES:
        raise ValueError(f"expected a static tensor type, got '{text}'")
    return tuple(int(d) for d in match.group(1).split("x")[:-1]), DTYPES[match.group(2)]


def signature(text: str) -> tuple[list[Array], Array]:
    """Arguments and result of @kernel as the payload's text declares them."""
    match = re.search(r"func\.func @kernel\((.*?)\) -> (tensor<[^>]*>)", text, re.DOTALL)
    if not match:
        raise ValueError("no function @kernel with one result")
    args = []
    for kind, attributes in re.findall(r"%\w+: (tensor<[^>]*>)(?: \{([^}]*)\})?", match.group(1)):
        shape, dtype = tensor(kind)
        args.append(Array(shape, dtype, "constant" if "cwm.constant" in attributes else "activation"))
    shape, dtype = tensor(match.group(2))
    return args, Array(shape, dtype)


def from_payload(file: pathlib.Path, name: str, kind: str, flops: int, torch: dict) -> Entry:
    """An entry for a payload without an index."""
    args, result = signature(file.read_text())
    return Entry(name, file, kind, flops, tuple(args), result, torch)
