"""Ansor behind the line protocol: serves the fastest right one of the best records that tune_ansor.py left.

  build/peers-env/ansor/bin/python benchmarks/peers/serve_ansor.py FOLDER [--data DIR] [--top 5]

Ansor does not look at outputs, and some of its kernels are wrong, so each is
compared with TVM's own default schedule of the same graph; and its times are
single measurements, so the best few are timed again. Weights are packed into a
record's layout beforehand.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import ansor_graphs
import numpy as np
import protocol
import records
import tvm
import tvm_kernel
from tvm import auto_scheduler, te
from tvm.auto_scheduler import LayoutRewriteOption
from tvm.auto_scheduler.measure import recover_measure_input


def build(schedule: te.Schedule, tensors: list[te.Tensor]) -> tvm.runtime.Module:
    return tvm.build(schedule, tensors, ansor_graphs.TARGET)


class Kernel(tvm_kernel.Kernel):
    """A built module on arrays of its own, inputs first."""

    def __init__(self, module: tvm.runtime.Module, inputs: list[np.ndarray], result: list[int]) -> None:
        self.module, self.function = module, module.entry_func
        self.buffers = [tvm.nd.array(x) for x in inputs]
        self.buffers.append(tvm.nd.array(np.full(result, np.nan, "float32")))
        self.loops = {}

    def evaluator(self, number: int) -> object:
        return self.module.time_evaluator(self.module.entry_name, tvm.cpu(), number=number)


def pack(dag: auto_scheduler.ComputeDAG, state: object, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays as the record's kernel takes them: the layout transforms that Ansor would insert, run alone."""
    packed = dict(arrays)
    for stage in dag.apply_steps_from_state(state, LayoutRewriteOption.INSERT_TRANSFORM_STAGE)[0].stages:
        if stage.op.name == "auto_scheduler_layout_transform":
            weight, result = stage.op.input_tensors[0], stage.op.output(0)
            transform = build(te.create_schedule(result.op), [weight, result])
            buffer = tvm.nd.empty([int(n) for n in result.shape])
            transform(tvm.nd.array(arrays[weight.op.name]), buffer)
            packed[weight.op.name] = buffer.numpy()
    return packed


def from_record(task: auto_scheduler.SearchTask, record: object, arrays: dict[str, np.ndarray]) -> Kernel:
    dag, state = task.compute_dag, recover_measure_input(record, rebuild_state=True).state
    schedule, tensors = dag.apply_steps_from_state(state, task.layout_rewrite_option)
    packed = pack(dag, state, arrays)
    result = [int(n) for n in tensors[-1].shape]
    return Kernel(build(schedule, tensors), [packed[t.op.name] for t in tensors[:-1]], result)


def by_time(lines: list[str]) -> list[object]:
    """The measured ones among the records, the fastest first."""
    with tempfile.TemporaryDirectory() as temporary:
        log = pathlib.Path(temporary) / "log.json"
        log.write_text("\n".join(lines) + "\n")
        measured = [r for r in auto_scheduler.RecordReader(str(log)) if r[1].error_no == 0]
    return [record for record, result in sorted(measured, key=lambda r: float(r[1].costs[0]))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the row")
    parser.add_argument("--data", type=pathlib.Path, default=records.DATA / "ansor")
    parser.add_argument("--top", type=int, default=5, help="records to choose from")
    arguments = parser.parse_args()
    output = protocol.open_output()
    row, inputs = protocol.load(arguments.folder)
    store = records.Store(arguments.data)
    try:
        tensors = ansor_graphs.graph(row)
        lines, info = store.read(row["name"], ansor_graphs.CPU)
    except ansor_graphs.Unsupported as reason:
        protocol.decline(output, str(reason))
        return 0
    except records.NoRecords as reason:
        # The 22 must not get lost from a mean; the NHWC forms are on top.
        (protocol.decline if row.get("layout") else protocol.fail)(output, str(reason))
        return 0
    arrays = {t.op.name: x.reshape([int(n) for n in t.shape]) for t, x in zip(tensors, inputs)}
    result = [int(n) for n in tensors[-1].shape]
    plain = Kernel(build(te.create_schedule(tensors[-1].op), tensors), list(arrays.values()), result)
    task = ansor_graphs.task(row)
    candidates = (from_record(task, record, arrays) for record in by_time(lines))
    right, wrong = protocol.right_ones(candidates, plain.result(), arguments.top)
    if not right:
        protocol.fail(output, f"all {wrong} records are wrong")
        return 0
    kernel = right[protocol.fastest(right)]
    protocol.serve(output, kernel, version=store.about(info), wrong=wrong)
    return 0


if __name__ == "__main__":
    main()
