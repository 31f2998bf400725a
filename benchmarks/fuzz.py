"""Random candidates over the first sketches: is every accepted one right?

For each of the shapes below, cwm-tune measures random candidates (no model) and
keeps the object file of each accepted one. Each object is then run here, in a
child process, on inputs of another seed and compared, element by element, with
numpy in f64. Prints counts by class; exit status 1 when an accepted candidate
is wrong or the driver died.

  python benchmarks/fuzz.py [--candidates 3000] [--shapes NAME,...] [--seed 1]
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import os
import pathlib
import sys

import fuzz_windows
import harness
import numpy as np
from fuzz_shape import Arrays, Shape, tensor


def function(inputs: list[tuple[int, ...]], result: tuple[int, ...], body: str) -> str:
    arguments = ", ".join(f"%arg{i}: {tensor(s)}" for i, s in enumerate(inputs))
    return f"""func.func @kernel({arguments}) -> {tensor(result)} {{
  %zero = arith.constant 0.000000e+00 : f32
  %empty = tensor.empty() : {tensor(result)}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {tensor(result)}) -> {tensor(result)}
{body}
  return %res : {tensor(result)}
}}
"""


def named(
    name: str, op: str, inputs: list[tuple[int, ...]], result: tuple[int, ...], spec: str, reduction: int
) -> Shape:
    """A named contraction of two operands, `spec` in einsum's notation."""
    types = ", ".join(tensor(s) for s in inputs)
    body = f"  %res = {op} ins(%arg0, %arg1 : {types}) outs(%init : {tensor(result)}) -> {tensor(result)}"
    return Shape(name, function(inputs, result, body), inputs, result, lambda x: np.einsum(spec, *x), reduction)


def generic(name: str, spec: str, extents: dict[str, int]) -> Shape:
    """Any contraction as one linalg.generic, `spec` in einsum's notation."""
    operands, output = spec.split("->")
    terms = operands.split(",")
    letters = list(dict.fromkeys(output + operands.replace(",", "")))
    dims = {letter: f"d{i}" for i, letter in enumerate(letters)}
    domain = ", ".join(dims.values())
    maps = ", ".join(f"affine_map<({domain}) -> ({', '.join(dims[c] for c in t)})>" for t in [*terms, output])
    kinds = ", ".join('"parallel"' if c in output else '"reduction"' for c in letters)
    inputs = [tuple(extents[c] for c in t) for t in terms]
    result = tuple(extents[c] for c in output)
    types = ", ".join(tensor(s) for s in inputs)
    body = f"""  %res = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%arg0, %arg1 : {types}) outs(%init : {tensor(result)}) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }} -> {tensor(result)}"""
    reduction = math.prod(extents[c] for c in letters if c not in output)
    return Shape(name, function(inputs, result, body), inputs, result, lambda x: np.einsum(spec, *x), reduction)


def matmul(m: int, n: int, k: int) -> Shape:
    return named(f"matmul_{m}x{n}x{k}", "linalg.matmul", [(m, k), (k, n)], (m, n), "mk,kn->mn", k)


def bias_relu(m: int, n: int, k: int) -> Shape:
    inputs, result = [(m, k), (k, n), (n,)], (m, n)
    body = f"""  %mm = linalg.matmul ins(%arg0, %arg1 : {tensor((m, k))}, {tensor((k, n))}) outs(%init : {tensor(result)}) -> {tensor(result)}
  %res = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%mm, %arg2 : {tensor(result)}, {tensor((n,))}) outs(%empty : {tensor(result)}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  }} -> {tensor(result)}"""
    return Shape(
        f"bias_relu_{m}x{n}x{k}",
        function(inputs, result, body),
        inputs,
        result,
        lambda x: np.maximum(x[0] @ x[1] + x[2], 0),
        k,
    )


def dense(m: int, n: int, k: int) -> Shape:
    """x * W^T + residual, W transposed by its own op as PyTorch hands it over."""
    inputs, result = [(m, k), (n, k), (m, n)], (m, n)
    body = f"""  %we = tensor.empty() : {tensor((k, n))}
  %wt = linalg.transpose ins(%arg1 : {tensor((n, k))}) outs(%we : {tensor((k, n))}) permutation = [1, 0]
  %mm = linalg.matmul ins(%arg0, %wt : {tensor((m, k))}, {tensor((k, n))}) outs(%init : {tensor(result)}) -> {tensor(result)}
  %res = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%mm, %arg2 : {tensor(result)}, {tensor(result)}) outs(%empty : {tensor(result)}) {{
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }} -> {tensor(result)}"""
    return Shape(
        f"dense_{m}x{n}x{k}", function(inputs, result, body), inputs, result, lambda x: x[0] @ x[1].T + x[2], k
    )


def softmax(rows: int, columns: int) -> Shape:
    """Not a contraction: what the fallback sketch makes of it."""
    inputs, result = [(rows, columns)], (rows, columns)
    row = tensor((rows,))
    full = tensor(result)
    both = "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>"
    body = f"""  %low = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : {row}
  %mi = linalg.fill ins(%low : f32) outs(%re : {row}) -> {row}
  %max = linalg.generic {{indexing_maps = [{both}], iterator_types = ["parallel", "reduction"]}} ins(%arg0 : {full}) outs(%mi : {row}) {{
  ^bb0(%x: f32, %m: f32):
    %n = arith.maximumf %x, %m : f32
    linalg.yield %n : f32
  }} -> {row}
  %exp = linalg.generic {{indexing_maps = [{both}, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%arg0, %max : {full}, {row}) outs(%empty : {full}) {{
  ^bb0(%x: f32, %m: f32, %o: f32):
    %d = arith.subf %x, %m : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }} -> {full}
  %si = linalg.fill ins(%zero : f32) outs(%re : {row}) -> {row}
  %sum = linalg.generic {{indexing_maps = [{both}], iterator_types = ["parallel", "reduction"]}} ins(%exp : {full}) outs(%si : {row}) {{
  ^bb0(%x: f32, %s: f32):
    %n = arith.addf %x, %s : f32
    linalg.yield %n : f32
  }} -> {row}
  %res = linalg.generic {{indexing_maps = [{both}, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}} ins(%exp, %sum : {full}, {row}) outs(%empty : {full}) {{
  ^bb0(%x: f32, %s: f32, %o: f32):
    %q = arith.divf %x, %s : f32
    linalg.yield %q : f32
  }} -> {full}"""

    def reference(x: Arrays) -> np.ndarray:
        e = np.exp(x[0] - x[0].max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return Shape(f"softmax_{rows}x{columns}", function(inputs, result, body), inputs, result, reference, columns)


SHAPES: list[Shape] = [
    matmul(1, 1, 1),
    matmul(3, 5, 7),
    matmul(17, 1, 33),
    matmul(1, 17, 64),
    matmul(13, 29, 1),
    matmul(127, 131, 137),
    matmul(97, 61, 31),
    matmul(256, 256, 256),
    matmul(100, 96, 100),
    named("matvec_67x129", "linalg.matvec", [(67, 129), (129,)], (67,), "mk,k->m", 129),
    named("vecmat_129x67", "linalg.vecmat", [(129,), (129, 67)], (67,), "k,kn->n", 129),
    named("dot_1000", "linalg.dot", [(1000,), (1000,)], (), "k,k->", 1000),
    named("batch_matmul_3x5x7x11", "linalg.batch_matmul", [(3, 5, 7), (3, 7, 11)], (3, 5, 11), "bmk,bkn->bmn", 7),
    named(
        "batch_matmul_2x64x64x64", "linalg.batch_matmul", [(2, 64, 64), (2, 64, 64)], (2, 64, 64), "bmk,bkn->bmn", 64
    ),
    generic("transpose_a_40x50x60", "km,kn->mn", {"m": 40, "n": 50, "k": 60}),
    generic("transpose_b_65x67x71", "mk,nk->mn", {"m": 65, "n": 67, "k": 71}),
    generic("transpose_out_33x47x19", "mk,kn->nm", {"m": 33, "n": 47, "k": 19}),
    generic("batch_transposed_4x31x37x23", "mbk,bnk->bmn", {"b": 4, "m": 31, "n": 37, "k": 23}),
    generic("two_k_two_m_4x6x5x3x7", "abcd,cde->abe", {"a": 4, "b": 6, "c": 5, "d": 3, "e": 7}),
    generic("outer_product_23x41", "m,n->mn", {"m": 23, "n": 41}),
    bias_relu(50, 70, 30),
    bias_relu(128, 64, 256),
    dense(33, 65, 17),
    dense(64, 128, 96),
    softmax(19, 37),
    *fuzz_windows.SHAPES,
]


def check(object_file: pathlib.Path, shape: Shape, seed: int, folder: pathlib.Path) -> str:
    """Runs one object in a child process: "" or what is wrong."""
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        message = folder / "message"
        if os.WIFSIGNALED(status):
            return f"died of signal {os.WTERMSIG(status)}"
        return message.read_text() if os.WEXITSTATUS(status) else ""
    generator = np.random.default_rng(seed)
    inputs = [generator.uniform(-1, 1, s).astype(np.float32) for s in shape.inputs]
    output = np.full(shape.result, np.nan, np.float32)
    kernel = harness.Kernel(harness.link(object_file, folder / "candidate.so"), [*inputs, output])
    kernel()
    expected = shape.reference([x.astype(np.float64) for x in inputs])
    # Worst case of f32 rounding grows with the number of terms; the square root
    # is what random signs give, 32 leaves room for any order of summation.
    limit = 32 * np.finfo(np.float32).eps * math.sqrt(shape.reduction + 1) * max(1e-30, np.abs(expected).max())
    wrong = ~(np.abs(output - expected) <= limit)
    if wrong.any():
        (folder / "message").write_text(f"{wrong.sum()} of {wrong.size} elements differ, first {output[wrong].flat[0]}")
        os._exit(1)
    os._exit(0)


def fuzz(shape: Shape, count: int, seed: int, folder: pathlib.Path) -> tuple[collections.Counter, list[str]]:
    """Counts by class and the list of faults of one shape."""
    work = folder / shape.name
    work.mkdir()
    payload = work / "payload.mlir"
    payload.write_text(shape.text)
    records = work / "records.jsonl"
    done = harness.run(
        [
            harness.tool("cwm-tune"),
            str(payload),
            "-o",
            str(work / "best.mlir"),
            f"--trials={count}",
            "--scorer=random",
            f"--seed={seed}",
            f"--work-dir={work / 'work'}",
            "--keep-objects",
            f"--export-records={records}",
        ]
    )
    faults = []
    if done.returncode not in (0, 2):
        return collections.Counter(), [f"{shape.name}: cwm-tune exit {done.returncode}: {done.stderr[-500:]}"]
    classes: collections.Counter = collections.Counter()
    with (work / "work" / "objects" / "index.jsonl").open() as lines:
        objects = {entry["candidate"]: entry["object"] for entry in map(json.loads, lines)}
    for line in records.read_text().splitlines():
        record = json.loads(line)
        status = record["result"]["status"]
        classes[status] += 1
        if status != "ok":
            continue
        message = check(work / "work" / "objects" / objects[record["candidate"]], shape, seed + 1000, work)
        if message:
            faults.append(f"{shape.name}: {record['candidate']}: {message}")
    return classes, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=3000, help="over all shapes")
    parser.add_argument("--shapes", help="comma-separated names")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = arguments.shapes.split(",") if arguments.shapes else [s.name for s in SHAPES]
    shapes = [s for s in SHAPES if s.name in names]
    total: collections.Counter = collections.Counter()
    faults: list[str] = []
    print(f"machine: {harness.machine()}, seed {arguments.seed}")
    with harness.scratch() as folder:
        for shape in shapes:
            # Small spaces hold fewer candidates than their share; the rest
            # goes to the shapes that follow.
            left = arguments.candidates - sum(total.values())
            share = math.ceil(left / (len(shapes) - shapes.index(shape)))
            classes, bad = fuzz(shape, share, arguments.seed, pathlib.Path(folder))
            total += classes
            faults += bad
            for fault in bad:
                print("FAULT " + fault, flush=True)
            print(f"{shape.name:32}{sum(classes.values()):6}  {dict(classes)}", flush=True)
    print(f"{'all':32}{sum(total.values()):6}  {dict(total)}")
    valid = total["ok"] / max(1, sum(total.values()))
    print(f"valid {valid:.1%}; accepted and wrong: {len(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
