"""Tunes every payload of the corpus: does each end with a valid, verified best?

payloads/corpus holds the 125 subgraphs that seven PyTorch models fall into. For
each: cwm-tune with a few trials; printed are best and baseline, the candidates
by class, or why there is no best. A payload that cwm-tune refuses with an error
at a place in the payload is `refused`; that is right for those without a linalg
op, and counts as a failure for all others.

  python benchmarks/corpus.py [--trials 8] [--only 'resnet50/*'] [--every N] [--results DIR]
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import pathlib
import re
import sys

import catalogue
import harness

#: Seconds for one payload with few trials; a hang is a failure, not a stop.
LIMIT = 900.0


@dataclasses.dataclass
class Outcome:
    """How tuning one payload ended: `tuned`, `refused` (by a rule) or `failed`."""

    name: str
    expected: str
    kind: str
    seconds: float = 0.0
    best_ns: float = 0.0
    baseline_ns: float = 0.0
    classes: dict[str, int] = dataclasses.field(default_factory=dict)
    refused: int = 0
    message: str = ""

    @property
    def good(self) -> bool:
        return self.kind == self.expected

    def __str__(self) -> str:
        counts = " ".join(f"{count} {status}" for status, count in sorted(self.classes.items()))
        if self.refused:
            counts += f" {self.refused} refused"
        text = f"{self.name:62}{self.kind if self.good else self.kind.upper():8}{self.seconds:6.1f} s"
        if self.kind == "tuned":
            ratio = self.baseline_ns / self.best_ns
            return f"{text}{self.best_ns / 1e3:11.1f} us{ratio:7.2f}x  {counts}"
        return f"{text}  {self.message}" + (f" ({counts})" if counts else "")


def judge(entry: catalogue.Entry, name: str, tuned: harness.Tuned, best: pathlib.Path) -> Outcome:
    """What a run of cwm-tune shows."""
    expected = "tuned" if "linalg." in entry.file.read_text() else "refused"
    outcome = Outcome(name, expected, "failed", tuned.seconds)
    if tuned.summary:
        outcome.classes = {k: v for k, v in tuned.summary.get("trials_by_status", {}).items() if v}
        outcome.refused = tuned.summary.get("refused", 0)
    if tuned.returncode == 0:
        summary = tuned.summary or {}
        outcome.best_ns, outcome.baseline_ns = summary.get("best_ns") or 0.0, summary.get("baseline_ns") or 0.0
        if not outcome.best_ns > 0 or not outcome.baseline_ns > 0 or not outcome.classes.get("ok"):
            outcome.message = "exit status 0 without a time of a candidate that was checked"
        elif not best.exists() or not best.stat().st_size:
            outcome.message = "exit status 0 without a result"
        else:
            outcome.kind = "tuned"
        return outcome
    outcome.message = tuned.why()
    # A rule names a place in the payload; I/O and usage errors do not.
    place = re.search(rf"^{re.escape(str(entry.file))}:\d+:\d+: error: (.*)$", tuned.output, re.MULTILINE)
    if tuned.returncode == 1 and place:
        outcome.kind, outcome.message = "refused", place.group(1)
    return outcome


def tune(entry: catalogue.Entry, name: str, results: pathlib.Path, trials: int, seed: int) -> Outcome:
    """One payload, tuned into `results`."""
    best = results / f"{name.replace('/', '__')}.mlir"
    try:
        return judge(entry, name, harness.tune(entry.file, best, trials, seed, LIMIT), best)
    except harness.Failed as failure:
        expected = "tuned" if "linalg." in entry.file.read_text() else "refused"
        return Outcome(name, expected, "failed", message=str(failure))


def summary(outcomes: list[Outcome]) -> list[str]:
    """The last lines: shares, then what went wrong."""
    tunable = [o for o in outcomes if o.expected == "tuned"]
    others = [o for o in outcomes if o.expected == "refused"]
    tuned, refused = sum(o.good for o in tunable), sum(o.good for o in others)
    lines = [f"not as expected: {o.name}: {o.kind}: {o.message or 'tuned'}" for o in outcomes if not o.good]
    if tunable:
        means = [o.baseline_ns / o.best_ns for o in tunable if o.good]
        lines.append(
            f"{tuned} of {len(tunable)} payloads tune with a valid, verified best ({tuned / len(tunable):.1%}); "
            f"geomean over the baseline {harness.geomean(means):.2f}x"
        )
    if others:
        lines.append(f"{refused} of {len(others)} payloads without a linalg op are refused by rule")
    classes: dict[str, int] = {}
    for outcome in outcomes:
        for status, count in outcome.classes.items():
            classes[status] = classes.get(status, 0) + count
    lines.append(
        "candidates: " + (", ".join(f"{count} {status}" for status, count in sorted(classes.items())) or "none")
    )
    return lines


def main() -> int:
    entries = catalogue.load("corpus")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=8, help="of cwm-tune, each payload (default: 8)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="payloads by model/name, as in a shell")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth of them")
    parser.add_argument("--results", type=pathlib.Path, help="folder for results and records; kept and resumed")
    arguments = parser.parse_args()
    if arguments.every < 1:
        parser.error("--every: expected at least 1")
    names = fnmatch.filter(entries, arguments.only)[:: arguments.every]
    if not names:
        parser.error(f"no payload matches '{arguments.only}'")
    harness.tool("cwm-tune")  # says what is missing before anything is printed
    outcomes = []
    with harness.scratch() as temporary:
        results = arguments.results or pathlib.Path(temporary)
        results.mkdir(parents=True, exist_ok=True)
        print(f"machine: {harness.machine()}; {len(names)} payloads, {arguments.trials} trials each")
        for name in names:
            outcomes.append(tune(entries[name], name, results, arguments.trials, arguments.seed))
            print(outcomes[-1], flush=True)
    for line in summary(outcomes):
        print(line)
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
