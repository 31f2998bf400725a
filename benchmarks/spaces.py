"""Random candidates over the spaces of all payloads: how many are valid, is an accepted one wrong?

For each payload (the representative subgraphs, their NHWC forms, the corpus) cwm-tune --check-space samples the
spaces of all sketches that fit. Each candidate is checked, every element against a reference in f64, and each
accepted one is checked once more on inputs of another seed. Prints counts by class and why candidates fail, the
time of lowering and code generation, and by sketch what is valid; exit status 1 when an accepted candidate is
wrong, fewer than 90 % are valid, or a run failed.

  python benchmarks/spaces.py [--candidates 5000] [--only 'rep/*'] [--seed 1]
"""

from __future__ import annotations

import argparse
import collections
import fnmatch
import json
import math
import pathlib
import statistics
import sys

import catalogue
import harness

#: Share of the candidates that must be valid.
VALID = 0.9
#: Milliseconds of lowering and code generation: the median's bar, the bar of each.
COMPILE_MEDIAN, COMPILE_WORST = 400.0, 10000.0


def payloads(pattern: str) -> dict[str, catalogue.Entry]:
    """Those with a linalg op, by index and name."""
    found = {}
    for index in ("rep", "nhwc", "corpus"):
        for name, entry in catalogue.load(index).items():
            if fnmatch.fnmatch(f"{index}/{name}", pattern) and "linalg." in entry.file.read_text():
                found[f"{index}/{name}"] = entry
    return found


def check(entry: catalogue.Entry, count: int, seed: int, folder: pathlib.Path) -> dict | str:
    """What --check-space says of one payload, or why it said nothing."""
    report = folder / "space.json"
    command = [
        harness.tool("cwm-tune"),
        str(entry.file),
        f"--check-space={count}",
        f"--seed={seed}",
        f"--work-dir={folder / 'work'}",
        f"--summary={report}",
    ]
    done = harness.run(command)
    if not report.exists():
        return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    result = json.loads(report.read_text())
    if done.returncode and not result["all"]["wrong_accepted"]:
        return f"exit status {done.returncode}: {done.stderr.strip()[-300:]}"
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=5000, help="over all payloads (default: 5000)")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="payloads by index/name, as in a shell")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    entries = payloads(arguments.only)
    if not entries:
        parser.error(f"no payload matches '{arguments.only}'")
    harness.tool("cwm-tune")  # says what is missing before anything is printed
    print(f"machine: {harness.machine()}; {len(entries)} payloads, seed {arguments.seed}")
    classes: collections.Counter = collections.Counter()
    sketches: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    compile_ms: list[float] = []
    failures: list[str] = []
    for place, (name, entry) in enumerate(entries.items()):
        # Small spaces hold fewer candidates than their share; the rest goes to
        # the payloads that follow.
        share = math.ceil((arguments.candidates - sum(classes.values())) / (len(entries) - place))
        with harness.scratch() as temporary:
            result = check(entry, max(share, 1), arguments.seed, pathlib.Path(temporary))
        if isinstance(result, str):
            failures.append(f"{name}: {result}")
            print(f"{name:60} FAILED: {result}", flush=True)
            continue
        total = result["all"]
        classes.update(result["by_status"])
        compile_ms += [ms for ms in result["compile_ms"] if ms > 0]
        for space in result["spaces"]:
            sketches[space["name"]].update({k: space[k] for k in ("sampled", "accepted", "wrong", "wrong_accepted")})
        times = " / ".join(f"{total[key] / 1e3:.1f}" for key in ("best_ns", "median_ns", "worst_ns"))
        print(
            f"{name:60}{total['sampled']:5}{total['accepted'] / max(total['sampled'], 1):8.1%}  {times} us", flush=True
        )
        for reason in result["reasons"]:
            print(f"    {reason['count']} x {reason['reason']} (as in {reason['example']})", flush=True)
    if not compile_ms:
        print("nothing was sampled")
        return 1
    print(f"\n{'sketch':24}{'sampled':>9}{'valid':>9}{'wrong':>7}{'wrong, accepted':>17}")
    for name, counts in sorted(sketches.items()):
        valid = counts["accepted"] / max(counts["sampled"], 1)
        print(f"{name:24}{counts['sampled']:9}{valid:9.1%}{counts['wrong']:7}{counts['wrong_accepted']:17}")
    sampled = sum(classes.values())
    valid = classes["ok"] / sampled
    wrong = sum(counts["wrong_accepted"] for counts in sketches.values())
    compile_ms.sort()
    print(f"\n{sampled} candidates by class: {dict(classes)}")
    print(f"valid {valid:.1%} (bar {VALID:.0%}); accepted and wrong: {wrong} (bar 0)")
    print(
        f"lowering and code generation: median {statistics.median(compile_ms):.0f} ms (bar {COMPILE_MEDIAN:.0f}), "
        f"worst {compile_ms[-1]:.0f} ms (bar {COMPILE_WORST:.0f}), wall clock"
    )
    print(f"runs that failed: {len(failures)}")
    return 1 if wrong or failures or valid < VALID else 0


if __name__ == "__main__":
    sys.exit(main())
