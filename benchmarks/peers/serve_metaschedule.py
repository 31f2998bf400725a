"""MetaSchedule behind the line protocol: serves the fastest right one of the records that tune_metaschedule.py left.

  build/peers-env/metaschedule/bin/python benchmarks/peers/serve_metaschedule.py FOLDER [--data DIR] [--top 5]

MetaSchedule does not look at outputs: each kernel is compared with TVM's own
default schedule of the same program. Its times are single measurements: the
best few are timed again. The half of a kernel that packs weights is folded into
constants; what is timed is the TIR function itself, without Relax's VM.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import metaschedule_graphs
import metaschedule_records
import numpy as np
import protocol
import records
import tvm
import tvm_kernel
from tvm import relax
from tvm.relax import transform
from tvm.s_tir import meta_schedule


class Kernel(tvm_kernel.Kernel):
    """The one TIR function that a row is, on arrays that stay."""

    def __init__(self, module: tvm.IRModule, activations: list[np.ndarray]) -> None:
        name, function = tir_function(module)
        lone = tvm.IRModule({name: function.with_attr("global_symbol", name.name_hint)})
        self.library = tvm.compile(lone, target=metaschedule_graphs.target())
        main = module["main"]
        [call] = [binding for block in main.body.blocks for binding in block.bindings]
        values = {p: tvm.runtime.tensor(x) for p, x in zip(main.params, activations, strict=True)}
        inputs = [values[a] if isinstance(a, relax.Var) else a.value for a in call.value.args[1]]
        shape = tuple(int(n) for n in call.var.ty.shape)
        self.buffers = [*inputs, tvm.runtime.tensor(np.full(shape, np.nan, np.float32))]
        self.name, self.function = name.name_hint, self.library[name.name_hint]
        self.loops: dict[int, object] = {}

    def evaluator(self, number: int) -> object:
        return self.library.mod.time_evaluator(self.name, tvm.cpu(), number=number)


def tir_function(module: tvm.IRModule) -> tuple[tvm.ir.GlobalVar, tvm.tirx.PrimFunc]:
    """The module's only one: a second would pack weights inside the timed call."""
    [found] = [(name, f) for name, f in module.functions_items() if isinstance(f, tvm.tirx.PrimFunc)]
    return found


def finished(module: tvm.IRModule, record: str | None, workloads: list[str]) -> tvm.IRModule:
    """The module with the record's schedule in place, and what packs weights folded."""
    passes = [
        transform.SplitLayoutRewritePreproc(),
        transform.FoldConstant(),
        transform.CanonicalizeBindings(),
        transform.DeadCodeElimination(),
    ]
    if record is None:
        return tvm.transform.Sequential(passes)(module)
    with tempfile.TemporaryDirectory() as temporary:
        for name, content in (("workload", workloads), ("tuning_record", [record])):
            (pathlib.Path(temporary) / f"database_{name}.json").write_text("\n".join(content) + "\n")
        database = meta_schedule.database.JSONDatabase(work_dir=temporary)
        with metaschedule_graphs.target(), database:
            module = tvm.transform.Sequential([transform.MetaScheduleApplyDatabase(), *passes])(module)
    if "tirx.is_scheduled" not in tir_function(module)[1].attrs:
        raise ValueError("the record is of another program")
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the row")
    parser.add_argument("--data", type=pathlib.Path, default=records.DATA / "metaschedule")
    parser.add_argument("--top", type=int, default=5, help="records to choose from")
    arguments = parser.parse_args()
    output = protocol.open_output()
    row, inputs = protocol.load(arguments.folder)
    store = records.Store(arguments.data)
    metaschedule_graphs.only_x86_intrinsics()
    try:
        module = metaschedule_graphs.lowered(row, inputs)
        kept, info = store.read(row["name"], metaschedule_graphs.CPU)
    except metaschedule_graphs.Unsupported as reason:
        protocol.decline(output, str(reason))
        return 0
    except records.NoRecords as reason:
        # The 22 must not get lost from a mean; the NHWC forms are on top.
        (protocol.decline if row.get("layout") else protocol.fail)(output, str(reason))
        return 0
    activations = [x for a, x in zip(row["args"], inputs, strict=True) if a["role"] == "activation"]
    plain = Kernel(finished(module, None, []), activations)
    best = sorted(kept["records"], key=metaschedule_records.seconds_of)
    candidates = (Kernel(finished(module, record, kept["workloads"]), activations) for record in best)
    right, wrong = protocol.right_ones(candidates, plain.result(), arguments.top)
    if not right:
        protocol.fail(output, f"all {wrong} records are wrong")
        return 0
    kernel = right[protocol.fastest(right)]
    protocol.serve(output, kernel, version=store.about(info), wrong=wrong)
    return 0


if __name__ == "__main__":
    main()
