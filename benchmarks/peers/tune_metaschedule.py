"""Tunes rows with TVM's MetaSchedule for one thread; serve_metaschedule.py serves what it leaves.

  build/peers-env/metaschedule/bin/python benchmarks/peers/tune_metaschedule.py [--rows r50-t6,...] [--trials 64]

Rows that are there for this CPU with the same options are left as they are, so
a run that was ended goes on where it was. Run it pinned to one core of a quiet
machine. Evolutionary search with the XGBoost cost model, trained after every
--per-round trials; the best --keep records are kept.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

import cloudpickle
import metaschedule_graphs
import metaschedule_records
import numpy as np
import records
from tvm.s_tir import meta_schedule


def tune(row: dict, arguments: argparse.Namespace, folder: pathlib.Path) -> tuple[dict, dict]:
    """The records to keep, and what to say about them."""
    inputs = [np.zeros(a["shape"], np.float32) for a in row["args"]]
    begin = time.monotonic()
    meta_schedule.relax_integration.tune_relax(
        metaschedule_graphs.lowered(row, inputs),
        {},
        metaschedule_graphs.target(),
        str(folder),
        arguments.trials,
        num_trials_per_iter=arguments.per_round,
        seed=arguments.seed,
        builder=meta_schedule.builder.LocalBuilder(max_workers=1, initializer=metaschedule_graphs.only_x86_intrinsics),
        runner=meta_schedule.runner.LocalRunner(),
    )
    seconds = time.monotonic() - begin
    workloads, lines = (
        (folder / f"database_{name}.json").read_text().splitlines() for name in ("workload", "tuning_record")
    )
    measured = [float(s) for s in map(metaschedule_records.seconds_of, lines) if s < metaschedule_records.FAILED]
    kept = {"workloads": workloads, "records": metaschedule_records.best_lines(lines, arguments.keep)}
    return kept, {
        "seconds": round(seconds, 1),
        "measured": len(measured),
        "best_us": round(min(measured) * 1e6, 3) if measured else None,
        "version": metaschedule_graphs.VERSION,
        "cpu": metaschedule_graphs.CPU,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    records.add_arguments(parser, "metaschedule")
    parser.add_argument("--per-round", type=int, default=16, help="trials between two trainings of the cost model")
    parser.add_argument("--keep", type=int, default=8, help="records to keep")
    arguments = parser.parse_args()
    rows = records.chosen(parser, arguments.rows)
    store = records.Store(arguments.data)
    wanted = {name: getattr(arguments, name) for name in ("trials", "seed", "per_round")}
    metaschedule_graphs.only_x86_intrinsics()
    cloudpickle.register_pickle_by_value(metaschedule_graphs)  # builders cannot import it
    for name, row in rows.items():
        if store.complete(name, metaschedule_graphs.CPU, wanted):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            kept, info = tune(row, arguments, pathlib.Path(temporary))
            store.write(name, kept, {**info, **wanted})
        print(f"{name}: {info['seconds']} s, {info['measured']} measured, best {info['best_us']} us", flush=True)
    return 0


if __name__ == "__main__":
    main()
