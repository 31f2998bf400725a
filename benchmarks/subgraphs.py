"""Speed of tuned kernels on the 22 representative subgraphs, and on NHWC forms of the 2-D ones.

For each row: tunes the payload with cwm-tune (unless --results holds a
best.mlir of an earlier run, whose seconds its summary tells), compiles the
result with the tool's own pipeline, compares every element with torch in f64,
and times it against the peers, interleaved, one thread. Prints the median of
paired ratios (peer time / cwm time) with a 95 % bootstrap interval, and
geometric means that name the rows they miss; against peers that were tuned,
the seconds of tuning, too.

  python benchmarks/subgraphs.py [--rows r50-t6,...] [--trials 64]
      [--peers eager,inductor,aot,onednn,iree,ansor,metaschedule]
      [--peer NAME='cmd {}'] [--results DIR] [--markdown docs/Subgraphs.md]
      [--threads 2]

With --threads 2: torch with two threads, wall clock, and the mean over the ten
rows that take cwm longest, judged where the machine's own multiply-adds get 1.8
times as fast in the same run.

Peers: torch eager (NHWC rows in channels_last format), inductor
(torch.compile with frozen weights), max-autotune (the same in that mode), aot
(AOTInductor), onednn (called directly, weights packed; dense layers and NHWC
convolutions only); iree, ansor and metaschedule in environments that
benchmarks/peers/setup.sh makes. Others are processes that speak the line
protocol of docs/Benchmarks.md; {} is replaced by a folder with the payload and
its inputs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

import catalogue
import fma_peak
import harness
import rows
from peers import environments, records

#: The modes of torch_peers.py, which this process does not import.
PEERS = ("eager", "inductor", "max-autotune", "aot", "onednn")
#: torch runs this convolution at 95-100 % of the machine's peak.
BARS = {"r3d-t1": 0.92}
#: (group, peer): bars of means over whole groups by cwm's trials.
GEOMEAN_BARS = {
    ("rep", "eager"): {64: 1.9},
    ("rep", "aot"): {64: 1.35},
    ("rep", "best"): {64: 1.05},
    ("rep", "ansor"): {64: 1.54, 16: 1.3},
    ("nhwc", "eager"): {64: 1.0},
}
#: Who must have run for the bar of "best" to be about the best peer.
ALL_PEERS = {"eager", "inductor", "aot", "iree", "metaschedule", "ansor"}
#: cwm's seconds of tuning over the 22, as a share of the peer's.
TIME_BARS = {"ansor": {64: 0.5}}
#: Peers with records in benchmarks/peers/data.
TUNED = ("ansor", "metaschedule")
#: --threads: how many rows count, the bar of their mean, and from what speed-up of the machine itself it counts.
LARGEST, THREADS_BAR, LEAST_SPEEDUP = 10, 1.0, 1.8
LABELS = {"rep": "the representative subgraphs", "nhwc": "the NHWC convolutions"}


def command_of(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not (name and equals and command):
        raise argparse.ArgumentTypeError(f"expected NAME=COMMAND, got '{text}'")
    return name, command


def in_mean(entry: catalogue.Entry, group: str) -> bool:
    """Whether the group's mean is about this entry."""
    return (entry.layout == "nhwc") == (group == "nhwc") and (group == "rep" or "conv" in entry.kind)


def bar_of(group: str, peer: str, peers: list[str], trials: int) -> float | None:
    """The bar of a mean, if there is one for so many trials and such peers."""
    if peer == "best" and not ALL_PEERS.issubset(peers):
        return None
    return GEOMEAN_BARS.get((group, peer), {}).get(trials)


def peer_seconds(peer: str) -> dict[str, float]:
    """What the peer's tuner took for each row."""
    return {name: info["seconds"] for name, info in records.Store(records.DATA / peer).tuned().items()}


def means_of(
    table: rows.Table, entries: dict[str, catalogue.Entry], peers: list[str], trials: int = 64
) -> list[rows.Mean | rows.TuningTime]:
    """Means over the groups against each peer, and tuning times where the peer tunes, too."""
    result: list[rows.Mean | rows.TuningTime] = []
    for group, label in LABELS.items():
        members = [name for name, entry in entries.items() if in_mean(entry, group)]
        present = [row for row in table.rows if row.name in members]
        if not present:
            continue
        whole = len(present) == len(members)
        if not whole:
            label += f" ({len(present)} of {len(members)} asked for)"
        for peer in peers:
            bar = bar_of(group, peer, peers, trials) if whole else None
            result.append(rows.mean(label, peer, present, bar))
        if group == "rep":
            for peer in (p for p in peers if p in TUNED):
                bar = TIME_BARS.get(peer, {}).get(trials) if whole else None
                result.append(rows.tuning_time(label, peer, present, peer_seconds(peer), bar))
    return result


def threads_mean(table: rows.Table, peer: str, speedup: float) -> rows.Mean:
    """Over the rows that take longest; without a bar on a machine whose cores are not there."""
    largest = sorted(table.rows, key=lambda row: (not row.failure, -row.us))[:LARGEST]
    label = f"the {len(largest)} longest rows with {harness.THREADS} threads (multiply-adds: {speedup:.2f}x)"
    judged = speedup >= LEAST_SPEEDUP * harness.THREADS / 2
    if not judged:
        label += ", reported only,"
    return rows.mean(label, peer, largest, THREADS_BAR if judged else None)


def main() -> int:
    entries = catalogue.load("rep") | catalogue.load("nhwc")
    known = (*PEERS, *environments.PEERS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows.add_arguments(parser, entries)
    parser.add_argument("--peers", default="eager", help=f"some of {', '.join(known)} (default: eager)")
    parser.add_argument("--peer", type=command_of, action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the table as a page")
    parser.add_argument("--threads", type=int, default=1, help="of kernels and torch (default: 1)")
    arguments = parser.parse_args()
    harness.THREADS = arguments.threads
    os.environ["CWM_BENCH_THREADS"] = str(arguments.threads)
    names = rows.chosen(parser, arguments.rows, entries)
    columns = [peer for peer in arguments.peers.split(",") if peer]
    for peer in columns:
        if peer not in known:
            parser.error(f"unknown peer '{peer}': expected some of {', '.join(known)}")
    servers = dict(arguments.peer)
    for name in servers:
        if name in (*known, "openblas", "best", "cwm"):
            parser.error(f"peer '{name}' is built in: give the command another name")
    columns += servers
    servers |= {peer: environments.command(peer) for peer in columns if peer in environments.PEERS}
    peers = [peer for peer in columns if peer not in servers]
    if servers and arguments.threads > 1:
        parser.error(f"--threads: peers in processes of their own run on one thread: {', '.join(servers)}")
    if not columns:
        parser.error("no peers")
    if len(columns) > 1:
        columns.append("best")
    harness.tool("cwm-tune")  # says what is missing before anything is printed
    with harness.scratch() as temporary:
        results = arguments.results or pathlib.Path(temporary)
        results.mkdir(parents=True, exist_ok=True)
        options = rows.Options(results, arguments.trials, arguments.seed, arguments.rounds, peers, servers)
        judged = "eager" if "eager" in columns else columns[0]
        table = rows.Table(columns, lambda row: judged)
        print(f"machine: {harness.machine()}")
        table.head()
        for name in names:
            table.add(rows.make(entries[name], BARS.get(name, 1.0), options))
        if arguments.threads > 1:
            value = threads_mean(table, judged, fma_peak.ratio(arguments.threads))
            print(value)
            return 0 if value.good else 1
    means = means_of(table, entries, columns, arguments.trials)
    for value in means:
        print(value)
    if arguments.markdown:
        trials = f"{arguments.trials} trials a row, seed {arguments.seed}"
        if arguments.results:
            trials += " (or by an earlier run)"
        conditions = [
            f"{trials}, {arguments.rounds} rounds, one thread; printed by `benchmarks/subgraphs.py`",
            f"load of the machine at the end: {harness.load()}",
        ]
        intro = (
            "Tuned kernels against other makers of code, interleaved on the same core: median of peer time / cwm time with a "
            "95 % interval, above 1 where cwm is faster. How it is measured: [Benchmarks.md](Benchmarks.md)."
        )
        arguments.markdown.write_text(table.markdown("Speed on the representative subgraphs", intro, means, conditions))
    return 1 if table.missed() or not all(value.good for value in means) else 0


if __name__ == "__main__":
    sys.exit(main())
