"""kill -9 of the driver at random moments, then the same command again.

Part 1 measures for real: after each kill every record that was stored before
is still there, unchanged, and no candidate has two. A candidate may have been
sent to measurement twice only if it was in flight when the driver was killed.
Part 2 takes the times from the records of part 1 (--measurer=replay): an
undisturbed run and a run killed again and again must end with the same set, and
the journal of replayed trials shows what was measured twice.

  python benchmarks/resume.py [--kills 10] [--trials 64] [--payload FILE] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

import harness


def stored(database: pathlib.Path) -> dict[str, tuple]:
    """candidate -> everything of its record; fails on a damaged database."""
    if not database.exists():
        return {}
    connection = sqlite3.connect(database)
    try:
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            raise SystemExit(f"{database} is damaged")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'record'").fetchone():
            return {}
        rows = connection.execute("SELECT candidate, * FROM record").fetchall()
    finally:
        connection.close()
    result = {row[0]: row[1:] for row in rows}
    if len(result) != len(rows):
        raise SystemExit("a candidate has two records")
    return result


def set_of(database: pathlib.Path) -> list[tuple]:
    """(candidate, status, score) in order: what two runs must share."""
    connection = sqlite3.connect(database)
    try:
        rows = connection.execute("SELECT candidate, status, score FROM record").fetchall()
    finally:
        connection.close()
    return sorted(rows)


class Run:
    """One command line, run to its end or killed."""

    def __init__(self, folder: pathlib.Path, payload: pathlib.Path, options: list[str]) -> None:
        folder.mkdir(exist_ok=True)
        self.work = folder / "work"
        self.database = self.work / "records.db"
        self.log = folder / "log.txt"
        self.command = [
            harness.tool("cwm-tune"),
            str(payload),
            "-o",
            str(folder / "best.mlir"),
            "--force",
            f"--work-dir={self.work}",
            *options,
        ]

    def start(self) -> subprocess.Popen:
        with self.log.open("a") as log:
            return subprocess.Popen(self.command, stdout=log, stderr=log)

    def finish(self) -> float:
        begin = time.monotonic()
        process = self.start()
        if process.wait():
            raise SystemExit(f"exit {process.returncode}:\n{self.log.read_text()[-2000:]}")
        return time.monotonic() - begin

    def kill_after(self, seconds: float) -> bool:
        """True when the process was still running and was killed."""
        process = self.start()
        try:
            process.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True


def disturbed(run: Run, duration: float, kills: int, generator: random.Random) -> int:
    """Kills `kills` times at random, then lets the run finish; the number of kills that hit."""
    hits, before = 0, {}
    for _ in range(kills):
        hits += run.kill_after(generator.uniform(0, duration))
        after = stored(run.database)
        lost = [key for key, row in before.items() if after.get(key) != row]
        if lost:
            raise SystemExit(f"lost or changed after a kill: {lost}")
        before = after
    run.finish()
    after = stored(run.database)
    if any(after.get(key) != row for key, row in before.items()):
        raise SystemExit("a record changed in the last run")
    return hits


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", type=pathlib.Path, default=harness.PAYLOADS / "matmul_512.mlir")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generator = random.Random(arguments.seed)
    options = [f"--trials={arguments.trials}", f"--seed={arguments.seed}"]
    print(f"machine: {harness.machine()}, seed {arguments.seed}")
    with harness.scratch() as temporary:
        folder = pathlib.Path(temporary)
        # Spread over about one undisturbed run, so that the kills hit all of it.
        real = Run(folder / "real", arguments.payload, options)
        hits = disturbed(real, 0.3 * arguments.trials / arguments.kills * 2, arguments.kills, generator)
        records = stored(real.database)
        print(f"real measuring: {hits} kills hit, {len(records)} records, none lost, none doubled")
        exported = folder / "records.jsonl"
        done = harness.run([*real.command, f"--export-records={exported}"])
        if done.returncode or not exported.exists():
            raise SystemExit(done.stderr)
        lines = [json.loads(line)["candidate"] for line in exported.read_text().splitlines()]
        if sorted(lines) != sorted(records):
            raise SystemExit("the exported records are not the stored ones")

        replay = [*options, "--measurer=replay", f"--replay-from={exported}", "--replay-delay-ms=50"]
        calm = Run(folder / "calm", arguments.payload, replay)
        duration = calm.finish()
        journal = folder / "journal.txt"
        rough = Run(folder / "rough", arguments.payload, [*replay, f"--replay-journal={journal}"])
        hits = disturbed(rough, 2 * duration / arguments.kills, arguments.kills, generator)
        same = set_of(calm.database) == set_of(rough.database)
        measured = journal.read_text().split("\n")[:-1]
        twice = len(measured) - len(set(measured))
        good = same and twice <= hits
        print(
            f"replayed: {hits} kills hit, {len(set_of(calm.database))} records, "
            f"same final set: {'yes' if same else 'NO'}; "
            f"{twice} trials repeated because they were in flight at a kill ({'ok' if twice <= hits else 'TOO MANY'})"
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
