"""Tunes rows with Ansor (tvm.auto_scheduler) for one thread; serve_ansor.py serves what it leaves.

  build/peers-env/ansor/bin/python benchmarks/peers/tune_ansor.py [--rows r50-t6,...] [--trials 64]

Rows that are there for this CPU with the same options are left as they are, so
a run that was ended goes on where it was. Run it pinned to one core of a quiet
machine: its seconds are compared with cwm's.

Ansor's defaults, but for one building process and number=1 (short kernels are
repeated for 100 ms anyway). Until --warmup programs are measured Ansor's cost
model gives random scores, with its defaults for all of 64 trials; then the
random model stands in, which is the same without a minute of extracting
features. --per-round 16 --warmup 15 lets the cost model guide every round but
the first.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import tempfile
import time

import ansor_graphs
import numpy as np
import records
from tvm import auto_scheduler


def tune(row: dict, arguments: argparse.Namespace, log: pathlib.Path) -> dict:
    """Measures `trials` programs into the log; returns what to say about them."""
    random.seed(arguments.seed)
    np.random.seed(arguments.seed)
    begin = time.monotonic()
    task = ansor_graphs.task(row)
    guided = arguments.trials - arguments.per_round > arguments.warmup
    seed = arguments.seed + 1  # 0 means "draw one"
    model = auto_scheduler.RandomModel()
    if guided:
        model = auto_scheduler.XGBModel(num_warmup_sample=arguments.warmup, seed=seed)
    options = auto_scheduler.TuningOptions(
        arguments.trials,
        num_measures_per_round=arguments.per_round,
        verbose=0,
        measure_callbacks=[auto_scheduler.RecordToFile(str(log))],
        builder=auto_scheduler.LocalBuilder(n_parallel=1),
        runner=auto_scheduler.LocalRunner(timeout=arguments.timeout, number=1, min_repeat_ms=100),
    )
    task.tune(options, auto_scheduler.SketchPolicy(task, model, seed=seed, verbose=0))
    seconds = time.monotonic() - begin
    costs = [float(result.costs[0]) for _, result in auto_scheduler.RecordReader(str(log)) if result.error_no == 0]
    return {
        "seconds": round(seconds, 1),
        "measured": len(costs),
        "best_us": round(min(costs) * 1e6, 3) if costs else None,
        "version": ansor_graphs.VERSION,
        "cpu": ansor_graphs.CPU,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    records.add_arguments(parser, "ansor")
    parser.add_argument("--per-round", type=int, default=64, help="programs between two looks at the cost model")
    parser.add_argument("--warmup", type=int, default=100, help="programs before the cost model counts")
    parser.add_argument("--timeout", type=int, default=10, help="seconds that a trial may run")
    arguments = parser.parse_args()
    rows = records.chosen(parser, arguments.rows)
    store = records.Store(arguments.data)
    wanted = {name: getattr(arguments, name) for name in ("trials", "seed", "per_round", "warmup")}
    for name, row in rows.items():
        if store.complete(name, ansor_graphs.CPU, wanted):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            log = pathlib.Path(temporary) / "log.json"
            info = tune(row, arguments, log)
            store.write(name, log.read_text().splitlines(), {**info, **wanted})
        print(f"{name}: {info['seconds']} s, {info['measured']} measured, best {info['best_us']} us", flush=True)
    return 0


if __name__ == "__main__":
    main()
