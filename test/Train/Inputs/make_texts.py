"""Prints texts to train an encoder on, as JSON Lines (docs/Training.md): invented programs of WORKLOADS workloads,
each with FILES files of TEXTS texts."""

from __future__ import annotations

import json
import random
import sys

KINDS = ["arith.addf", "arith.mulf", "arith.maximumf", "math.exp", "linalg.fill", "linalg.matmul"]


def make_text(draw: random.Random, extents: list[int], steps: int) -> str:
    lines = []
    for value in range(steps):
        kind = draw.choice(KINDS)
        extent = draw.choice(extents)
        lines.append(f"%{value + 1} = {kind} %{draw.randint(0, value)} : tensor<{extent}x{draw.choice(extents)}xf32>")
    return "\n".join(lines) + "\n"


def main() -> None:
    workloads, files, texts = (int(argument) for argument in sys.argv[1:4])
    draw = random.Random(3)
    for workload in range(workloads):
        extents = [draw.randint(2, 1024) for _ in range(3)]
        for file in range(files):
            for _ in range(texts):
                text = make_text(draw, extents, draw.randint(3, 9))
                line = {"workload": f"w{workload}", "file": f"w{workload}.{file}", "text": text}
                if draw.random() < 0.5:
                    line["variants"] = [text.replace("%1 ", "%0 ")]
                print(json.dumps(line))


if __name__ == "__main__":
    main()
