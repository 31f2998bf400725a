"""Generates payloads of the kinds that occur in models, to train the world model on.

The same seed gives the same files. One call of a payload is estimated to take
from 20 us to 5 ms on one core; no payload has the arguments and results of a
workload in the networks that are held out of training.

  python -m cwm.generate_payloads --out DIR [--count 600] [--seed 0] [--kinds conv2d,matmul] [--avoid FOLDER]

Written are DIR/<name>.mlir, and DIR/index.json with a line for each of them:
name, file, kind, flops, bytes, dtype.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import random
import re
import sys
from collections.abc import Iterator

from cwm.payload_kinds import KINDS
from cwm.payload_text import Function, Value

#: Held out of training: see benchmarks/workloads.json and docs/Training.md.
HELD_OUT = ("resnet50", "bert_base", "mobilenet_v2")
#: Of the installed sketches on a core of about 100 GFLOP/s, roughly: what an estimate of the time needs.
FLOPS_PER_SECOND = 6e10
BYTES_PER_SECOND = 1.2e10
SHORTEST, LONGEST = 20e-6, 5e-3
#: The compiler and the numeric check take memory and time by the size.
MOST_BYTES = 64 << 20

#: Types of arguments and results, as a workload's text has them.
Signature = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Payload:
    """One payload: what is written of it."""

    kind: str
    text: str
    flops: float
    bytes: int
    #: Bytes that its ops move, those of results in between included.
    traffic: float
    dtype: str
    signature: Signature

    @property
    def seconds(self) -> float:
        """What one call is estimated to take."""
        return self.flops / FLOPS_PER_SECOND + self.traffic / BYTES_PER_SECOND


def signature_of(text: str) -> Signature:
    """Types of arguments and results of @kernel in the text of a payload."""
    match = re.search(r"func\.func @\w+\((.*?)\) -> (.*?) \{\n", text, re.DOTALL)
    if not match:
        raise ValueError("no function")
    return (*re.findall(r"tensor<[^>]*>", match.group(1)), "->", *re.findall(r"tensor<[^>]*>", match.group(2)))


def held_out_signatures(folder: pathlib.Path) -> set[Signature]:
    """Those of the payloads under `folder` (benchmarks/payloads) that belong to networks held out.

    A workload's canonical text states the types of its arguments in their order:
    payloads with other types cannot be the same workload.
    """
    signatures = set()
    for model in HELD_OUT:
        for file in sorted((folder / "corpus" / model).glob("*.mlir")):
            signatures.add(signature_of(file.read_text()))
    # Representatives and NHWC forms are cut from the same networks: not one of them either.
    for file in sorted([*(folder / "rep").glob("*.mlir"), *(folder / "nhwc").glob("*.mlir")]):
        signatures.add(signature_of(file.read_text()))
    if not signatures:
        raise FileNotFoundError(f"{folder} holds no payloads of {', '.join(HELD_OUT)}")
    return signatures


def make(kind: str, rng: random.Random) -> Payload | None:
    """A payload of a kind with random shapes; None where these do not fit together."""
    function = Function()
    try:
        result: Value = KINDS[kind][0](function, rng)
    except ValueError:
        return None
    text = function.render([result])
    first = function.arguments[0][0].dtype
    size = function.bytes + result.bytes
    return Payload(kind, text, function.flops, size, function.traffic, first, signature_of(text))


def generate(count: int, seed: int, kinds: list[str], avoid: set[Signature]) -> Iterator[Payload]:
    """`count` distinct payloads; a longer list with the same seed begins with the shorter one."""
    rng = random.Random(f"cwm payloads {seed} {' '.join(kinds)}")
    weights = [KINDS[kind][1] for kind in kinds]
    seen: set[str] = set()
    attempts = 0
    while len(seen) < count:
        attempts += 1
        if attempts > 1000 * count:
            raise RuntimeError(f"only {len(seen)} of {count} payloads of {', '.join(kinds)} exist in these sizes")
        kind = rng.choices(kinds, weights)[0]
        # Kinds keep their share, whatever share of their shapes is of the right size.
        for _ in range(200):
            payload = make(kind, rng)
            if payload and SHORTEST <= payload.seconds <= LONGEST and payload.bytes <= MOST_BYTES:
                break
        else:
            continue
        if payload.text in seen or payload.signature in avoid:
            continue
        seen.add(payload.text)
        yield payload


def write(payloads: Iterator[Payload], folder: pathlib.Path) -> int:
    """Writes files and index; returns how many."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, int] = {}
    lines = []
    for payload in payloads:
        number = numbers[payload.kind] = numbers.get(payload.kind, -1) + 1
        name = f"{payload.kind}-{number:03}"
        (folder / f"{name}.mlir").write_text(payload.text)
        entry = {"name": name, "file": f"{name}.mlir", "kind": payload.kind, "flops": payload.flops, "bytes": payload.bytes,
                 "dtype": payload.dtype}  # fmt: skip
        lines.append(json.dumps(entry))
    (folder / "index.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    return len(lines)


def main(arguments: list[str] | None = None) -> int:
    default = pathlib.Path(__file__).resolve().parent.parent.parent / "benchmarks" / "payloads"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=pathlib.Path, required=True, help="folder for the payloads, which must not have any"
    )
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS), help="of: " + ", ".join(KINDS))
    parser.add_argument(
        "--avoid", type=pathlib.Path, default=default, help="the payloads that hold those of held-out networks"
    )
    options = parser.parse_args(arguments)
    kinds = options.kinds.split(",")
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"--kinds: no '{unknown[0]}'; known are: {', '.join(KINDS)}")
    if options.count < 1:
        parser.error("--count: expected at least 1")
    if options.out.exists() and any(options.out.glob("*.mlir")):
        parser.error(f"--out: '{options.out}' holds payloads already")
    try:
        avoid = held_out_signatures(options.avoid)
        number = write(generate(options.count, options.seed, kinds, avoid), options.out)
    except (OSError, RuntimeError) as error:
        print(f"generate_payloads: error: {error}", file=sys.stderr)
        return 1
    print(f"{number} payloads in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
