"""Makes the fixed pools: random candidates of the workloads that evaluation uses, all measured once.

A pool for each tunable workload of the networks that are held out, and for each
of the 22 representative subgraphs: a compressed file with actions, states,
times and failures of its candidates, whose header names machine, toolchain and
noise floor. Rankers and searches are simulated on these, so that all methods
see the same candidates and times.

  python benchmarks/pools.py --database DIR/pools.db [--pools benchmarks/pools] [--samples 256] [--only PATTERN] [--first N]

Everything measured is kept in the database: after an interruption, the same
command continues. Afterwards it says what time and space all pools will take,
by those that are there. Keep the machine idle.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import time

import harness
import workloads


def select(table: dict) -> dict[str, dict]:
    """Workloads with a pool by name, the representatives first: held-out networks, and the 22."""
    chosen: dict[str, dict] = {}
    for workload in table["workloads"]:
        files = workload["files"]
        representative = next((file for file in files if file.startswith("rep/")), None)
        held = any(network in table["held_out"] for network in workload["networks"])
        # Other layouts of a held-out network's ops are held out, but no workloads of it.
        corpus = next((file for file in files if file.startswith("corpus/")), None)
        if representative or (held and corpus):
            chosen[representative or corpus] = workload
    return dict(sorted(chosen.items(), key=lambda item: (not item[0].startswith("rep/"), item[0])))


def estimate(sizes: list[int], seconds: float, made: int, total: int) -> str:
    """What all pools take, by those that were made in this run (time) and that exist (size)."""
    parts = []
    if made:
        parts.append(f"{seconds / made * total / 3600:.1f} h for all {total} at {seconds / made:.0f} s each")
    if sizes:
        mean = sum(sizes) / len(sizes)
        parts.append(f"{mean * total / 1e6:.1f} MB for all {total} at {mean / 1e3:.0f} kB each")
    return "; ".join(parts) or "nothing to estimate by"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", type=pathlib.Path, required=True, help="what is measured; kept and continued")
    parser.add_argument("--pools", type=pathlib.Path, default=harness.ROOT / "benchmarks" / "pools")
    parser.add_argument("--samples", type=int, default=256, help="candidates of each workload (default: 256)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="payload files, as in a shell")
    parser.add_argument("--first", type=int, metavar="N", help="no more than N of them")
    parser.add_argument("--list", action="store_true", help="print the payloads and stop")
    arguments = parser.parse_args()
    if arguments.samples < 1:
        parser.error("--samples: expected at least 1")
    chosen = select(json.loads(workloads.TABLE.read_text()))
    names = fnmatch.filter(chosen, arguments.only)[: arguments.first]
    if not names:
        parser.error(f"no payload matches '{arguments.only}'")
    if arguments.list:
        print("\n".join(names))
        return 0

    print(f"machine: {harness.machine()}; load {harness.load()}; {len(names)} of {len(chosen)} pools")
    before = set(arguments.pools.glob("*.pool.zst"))
    command = [
        harness.tool("cwm-train"),
        "collect",
        *(str(harness.PAYLOADS / name) for name in names),
        f"--database={arguments.database}",
        f"--pools={arguments.pools}",
        f"--samples={arguments.samples}",
        "--measure=100%",
        f"--seed={arguments.seed}",
    ]
    begin = time.monotonic()
    status = subprocess.run(command).returncode
    seconds = time.monotonic() - begin
    files = set(arguments.pools.glob("*.pool.zst"))
    print(f"{len(files)} pools in {arguments.pools}")
    print("estimate: " + estimate([f.stat().st_size for f in files], seconds, len(files - before), len(chosen)))
    return status


if __name__ == "__main__":
    sys.exit(main())
