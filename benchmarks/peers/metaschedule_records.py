"""Lines of MetaSchedule's record file: [workload, [trace, [seconds...], ...]]."""

from __future__ import annotations

import json

#: So many seconds and more stand for a trial that failed.
FAILED = 1e9


def seconds_of(line: str) -> float:
    """The best time of a record; FAILED where there is none."""
    return min((float(value) for value in json.loads(line)[1][1] or ()), default=FAILED)


def best_lines(lines: list[str], keep: int) -> list[str]:
    """The fastest records of those that have a time."""
    return sorted((line for line in lines if seconds_of(line) < FAILED), key=seconds_of)[:keep]
