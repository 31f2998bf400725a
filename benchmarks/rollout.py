"""How long the world model takes to roll out the candidates of a real space, on one core.

Samples candidates at random (the worst case: a search's candidates share more), derives their actions and rolls a
transition model with random weights over them. The bar is 1000 ms for 10,000 candidates of 20 actions, prefixes
shared, texts of actions encoded before. Prints distinct actions and prefixes, and CPU milliseconds, the least of
several repetitions, by instruction set; exit status 1 when the fastest one misses the bar.

  python benchmarks/rollout.py [--payload rep/r50-t6] [--candidates 10000] [--length 20] [--dim 256] [--hidden 256]
"""

from __future__ import annotations

import argparse
import json
import sys

import catalogue
import harness

#: CPU milliseconds of 10,000 candidates of 20 actions.
BAR = 1000.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", default="rep/r50-t6", metavar="INDEX/NAME", help="(default: rep/r50-t6)")
    for name, default in (("candidates", 10000), ("length", 20), ("dim", 256), ("hidden", 256)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"(default: {default})")
    arguments = parser.parse_args()
    index, _, name = arguments.payload.partition("/")
    entry = catalogue.load(index).get(name)
    if entry is None:
        parser.error(f"no payload is called '{arguments.payload}'")
    done = harness.run(
        [
            harness.tool("cwm-rollout-benchmark"),
            str(entry.file),
            *(f"--{key}={getattr(arguments, key)}" for key in ("candidates", "length", "dim", "hidden")),
        ]
    )
    if done.returncode:
        print(f"cwm-rollout-benchmark: exit status {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return 1
    result = json.loads(done.stdout)
    print(f"machine: {harness.machine()}")
    print(
        f"{result['candidates']} candidates of {arguments.payload}, space {result['space']}, {result['length']} actions"
        f" each: {result['distinct_actions']} distinct actions, {result['distinct_prefixes']} distinct prefixes;"
        f" d {result['dim']}, hidden {result['hidden']}"
    )
    print(f"{'':10}{'tree':>9}{'actions':>9}{'roll-out':>9}{'all':>9}   CPU ms")
    for row in result["times"]:
        print(
            f"{row['kernels']:10}{row['tree_ms']:9.1f}{row['actions_ms']:9.1f}"
            f"{row['roll_out_ms']:9.1f}{row['total_ms']:9.1f}"
        )
    bar = BAR * result["candidates"] * result["length"] / 200_000
    met = result["times"][0]["total_ms"] <= bar
    print(f"bar {bar:.0f} ms: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
