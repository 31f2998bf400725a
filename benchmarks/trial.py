"""Cost of a tuning run: one trial, 64 trials, and what the driver itself takes.

  python benchmarks/trial.py [--payload FILE] [--trials 64] [--runs 3]

A trial is compile + check + time; its median comes from the records' stage
times. The driver's share is the run's wall time less the time spent waiting for
compilation and measurement, as the run's summary states it.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import time

import harness

STAGES = ("transform_ms", "lower_ms", "compile_ms", "check_ms", "time_ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", type=pathlib.Path, default=harness.PAYLOADS / "matmul_512.mlir")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print(f"machine: {harness.machine()}; {arguments.payload.name}, {arguments.trials} trials")
    print(f"{'run':>4}{'median trial s':>16}{'wall s':>8}{'driver %':>10}  median ms by stage")
    trials, walls, shares = [], [], []
    for run in range(arguments.runs):
        with harness.scratch() as temporary:
            folder = pathlib.Path(temporary)
            records, summary = folder / "records.jsonl", folder / "summary.json"
            begin = time.monotonic()
            done = harness.run(
                [
                    harness.tool("cwm-tune"),
                    str(arguments.payload),
                    "-o",
                    str(folder / "best.mlir"),
                    f"--trials={arguments.trials}",
                    f"--seed={run}",
                    f"--work-dir={folder / 'work'}",
                    f"--export-records={records}",
                    f"--summary={summary}",
                ]
            )
            wall = time.monotonic() - begin
            if done.returncode:
                raise SystemExit(done.stderr)
            rows = [json.loads(line)["result"] for line in records.read_text().splitlines()]
            driver = json.loads(summary.read_text())["driver_overhead"]
        sums = [sum(row[stage] for stage in STAGES) for row in rows]
        stages = {stage: round(statistics.median(row[stage] for row in rows), 1) for stage in STAGES}
        trials.append(statistics.median(sums) / 1e3)
        walls.append(wall)
        shares.append(driver)
        print(f"{run:4}{trials[-1]:16.3f}{wall:8.1f}{driver:10.1%}  {stages}", flush=True)
    good = statistics.median(trials) <= 0.4 and statistics.median(walls) <= 45 and statistics.median(shares) <= 0.10
    print(
        f"medians: trial {statistics.median(trials):.3f} s (bar 0.4), wall {statistics.median(walls):.1f} s (bar 45), "
        f"driver {statistics.median(shares):.1%} (bar 10 %): {'ok' if good else 'MISS'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
