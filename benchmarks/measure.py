"""Times one row in a process of its own: python benchmarks/measure.py JOB.json

rows.py writes the job and reads the result; a kernel that crashes takes this
process with it and fails its row only. The kernel's output and each peer's are
compared with torch in f64, element by element, before anything is timed.
"""

from __future__ import annotations

import contextlib
import json
import math
import pathlib
import statistics
import sys

import catalogue
import harness
import numpy as np
import torch
import torch_peers
from peers import server

#: Unit roundoff of f32; the tolerance is that of docs/Runner.md.
ROUNDOFF = float(np.finfo(np.float32).eps) / 2


def make_inputs(entry: catalogue.Entry, seed: int) -> list[np.ndarray]:
    """Uniform in [-1, 1), or in [0, 1) where the index says nonnegative."""
    generator = np.random.default_rng(seed)
    result = []
    for a in entry.args:
        if a.dtype != "float32":
            raise harness.Failed(f"no random inputs of type {a.dtype}")
        low = 0 if a.domain == "nonnegative" else -1
        result.append(harness.aligned(generator.uniform(low, 1, a.shape).astype(np.float32)))
    return result


def compare(output: np.ndarray, expected: np.ndarray, reduction: int) -> float:
    """The largest error relative to the largest element; raises Failed if any element is off."""
    if output.shape != expected.shape:
        raise harness.Failed(f"result of shape {output.shape}, expected {expected.shape}")
    scale = math.sqrt(float(np.mean(np.square(expected))))
    limit = ROUNDOFF * (64 + 16 * math.sqrt(reduction)) * (scale + np.abs(expected))
    difference = np.abs(output.astype(np.float64) - expected)
    wrong = ~(difference <= limit)  # NaN is wrong, too
    if wrong.any():
        where = tuple(int(i[0]) for i in np.nonzero(wrong))
        raise harness.Failed(
            f"wrong numbers: {int(wrong.sum())} of {wrong.size} elements, "
            f"first at {where}: {output[where]:g}, expected {expected[where]:g}"
        )
    return float(difference.max() / max(np.abs(expected).max(), 1e-30))


def start_peer(
    name: str, job: dict, entry: catalogue.Entry, inputs: list[np.ndarray], folder: pathlib.Path
) -> tuple[dict, str]:
    """The ways a peer has of computing the entry, and what is to be said about the peer."""
    if name in job["servers"]:
        started = server.Server(job["servers"][name], folder)
        return {"": started}, str(started.about.get("version", ""))
    if name == "openblas":
        import openblas

        library = openblas.OpenBLAS(folder)
        return library.ways(*inputs), library.describe()
    return {"": torch_peers.start(name, entry, inputs, folder)}, ""


def write_row(entry: catalogue.Entry, inputs: list[np.ndarray], folder: pathlib.Path) -> None:
    """What a server reads: row.json, payload.mlir, 0.npy and so on."""
    (folder / "payload.mlir").write_text(entry.file.read_text())
    (folder / "row.json").write_text(json.dumps(entry.to_json() | {"file": "payload.mlir"}))
    for i, x in enumerate(inputs):
        np.save(folder / f"{i}.npy", x)


def measure(job: dict, folder: pathlib.Path) -> dict:
    """The job's result; the same fields as rows.Row, its cells as plain values."""
    entry = catalogue.entry(job["entry"], pathlib.Path())
    inputs = make_inputs(entry, job["seed"] + 12345)
    expected = torch_peers.reference(entry, inputs)
    output = harness.aligned(np.full(entry.result.shape, np.nan, np.float32))
    kernel = harness.Kernel(harness.compile_script(entry.file, pathlib.Path(job["script"]), folder), [*inputs, output])
    kernel()
    error = compare(output, expected, entry.reduction)
    write_row(entry, inputs, folder)
    cells: dict[str, dict] = {}
    contenders: dict[tuple[str, str], harness.Contender] = {}
    with contextlib.ExitStack() as stack:
        for name in job["peers"]:
            try:
                ways, about = start_peer(name, job, entry, inputs, folder)
                for contender in ways.values():
                    stack.callback(contender.close)
                    compare(contender.output(), expected, entry.reduction)
                    contender.warm_up()
                cells[name] = {"about": about}
                contenders |= {(name, way): contender for way, contender in ways.items()}
            except harness.Unsupported as reason:
                cells[name] = {"skipped": str(reason)}
            except harness.Failed as reason:
                cells[name] = {"failure": str(reason)}
            except Exception as reason:  # whatever a peer does, it fails its own cell only
                cells[name] = {"failure": f"{type(reason).__name__}: {reason}".splitlines()[0][:300]}
        times = interleave(contenders, harness.InProcess(kernel), job["rounds"], cells)
    ours = times.pop(("cwm", ""))
    by_peer: dict[str, dict[str, list[float]]] = {}
    for (name, way), values in times.items():
        by_peer.setdefault(name, {})[way] = values
    for name, ways in by_peer.items():
        ratios = {way: harness.paired(values, ours) for way, values in ways.items()}
        way = min(ratios, key=lambda w: ratios[w].median)
        cells[name] |= {"way": way, "ratio": vars(ratios[way])}
    if len(cells) > 1 and by_peer:
        (name, _), ratio = harness.best_of(times, ours)
        cells["best"] = {"way": name, "ratio": vars(ratio)}
    elif len(cells) > 1:
        cells["best"] = {"failure": "no peer gave a figure"}
    return {"cells": cells, "us": statistics.median(ours) / 1e3, "error": error}


def interleave(
    contenders: dict[tuple[str, str], harness.Contender], kernel: harness.InProcess, rounds: int, cells: dict
) -> dict[tuple[str, str], list[float]]:
    """harness.interleave, begun again without a peer whose process fails under way."""
    while True:
        try:
            return harness.interleave({**contenders, ("cwm", ""): kernel}, rounds)
        except harness.Failed as reason:
            broken = [key for key, contender in contenders.items() if getattr(contender, "broken", False)]
            if not broken:
                raise
            for key in broken:
                cells[key[0]] = {"failure": str(reason)}
                del contenders[key]


def main() -> int:
    job_file = pathlib.Path(sys.argv[1])
    job = json.loads(job_file.read_text())
    with torch_peers.session(), harness.scratch() as temporary:
        try:
            result = measure(job, pathlib.Path(temporary))
        except harness.Failed as failure:
            result = {"failure": str(failure)}
    result["versions"] = f"torch {torch.__version__}, numpy {np.__version__}"
    pathlib.Path(job["result"]).write_text(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
