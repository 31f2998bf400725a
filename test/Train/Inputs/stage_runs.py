"""Runs of a stage of `cwm-train` that a shell cannot make, compared with a plain one.

stage_runs.py interrupt CWM_TRAIN STAGE FOLDER FLAG...   interrupted, then killed, then to the end
stage_runs.py ranks CWM_TRAIN STAGE FOLDER FLAG...       two processes that share each batch

`encoder` makes models in FOLDER; `transition` adds to copies of FOLDER/model.
"""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time


def read_metrics(folder: pathlib.Path) -> list[dict]:
    path = folder / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


class Stage:
    """A stage of cwm-train and its flags."""

    def __init__(self, tool: str, name: str, folder: pathlib.Path, flags: list[str]) -> None:
        self.tool, self.name, self.folder, self.flags = tool, name, folder, flags

    def start(self, run: str, *flags: str) -> subprocess.Popen[str]:
        model = self.folder / run
        if self.name == "transition" and not model.exists():
            shutil.copytree(self.folder / "model", model)
        where = [f"--{'model' if self.name == 'transition' else 'o'}={model}", f"--work-dir={model}.work"]
        command = [self.tool, self.name, *where, *self.flags, *flags]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    _, text = process.communicate(timeout=500)
    assert process.returncode == 0, (process.returncode, text)
    return text


def stop_at(process: subprocess.Popen[str], work: pathlib.Path, step: int, number: int) -> str:
    """Sends a signal once a step is logged; the process cannot be done by then, since it logs no faster than we read."""
    while process.poll() is None and len(read_metrics(work)) < step:
        time.sleep(0.001)
    process.send_signal(number)
    _, text = process.communicate(timeout=500)
    return text


def interrupt(stage: Stage) -> None:
    folder = stage.folder
    finish(stage.start("whole"))
    model, work = folder / "parts", folder / "parts.work"
    process = stage.start("parts")
    text = stop_at(process, work, 5, signal.SIGINT)
    assert process.returncode == 130, (process.returncode, text)
    print(text.strip().split("\n")[-1])
    assert not (model / f"{stage.name}.safetensors").exists()
    steps = len(read_metrics(work))
    process = stage.start("parts")
    stop_at(process, work, steps + 6, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    finish(stage.start("parts"))
    for name in (f"{stage.name}.safetensors", "config.json"):
        assert (model / name).read_bytes() == (folder / "whole" / name).read_bytes(), name
    for name in ("checkpoint.safetensors", "metrics.jsonl"):
        assert (work / name).read_bytes() == (folder / "whole.work" / name).read_bytes(), name
    print("the same result")


def ranks(stage: Stage) -> None:
    finish(stage.start("one"))
    together = ["--ranks=2", f"--rendezvous={stage.folder / 'meeting'}"]
    processes = [stage.start("two", *together, f"--rank={rank}") for rank in (0, 1)]
    for process in processes:
        finish(process)
    one, two = (read_metrics(stage.folder / f"{name}.work") for name in ("one", "two"))
    assert len(one) == len(two) > 4
    difference = max(abs(first["loss"] - second["loss"]) for first, second in zip(one, two, strict=True))
    assert difference < 1e-4, difference
    assert one[0]["loss"] != one[-1]["loss"]
    print("the same losses")


if __name__ == "__main__":
    mode, tool, name, folder, *flags = sys.argv[1:]
    {"interrupt": interrupt, "ranks": ranks}[mode](Stage(tool, name, pathlib.Path(folder), flags))
