"""Prints the whole table of bars, part by part; each part is a script of that name.

  python benchmarks/table.py [--only startup,trial,speed,subgraphs,defaults,types_speed,resume,fuzz,spaces,corpus]

`make benchmarks` builds the release preset and the environment, then runs this.
Keep the machine otherwise idle; about two hours on two cores.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import time

PARTS = (
    *("startup", "trial", "speed", "subgraphs", "defaults", "types_speed"),
    *("resume", "fuzz", "spaces", "corpus"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS))
    arguments = parser.parse_args()
    missed = []
    for part in arguments.only.split(","):
        if part not in PARTS:
            parser.error(f"unknown part '{part}': expected one of {', '.join(PARTS)}")
        begin = time.monotonic()
        print(f"\n== {part}", flush=True)
        if subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / f"{part}.py")]).returncode:
            missed.append(part)
        print(f"({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"\nmissed: {', '.join(missed) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
