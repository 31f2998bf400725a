"""How good a schedule is without any trial: the default candidate against what a search finds.

For each payload (the representative subgraphs and their NHWC forms): takes the schedule of `cwm-tune --trials=0`
and the one of a search, times both kernels interleaved on one core and prints the median of paired ratios
(time of the search's result / time of the default: the share of the speed that the default reaches) with a 95 %
bootstrap interval, and the geometric mean; exit status 1 when it is below its bar.

  python benchmarks/defaults.py [--rows r50-t6,...] [--trials 64] [--rounds 21] [--results DIR]

Both kernels are compared with each other, element by element, before anything is timed; what the schedules
compute is checked by cwm-tune itself.
"""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import sys
from typing import TYPE_CHECKING

import catalogue
import harness
import rows

if TYPE_CHECKING:
    import numpy as np

#: Geometric mean over the representative subgraphs.
BAR = 0.7


def inputs_of(entry: catalogue.Entry, seed: int) -> list[np.ndarray]:
    """Uniform in [-1, 1), or in [0, 1) where the index says nonnegative."""
    import numpy as np

    generator = np.random.default_rng(seed)
    lows = [0 if a.domain == "nonnegative" else -1 for a in entry.args]
    values = [generator.uniform(low, 1, a.shape) for low, a in zip(lows, entry.args, strict=True)]
    return [harness.aligned(value.astype(np.float32)) for value in values]


def share(entry: catalogue.Entry, options: rows.Options, folder: pathlib.Path) -> harness.Ratio:
    """Speed of the default over the speed of the search's result."""
    import numpy as np

    searched, _ = rows.best_script(entry, options)
    default, _ = rows.best_script(entry, dataclasses.replace(options, results=folder, trials=0))
    inputs = inputs_of(entry, options.seed)
    contenders, outputs = {}, []
    for name, script in (("default", default), ("searched", searched)):
        place = folder / name
        place.mkdir()
        outputs.append(harness.aligned(np.full(entry.result.shape, np.nan, np.float32)))
        kernel = harness.Kernel(harness.compile_script(entry.file, script, place), [*inputs, outputs[-1]])
        kernel()
        contenders[name] = harness.InProcess(kernel)
    # Two orders of summation; wrong tiles differ by the size of the values.
    scale = max(float(np.abs(outputs[1]).max()), 1e-30)
    difference = float(np.abs(outputs[0] - outputs[1]).max()) / scale
    if not difference <= 1e-3:
        raise harness.Failed(f"the two results differ by {difference:.1e} of the largest element")
    times = harness.interleave(contenders, options.rounds)
    return harness.paired(times["searched"], times["default"])


def main() -> int:
    entries = catalogue.load("rep") | catalogue.load("nhwc")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    rows.add_arguments(parser, entries)
    arguments = parser.parse_args()
    names = rows.chosen(parser, arguments.rows, entries)
    harness.tool("cwm-tune")  # says what is missing before anything is printed
    print(f"machine: {harness.machine()}")
    shares: dict[str, float] = {}
    failed = []
    with harness.scratch() as temporary:
        results = arguments.results or pathlib.Path(temporary) / "searched"
        results.mkdir(parents=True, exist_ok=True)
        options = rows.Options(results, arguments.trials, arguments.seed, arguments.rounds)
        for name in names:
            folder = pathlib.Path(temporary) / name
            folder.mkdir()
            try:
                ratio = share(entries[name], options, folder)
            except harness.Failed as failure:
                failed.append(name)
                print(f"{name:28}FAIL: {failure}", flush=True)
                continue
            shares[name] = ratio.median
            print(f"{name:28}{ratio}", flush=True)
    missed = bool(failed)
    for layout, label in (("nchw", "the representative subgraphs"), ("nhwc", "the NHWC forms")):
        chosen = [value for name, value in shares.items() if (entries[name].layout == "nhwc") == (layout == "nhwc")]
        if not chosen:
            continue
        mean = harness.geomean(chosen)
        print(
            f"geomean of default / {arguments.trials} trials over {len(chosen)} of {label}: {mean:.3f} (bar {BAR:.2f})"
        )
        missed |= layout == "nchw" and mean < BAR
    print(f"failed: {', '.join(failed) or 'none'}; load {harness.load()}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
