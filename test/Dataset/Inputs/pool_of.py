"""pool_of.py FILE: what a pool, decompressed, has."""

import json
import pathlib
import sys

lines = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
head, rest = lines[0], lines[1:]
print(
    f"version {head['version']}, {head['family']} {head['shape']}, target {head['target']}, "
    f"toolchain {head['toolchain']}, noise floor {head['noise_floor']:.2g}"
)
of = {kind: [line for line in rest if line["kind"] == kind] for kind in ("action", "state", "candidate")}
classes = sorted({line["result"]["status"] for line in of["candidate"]})
print(f"{len(of['candidate'])} candidates, classes {' and '.join(classes)}")
for line in of["candidate"]:
    assert all(number < len(of["action"]) for number in line["actions"])
    assert not line["states"] or len(line["states"]) == len(line["actions"]) + 1
    assert line["result"]["status"] != "ok" or line["states"][0] == 0
print("first state:", "the payload" if of["state"][0]["hash"] == head["workload"] else "another")
