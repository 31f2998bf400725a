"""What a peer's tuner leaves and its server reads: records of each row, and how they came about.

A folder (benchmarks/peers/data/<peer> unless told otherwise) with

  <row>.json.gz   the peer's own records, as JSON
  tuned.json      for each row: cpu (LLVM's name), machine, date, version, trials,
                  seed, seconds, measured (trials with a time), best_us

Records hold for one kind of CPU. Part of the peers' own environments: the
standard library only, down to Python 3.8.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE / "data"
PAYLOADS = HERE.parent / "payloads"


class NoRecords(Exception):
    """There are none of this row for this CPU."""


def rows(*groups: str) -> dict[str, dict]:
    """The entries of the payloads' indexes by name."""
    entries = [e for group in groups for e in json.loads((PAYLOADS / group / "index.json").read_text())]
    return {entry["name"]: entry for entry in entries}


def add_arguments(parser: argparse.ArgumentParser, peer: str) -> None:
    """The options that all tuners have."""
    parser.add_argument("--rows", default=",".join(rows("rep")), help="default: the 22")
    parser.add_argument("--data", type=pathlib.Path, default=DATA / peer, help="where the records go")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)


def chosen(parser: argparse.ArgumentParser, text: str) -> dict[str, dict]:
    """The rows asked for; an unknown name is an error of usage."""
    known, names = rows("rep", "nhwc"), [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            parser.error(f"unknown row '{name}'")
    return {name: known[name] for name in names}


def machine() -> str:
    """The CPU as its vendor calls it, and how many cores are seen."""
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{model.group(1) if model else 'unknown CPU'}, {os.cpu_count()} cores"


def replace(file: pathlib.Path, content: bytes) -> None:
    """Writes a file as a whole: a reader or a killed writer never leaves half of it."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(file)


class Store:
    """The records of one peer."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def tuned(self) -> dict[str, dict]:
        """tuned.json, empty where nothing was tuned."""
        file = self.folder / "tuned.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def complete(self, row: str, cpu: str, wanted: dict) -> bool:
        """Whether the row was tuned on such a CPU with these options (trials, seed, ...)."""
        info = self.tuned().get(row, {})
        return info.get("cpu") == cpu and all(info.get(name) == value for name, value in wanted.items())

    def write(self, row: str, value: object, info: dict) -> None:
        """Keeps the row's records; `info` gets the machine and the date."""
        self.folder.mkdir(parents=True, exist_ok=True)
        # No time stamp and no name inside: the same records are the same bytes.
        replace(self.folder / f"{row}.json.gz", gzip.compress(json.dumps(value).encode(), mtime=0))
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
        tuned = {**self.tuned(), row: {**info, "machine": machine(), "date": date}}
        lines = [f"{json.dumps(name)}: {json.dumps(tuned[name], sort_keys=True)}" for name in sorted(tuned)]
        replace(self.folder / "tuned.json", ("{\n" + ",\n".join(lines) + "\n}\n").encode())

    def read(self, row: str, cpu: str) -> tuple[object, dict]:
        """The row's records and their info; raises NoRecords, also if they were made for another CPU."""
        info = self.tuned().get(row)
        if info is None:
            raise NoRecords(f"no records of {row} in {self.folder.name}: tune it")
        if info["cpu"] != cpu:
            raise NoRecords(f"the records of {row} are for {info['cpu']}, this CPU is {cpu}: tune it")
        return json.loads(gzip.decompress((self.folder / f"{row}.json.gz").read_bytes())), info

    def about(self, info: dict) -> str:
        """How the records came about, for a table."""
        return f"{info['version']}, {info['trials']} trials on {info['cpu']}, {info['date']}"
