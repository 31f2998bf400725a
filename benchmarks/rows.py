"""One row of a table of speeds: tune a payload, time the result against peers, say what came out.

A row that fails (cwm-tune finds nothing, the kernel crashes, a number is wrong)
is a row with its failure. It is never left out: means say how many rows they
miss. Timing happens in a child process (measure.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence

import catalogue
import harness

MEASURE = (sys.executable, str(pathlib.Path(__file__).parent / "measure.py"))
#: Seconds that a row may take to be timed: longer than any that works.
LIMIT = 1800.0
#: A ratio from here to its bar counts as a tie, not as a miss.
TIE = 0.95


@dataclasses.dataclass
class Cell:
    """One peer of one row: a ratio, or why there is none."""

    ratio: harness.Ratio | None = None
    way: str = ""
    about: str = ""
    failure: str = ""
    skipped: str = ""

    def __str__(self) -> str:
        if self.ratio:
            return str(self.ratio)
        return "FAIL" if self.failure else "-"


#: What a peer is that left no cell: never a reason to leave a row out.
NO_FIGURE = Cell(failure="no figure")


@dataclasses.dataclass
class Row:
    """One payload's line; `failure` says why there are no figures."""

    name: str
    what: str = ""
    bar: float = 1.0
    cells: dict[str, Cell] = dataclasses.field(default_factory=dict)
    us: float = 0.0
    gflops: float = 0.0
    error: float = 0.0
    seconds: float = 0.0
    versions: str = ""
    failure: str = ""

    def verdict(self, peer: str) -> str:
        """ok, tie, MISS or FAIL against this peer's bar; empty where the peer has no like-for-like form."""
        cell = self.cells.get(peer, NO_FIGURE)
        if self.failure or cell.failure:
            return "FAIL"
        if cell.ratio is None:
            return ""
        if cell.ratio.median >= self.bar:
            return "ok"
        return "tie" if self.bar == 1.0 and cell.ratio.median >= TIE else "MISS"


@dataclasses.dataclass
class Options:
    """How rows are made; the command line of speed.py and subgraphs.py."""

    results: pathlib.Path
    trials: int = 64
    seed: int = 0
    rounds: int = 41
    peers: Sequence[str] = ("eager",)
    servers: dict[str, str] = dataclasses.field(default_factory=dict)
    measure: Sequence[str] = MEASURE


def add_arguments(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    parser.add_argument("--rows", default=",".join(names), help="comma-separated (default: all)")
    parser.add_argument("--trials", type=int, default=64, help="of cwm-tune (default: 64)")
    parser.add_argument("--seed", type=int, default=0, help="of cwm-tune and of the inputs")
    parser.add_argument("--rounds", type=int, default=41, help="of interleaved timing (default: 41)")
    parser.add_argument("--results", type=pathlib.Path, help="folder for best.mlir files; kept and reused")


def chosen(parser: argparse.ArgumentParser, text: str, names: Iterable[str]) -> list[str]:
    """The rows asked for; an unknown name is an error of usage."""
    known = list(names)
    result = [name for name in text.split(",") if name]
    for name in result:
        if name not in known:
            parser.error(f"unknown row '{name}': expected some of {', '.join(known)}")
    return result


def best_script(entry: catalogue.Entry, options: Options) -> tuple[pathlib.Path, float]:
    """The tuned script and the seconds it took; 0 if an earlier run left it and no whole account of its time."""
    best = options.results / f"{entry.name}.mlir"
    if best.exists():
        summary = harness.summary_of(best) or {}
        if summary.get("trials", 0) > options.trials:
            raise harness.Failed(f"{best.name} was tuned with {summary['trials']} trials, not {options.trials}")
        # A run that went on from records of another does not know what those took.
        return best, 0.0 if summary.get("prior_records") else summary.get("seconds", 0.0)
    tuned = harness.tune(entry.file, best, options.trials, options.seed)
    if tuned.returncode:
        raise harness.Failed(f"cwm-tune: {tuned.why()}")
    return best, tuned.seconds


def measured(entry: catalogue.Entry, script: pathlib.Path, options: Options) -> dict:
    """What measure.py found, run in a process of its own."""
    with harness.scratch() as temporary:
        folder = pathlib.Path(temporary)
        job, result = folder / "job.json", folder / "result.json"
        job.write_text(
            json.dumps(
                {
                    "entry": entry.to_json(),
                    "script": str(script),
                    "peers": [*options.peers, *options.servers],
                    "servers": options.servers,
                    "rounds": options.rounds,
                    "seed": options.seed,
                    "result": str(result),
                }
            )
        )
        try:
            done = harness.run([*options.measure, str(job)], timeout=LIMIT)
        except subprocess.TimeoutExpired:
            raise harness.Failed(f"timing did not end within {LIMIT:.0f} s") from None
        if done.returncode or not result.exists():
            raise harness.Failed(f"timing: {harness.last_words(done.returncode, done.stderr)}")
        return json.loads(result.read_text())


def cell(value: dict) -> Cell:
    ratio = value.pop("ratio", None)
    return Cell(ratio=harness.Ratio(**ratio) if ratio else None, **value)


def make(entry: catalogue.Entry, bar: float, options: Options) -> Row:
    """Tunes, times and checks one payload; never raises for what the payload's row can say."""
    row = Row(entry.name, entry.what, bar)
    try:
        script, row.seconds = best_script(entry, options)
        result = measured(entry, script, options)
        row.versions = result.get("versions", "")
        if "failure" in result:
            raise harness.Failed(result["failure"])
    except harness.Failed as failure:
        row.failure = str(failure)
        return row
    row.cells = {name: cell(value) for name, value in result["cells"].items()}
    row.us, row.error = result["us"], result["error"]
    row.gflops = entry.flops / row.us / 1e3
    return row


def judged(text: str, missing: Sequence[str], bar: str | None, good: bool) -> str:
    """`text`, the rows it misses, and whether it holds."""
    if missing:
        text += f", {len(missing)} MISSING: {', '.join(missing)}"
    if bar is not None:
        text += f" ({bar}: {'ok' if good else 'MISS'})"
    return text


@dataclasses.dataclass
class Mean:
    """A geometric mean over rows, and the rows it misses."""

    label: str
    peer: str
    value: float
    used: int
    missing: list[str]
    bar: float | None = None

    @property
    def good(self) -> bool:
        return not self.missing and (self.bar is None or self.value >= self.bar)

    def __str__(self) -> str:
        value = f"{self.value:.3f}" if self.used else "none"
        text = f"geomean of {self.label} against {self.peer}: {value} over {self.used} row{'s' * (self.used != 1)}"
        return judged(text, self.missing, None if self.bar is None else f"bar {self.bar:.2f}", self.good)


def mean(label: str, peer: str, rows: Iterable[Row], bar: float | None = None) -> Mean:
    """Over the rows with a ratio; rows that failed are missing, rows that the peer cannot do are neither.

    The best peer of a row is not known while one of them failed there.
    """
    ratios, missing = [], []
    for row in rows:
        value = row.cells.get(peer, NO_FIGURE)
        unknown = peer == "best" and any(cell.failure for cell in row.cells.values())
        if row.failure or value.failure or unknown:
            missing.append(row.name)
        elif value.ratio:
            ratios.append(value.ratio.median)
    return Mean(label, peer, harness.geomean(ratios), len(ratios), missing, bar)


@dataclasses.dataclass
class TuningTime:
    """Seconds of tuning summed over rows, against a peer that tunes; below 1 is better."""

    label: str
    peer: str
    ours: float
    theirs: float
    missing: list[str]
    bar: float | None = None

    @property
    def good(self) -> bool:
        return self.bar is None or (not self.missing and self.ours <= self.bar * self.theirs)

    def __str__(self) -> str:
        share = f"{self.ours / self.theirs:.2f}" if self.theirs else "none"
        text = f"tuning seconds of {self.label}: {self.ours:.0f}, {self.peer}: {self.theirs:.0f}: {share}"
        return judged(text, self.missing, None if self.bar is None else f"at most {self.bar:.2f}", self.good)


def tuning_time(
    label: str, peer: str, rows: Iterable[Row], seconds: dict[str, float], bar: float | None = None
) -> TuningTime:
    """Over the rows of which both times are known; the others are missing."""
    both, missing = [], []
    for row in rows:
        if row.failure or not row.seconds or not seconds.get(row.name):
            missing.append(row.name)
        else:
            both.append((row.seconds, seconds[row.name]))
    return TuningTime(label, peer, sum(o for o, _ in both), sum(t for _, t in both), missing, bar)


class Table:
    """Prints rows as they come, and writes them as a page of the documentation."""

    def __init__(self, peers: Sequence[str], judged: Callable[[Row], str]) -> None:
        """`judged`: the peer whose ratio a row's bar is about."""
        self.peers, self.judged = list(peers), judged
        self.rows: list[Row] = []

    def head(self) -> None:
        columns = "".join(f"{peer:>24}" for peer in self.peers)
        print(f"{'payload':28}{'cwm us':>10}{'GFLOP/s':>9}{columns}{'bar':>6}  {'':4} {'error':>8}{'tune s':>8}  note")

    def note(self, row: Row) -> str:
        ways = [cell.way for name, cell in row.cells.items() if cell.way and (name in self.peers)]
        failures = [f"{name}: {cell.failure}" for name, cell in row.cells.items() if cell.failure]
        return "; ".join([*ways, *failures])

    def add(self, row: Row) -> None:
        self.rows.append(row)
        if row.failure:
            print(f"{row.name:28}FAIL: {row.failure}", flush=True)
            return
        columns = "".join(f"{row.cells.get(peer, Cell())!s:>24}" for peer in self.peers)
        print(
            f"{row.name:28}{row.us:10.1f}{self.speed(row):>9}{columns}{row.bar:6.2f}  "
            f"{row.verdict(self.judged(row)):4} {row.error:8.0e}{row.seconds:8.1f}  {self.note(row)}",
            flush=True,
        )

    @staticmethod
    def with_way(row: Row, peer: str) -> str:
        """A cell and how its figure came about: which peer was the best, say."""
        value = row.cells.get(peer, Cell())
        return f"{value} {value.way}".rstrip()

    @staticmethod
    def speed(row: Row) -> str:
        return f"{row.gflops:.1f}" if row.gflops else "-"

    def missed(self) -> list[str]:
        """Rows that failed or are below their bar."""
        return [row.name for row in self.rows if row.verdict(self.judged(row)) in ("MISS", "FAIL")]

    def about(self) -> list[str]:
        """Versions that rows and peers stated, each once."""
        texts = [row.versions for row in self.rows]
        for row in self.rows:
            texts += [f"{name}: {cell.about}" for name, cell in row.cells.items() if cell.about]
        return [text for text in dict.fromkeys(texts) if text]

    def markdown(self, title: str, intro: str, means: Sequence[Mean | TuningTime], conditions: Sequence[str]) -> str:
        """A page: what was run where and when, the rows, the failures, the means."""
        lines = [f"# {title}", "", intro, ""]
        date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        lines += [f"- {text}" for text in (f"{date}, {harness.machine()}", *self.about(), *conditions)]
        peers = [f"{peer} / cwm" for peer in self.peers]
        lines += [
            "",
            "| " + " | ".join(["payload", "what", "cwm us", "GFLOP/s", *peers, "bar", "", "tuned in s"]) + " |",
        ]
        lines.append("|" + "---|" * (7 + len(peers)))
        for row in self.rows:
            if row.failure:
                cells = ["FAIL", "-", *["FAIL"] * len(peers)]
            else:
                cells = [f"{row.us:.1f}", self.speed(row), *(self.with_way(row, peer) for peer in self.peers)]
            seconds = f"{row.seconds:.0f}" if row.seconds else "-"
            values = [row.name, row.what, *cells, f"{row.bar:.2f}", row.verdict(self.judged(row)), seconds]
            lines.append("| " + " | ".join(values) + " |")
        lines += ["", *(f"- {value}" for value in means)]
        failures = [(row.name, row.failure or self.note(row)) for row in self.rows if row.failure]
        failures += [
            (f"{row.name}, {name}", cell.failure)
            for row in self.rows
            for name, cell in row.cells.items()
            if cell.failure
        ]
        if failures:
            lines += ["", "## Failures", "", *(f"- {name}: {reason}" for name, reason in failures)]
        return "\n".join(lines) + "\n"
