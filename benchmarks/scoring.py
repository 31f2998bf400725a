"""How long a search takes to score candidates of a real space with the world model, on one core.

Samples candidates at random, and does with them what a search does: derives their actions and features, rolls their
latent states out, asks the ranker. `cold`: the first sample, for which every action has to be bound, printed and
encoded; `warm`: other samples of the same space, as a search has them from its second batch on. Prints CPU
milliseconds of all threads; the bar is 1000 ms for 10,000 candidates, warm; exit status 1 when it is missed.

The spaces of sketches are small, a few hundred candidates; by default the space is that of benchmarks/wide.mlir, with
20 actions and millions of candidates.

  python benchmarks/scoring.py [--payload matmul_512 | INDEX/NAME] [--candidates 10000] [--model FOLDER]
"""

from __future__ import annotations

import argparse
import json
import sys

import catalogue
import harness

#: CPU milliseconds of 10,000 candidates.
BAR = 1000.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", metavar="INDEX/NAME", help="with the spaces of its sketches")
    parser.add_argument("--candidates", type=int, default=10000, metavar="N", help="(default: 10000)")
    parser.add_argument("--model", metavar="FOLDER", help="(default: the one that comes with cwm)")
    arguments = parser.parse_args()
    wide = harness.ROOT / "benchmarks" / "wide.mlir"
    if arguments.payload:
        index, _, name = arguments.payload.partition("/")
        entry = catalogue.load(index).get(name)
        if entry is None:
            parser.error(f"no payload is called '{arguments.payload}'")
        subject = [str(entry.file)]
    else:
        subject = [str(harness.PAYLOADS / "matmul_512.mlir"), f"--schedule={wide}"]
    command = [harness.tool("cwm-scoring-benchmark"), *subject, f"--candidates={arguments.candidates}"]
    if arguments.model:
        command.append(f"--model={arguments.model}")
    done = harness.run(command)
    if done.returncode:
        print(f"cwm-scoring-benchmark: exit status {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return 1
    result = json.loads(done.stdout)
    rows = result["rows"]
    print(f"machine: {harness.machine()}; load {harness.load()}")
    print(
        f"{arguments.payload or 'wide.mlir on matmul_512'}: {result['actions']:.1f} actions a candidate, {result['distinct_actions']} distinct ones;"
        f" the payload itself {result['payload_ms']:.1f} ms"
    )
    print(f"{'':6}{'candidates':>12}{'bound':>8}{'actions':>10}{'features':>10}{'model':>10}{'all':>10}   CPU ms")
    before = 0
    for place, row in enumerate(rows):
        shown = [row[key] for key in ("derive_ms", "features_ms", "score_ms", "all_ms")]
        print(
            f"{'warm' if place else 'cold':6}{row['candidates']:12}{row['bound'] - before:8}"
            + "".join(f"{value:10.1f}" for value in shown)
        )
        before = row["bound"]
    warm = [row for row in rows[1:] if row["candidates"] == arguments.candidates]
    if not warm:
        print("the space is too small for a second sample")
        return 1
    best = min(row["all_ms"] for row in warm)
    bar = BAR * arguments.candidates / 10000
    print(f"bar {bar:.0f} ms: {'met' if best <= bar else 'missed'} ({best:.0f} ms)")
    return 0 if best <= bar else 1


if __name__ == "__main__":
    sys.exit(main())
