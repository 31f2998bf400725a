"""CPU time of `cwm-opt --help`: the median of 11 runs, bar 100 ms."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

import harness


def main() -> int:
    times = []
    for _ in range(11):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([harness.tool("cwm-opt"), "--help"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    median = statistics.median(times)
    print(f"cwm-opt --help: {median:.0f} ms CPU (bar 100 ms): {'ok' if median <= 100 else 'MISS'}")
    return 0 if median <= 100 else 1


if __name__ == "__main__":
    sys.exit(main())
