"""workloads_of.py FILE: whose texts JSON Lines for the encoder have, and which of two words is in them."""

import json
import pathlib
import sys

lines = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
workloads = {line["workload"] for line in lines}
kinds = [kind for kind in ("states", "actions") if any(("state" in line) == (kind == "states") for line in lines)]
words = [
    word
    for word in ("linalg.matmul", "linalg.batch_matmul")
    if any(word in line["text"] for line in lines if "state" in line)
]
print(f"{len(workloads)} workload, {' and '.join(kinds)}: {', '.join(words)}")
