"""Speed of tuned kernels against OpenBLAS and torch eager, on one core.

For each row: tunes the payload with cwm-tune (unless --results holds a
best.mlir of an earlier run), compiles the result with the tool's own pipeline,
and times it against the peer, interleaved in one process. Prints the median
of paired ratios (peer time / cwm time) with a 95 % bootstrap interval.

  python benchmarks/speed.py [--rows matmul_512,...] [--trials 64] [--rounds 41] [--results DIR]

Runs under the environment of `make benchmarks` (numpy, scipy-openblas32, torch).
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys

import catalogue
import harness
import rows

#: name: (multiply-adds, bar) of products that OpenBLAS does, too.
PRODUCTS = {
    "matmul_512": (512 * 512 * 512, 0.95),
    "matmul_1024": (1024 * 1024 * 1024, 0.95),
    "matmul_1023x1000x777": (1023 * 1000 * 777, 0.90),
    "batch_matmul_12x128x64x128": (12 * 128 * 64 * 128, 1.2),
}
#: Dense layers of the representative subgraphs, against torch eager.
DENSE = {"bert-t2": 1.1, "opt-t4": 1.1, "gptneo-t0": 1.1}
#: name: (kind, what torch computes) of payloads that no representative subgraph stands for; bar 1.0.
OTHERS: dict[str, tuple[str, dict]] = {
    "layernorm_128x768": ("layernorm", {"op": "layer_norm", "eps": 1e-5}),
    "permute_1x128x12x64": ("layout", {"op": "permute", "permutation": [0, 2, 1, 3]}),
    "transpose_1x12x128x64": ("layout", {"op": "permute", "permutation": [0, 1, 3, 2]}),
}


def table_rows() -> dict[str, tuple[catalogue.Entry, str, float]]:
    """name: (payload, peer, bar)."""
    result = {}
    for name, (multiply_adds, bar) in PRODUCTS.items():
        file = harness.PAYLOADS / f"{name}.mlir"
        entry = catalogue.from_payload(file, name, "matmul", 2 * multiply_adds, {"op": "matmul"})
        result[name] = (entry, "openblas", bar)
    subgraphs = catalogue.load("rep")
    for name, bar in DENSE.items():
        result[name] = (subgraphs[name], "eager", bar)
    for name, (kind, torch) in OTHERS.items():
        entry = catalogue.from_payload(harness.PAYLOADS / f"{name}.mlir", name, kind, 0, torch)
        result[name] = (entry, "eager", 1.0)
    return result


def main() -> int:
    known = table_rows()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows.add_arguments(parser, known)
    arguments = parser.parse_args()
    names = rows.chosen(parser, arguments.rows, known)
    harness.tool("cwm-tune")  # says what is missing before anything is printed
    with harness.scratch() as temporary:
        results = arguments.results or pathlib.Path(temporary)
        results.mkdir(parents=True, exist_ok=True)
        options = rows.Options(results, arguments.trials, arguments.seed, arguments.rounds)
        columns = list(dict.fromkeys(known[name][1] for name in names))
        table = rows.Table(columns, lambda row: known[row.name][1])
        print(f"machine: {harness.machine()}")
        table.head()
        for name in names:
            entry, peer, bar = known[name]
            table.add(rows.make(entry, bar, dataclasses.replace(options, peers=[peer])))
        for text in table.about():
            print(text)
    return 1 if table.missed() else 0


if __name__ == "__main__":
    sys.exit(main())
