"""generated.py FOLDER LINES: what cwm-train says of generated payloads, against what the generator says."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
lines = [json.loads(line) for line in pathlib.Path(sys.argv[2]).read_text().splitlines()]
for line in lines:
    if "refused" in line:
        print(line["refused"])
hashes = {line.get("hash") for line in lines}
held = [line["file"] for line in lines if line.get("held_out", True) or line["networks"]]
print(f"{len(lines)} payloads, {len(hashes)} workloads, {', '.join(held) or 'none'} held out")
alone = [line["file"] for line in lines if [space["name"] for space in line["spaces"]] == ["fallback"]]
print("with sketches beside the fallback:", "all" if not alone else f"not {', '.join(alone)}")

#: Families of each kind; shapes may make one of its kind another (one row, a window of one element).
FAMILIES = {
    "matmul": {"matmul", "vector"},
    "vector": {"vector"},
    "batch_matmul": {"batch_matmul"},
    "conv2d": {"conv2d"},
    "pointwise": {"conv2d"},
    "conv1d": {"conv1d"},
    "conv3d": {"conv3d"},
    "grouped": {"grouped"},
    "depthwise": {"depthwise"},
    "pool": {"pool"},
    "softmax": {"softmax"},
    "normalisation": {"norm", "reduce", "elementwise"},
    "reduction": {"reduce"},
    "elementwise": {"elementwise"},
    "transpose": {"layout", "elementwise"},
}
kinds = {entry["file"]: entry["kind"] for entry in json.loads((folder / "index.json").read_text())}
wrong = [
    f"{kinds[name]} {name} is {line['family']}"
    for line in lines
    if line["family"] not in FAMILIES[kinds[name := pathlib.Path(line["file"]).name]]
]
print("families as they were meant" if not wrong else "\n".join(wrong))
