"""How long the world model takes to roll out the candidates of a real space, on one core.

Samples candidates at random, repeated where the space has fewer (benchmarks/scoring.py has a space with enough), derives
their actions and rolls a transition model with random weights over them. The bar is 1000 ms for 10,000 candidates of 20 actions, texts of actions encoded before:
tree of prefixes, what actions contribute by themselves, and the roll-out. `unshared` is the roll-out if no two
candidates had a prefix in common. Prints CPU milliseconds, the least of several repetitions, by instruction set; exit
status 1 when the fastest one misses the bar.

  python benchmarks/rollout.py [--payload rep/bert-t6] [--candidates 10000] [--dim 256] [--hidden 256]
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
    parser.add_argument("--payload", default="rep/bert-t6", metavar="INDEX/NAME", help="(default: rep/bert-t6)")
    for name, default in (("candidates", 10000), ("dim", 256), ("hidden", 256)):
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
            *(f"--{key}={getattr(arguments, key)}" for key in ("candidates", "dim", "hidden")),
        ]
    )
    if done.returncode:
        print(f"cwm-rollout-benchmark: exit status {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return 1
    result = json.loads(done.stdout)
    print(f"machine: {harness.machine()}")
    print(
        f"{result['candidates']} candidates of {arguments.payload}, space {result['space']},"
        f" {result['steps'] / result['candidates']:.1f} actions each: {result['distinct_actions']} distinct actions,"
        f" {result['distinct_prefixes']} distinct prefixes; d {result['dim']}, hidden {result['hidden']}"
    )
    print(f"{'':10}{'tree':>10}{'actions':>10}{'roll-out':>10}{'all':>10}{'unshared':>10}   CPU ms")
    columns = ("tree_ms", "actions_ms", "roll_out_ms")
    for row in result["times"]:
        shown = [*(row[column] for column in columns), sum(row[column] for column in columns), row["unshared_ms"]]
        print(f"{row['kernels']:10}" + "".join(f"{value:10.1f}" for value in shown))
    bar = BAR * result["steps"] / 200_000
    met = sum(result["times"][0][column] for column in columns) <= bar
    print(f"bar {bar:.0f} ms ({result['steps']} steps): {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
