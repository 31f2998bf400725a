"""Speed of tuned kernels on the 22 representative subgraphs, and on NHWC forms of the 2-D ones.

For each row: tunes the payload with cwm-tune (unless --results holds a
best.mlir of an earlier run), compiles the result with the tool's own pipeline,
compares every element with torch in f64, and times it against the peers,
interleaved, one thread. Prints the median of paired ratios (peer time / cwm
time) with a 95 % bootstrap interval, and geometric means that name the rows
they miss.

  python benchmarks/subgraphs.py [--rows r50-t6,...] [--trials 64] [--peers eager,inductor,aot,onednn]
      [--peer NAME='cmd {}'] [--results DIR] [--markdown docs/Subgraphs.md]

Peers: torch eager (NHWC rows in channels_last format), inductor
(torch.compile with frozen weights), aot (AOTInductor), onednn (called directly,
weights packed; dense layers and NHWC convolutions only). Others are processes
that speak the line protocol of docs/Benchmarks.md; {} is replaced by a folder
with the payload and its inputs.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

import catalogue
import harness
import rows

#: The modes of torch_peers.py, which this process does not import.
PEERS = ("eager", "inductor", "aot", "onednn")
#: torch runs this convolution at 95-100 % of the machine's peak.
BARS = {"r3d-t1": 0.92}
#: (group, peer): bars of means over whole groups, with 64 trials.
GEOMEAN_BARS = {("rep", "eager"): 1.9, ("rep", "aot"): 1.35, ("nhwc", "eager"): 1.0}
LABELS = {"rep": "the representative subgraphs", "nhwc": "the NHWC convolutions"}


def command_of(text: str) -> tuple[str, str]:
    name, equals, command = text.partition("=")
    if not (name and equals and command):
        raise argparse.ArgumentTypeError(f"expected NAME=COMMAND, got '{text}'")
    return name, command


def in_mean(entry: catalogue.Entry, group: str) -> bool:
    """Whether the group's mean is about this entry."""
    return (entry.layout == "nhwc") == (group == "nhwc") and (group == "rep" or "conv" in entry.kind)


def means_of(table: rows.Table, entries: dict[str, catalogue.Entry], peers: list[str]) -> list[rows.Mean]:
    result = []
    for group, label in LABELS.items():
        members = [name for name, entry in entries.items() if in_mean(entry, group)]
        present = [row for row in table.rows if row.name in members]
        if not present:
            continue
        if len(present) < len(members):
            label += f" ({len(present)} of {len(members)} asked for)"
        for peer in peers:
            bar = GEOMEAN_BARS.get((group, peer)) if len(present) == len(members) else None
            result.append(rows.mean(label, peer, present, bar))
    return result


def main() -> int:
    entries = catalogue.load("rep") | catalogue.load("nhwc")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows.add_arguments(parser, entries)
    parser.add_argument("--peers", default="eager", help=f"some of {', '.join(PEERS)} (default: eager)")
    parser.add_argument("--peer", type=command_of, action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the table as a page")
    arguments = parser.parse_args()
    names = rows.chosen(parser, arguments.rows, entries)
    peers = [peer for peer in arguments.peers.split(",") if peer]
    for peer in peers:
        if peer not in PEERS:
            parser.error(f"unknown peer '{peer}': expected some of {', '.join(PEERS)}")
    servers = dict(arguments.peer)
    for name in servers:
        if name in (*PEERS, "openblas", "best", "cwm"):
            parser.error(f"peer '{name}' is built in: give the command another name")
    columns = [*peers, *servers]
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
    means = means_of(table, entries, columns)
    for value in means:
        print(value)
    if arguments.markdown:
        trials = f"{arguments.trials} trials a row, seed {arguments.seed}"
        if arguments.results:
            trials += " (rows without a time were tuned by an earlier run)"
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
