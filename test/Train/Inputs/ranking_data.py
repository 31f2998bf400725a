"""ranking_data.py COMMAND...: small data for the ranker.

table LINES.jsonl: a table of workloads whose first one, of `cwm-train collect
--dry-run`, belongs to a network that is held out.
fail DATABASE: marks all measurements as failures.
one DATABASE: leaves the measurements of one workload.
targets DATABASE: moves half of the measurements to another target.
"""

import json
import pathlib
import sqlite3
import sys


def make_table(lines: str) -> None:
    payloads = [json.loads(line) for line in pathlib.Path(lines).read_text().splitlines()]
    workloads = [
        {
            "hash": payload["hash"],
            "family": payload["family"],
            "shape": payload["shape"],
            "networks": {"held": 3} if number == 0 else {"free": 1},
            "files": [payload["file"]],
        }
        for number, payload in enumerate(payloads)
    ]
    print(json.dumps({"version": 1, "held_out": ["held"], "workloads": workloads}))


STATEMENTS = {
    "fail": "UPDATE record SET status = 'crash', result = json_set(result, '$.status', 'crash')",
    "one": "DELETE FROM record WHERE workload <> (SELECT min(workload) FROM record)",
    "targets": "UPDATE record SET target = 'cpu:other:t1' WHERE id % 2 = 0",
}


def main() -> None:
    command, path = sys.argv[1:]
    if command == "table":
        make_table(path)
        return
    with sqlite3.connect(path) as connection:
        connection.execute(STATEMENTS[command])


if __name__ == "__main__":
    main()
