"""Checks what cwm-rank wrote: ranked.mlir again.mlir remarks.txt."""

import pathlib
import re
import sys


def read(path):
    text = pathlib.Path(path).read_text().split("\n", 1)[0]
    entries = re.findall(r'\{schedule = "(\w+)", score = ([-0-9.e+]+) : f32\}', text)
    return [(name, float(score)) for name, score in entries]


ranked, again = read(sys.argv[1]), read(sys.argv[2])
assert len(ranked) == 2, ranked
scores = [score for _, score in ranked]
assert scores == sorted(scores, reverse=True), ranked
# The order of the files decides about ties alone.
assert dict(ranked) == dict(again), (ranked, again)
remarks = pathlib.Path(sys.argv[3]).read_text()
for place, (name, score) in enumerate(ranked, 1):
    match = re.search(rf"remark: {name}: place {place} of 2, score ([-0-9.]+)", remarks)
    assert match and abs(float(match[1]) - score) < 1e-3, (name, place, remarks)
