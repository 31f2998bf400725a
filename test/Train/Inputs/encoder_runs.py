"""Runs of `cwm-train encoder` that a shell cannot make, compared with a plain one.

encoder_runs.py interrupt CWM_TRAIN FOLDER FLAG...   interrupted, then killed, then to the end
encoder_runs.py ranks CWM_TRAIN FOLDER FLAG...       two processes that share each batch
"""

from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time


def read_metrics(folder: pathlib.Path) -> list[dict]:
    path = folder / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]


def start(tool: str, model: pathlib.Path, flags: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [tool, "encoder", "-o", str(model), "--work-dir", f"{model}.work", *flags], stderr=subprocess.PIPE, text=True
    )


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


def interrupt(tool: str, folder: pathlib.Path, flags: list[str]) -> None:
    finish(start(tool, folder / "whole", flags))
    model, work = folder / "parts", folder / "parts.work"
    process = start(tool, model, flags)
    text = stop_at(process, work, 5, signal.SIGINT)
    assert process.returncode == 130, (process.returncode, text)
    print(text.strip().split("\n")[-1])
    assert not (model / "config.json").exists()
    steps = len(read_metrics(work))
    process = start(tool, model, flags)
    stop_at(process, work, steps + 6, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    finish(start(tool, model, flags))
    for name in ("encoder.safetensors", "config.json"):
        assert (model / name).read_bytes() == (folder / "whole" / name).read_bytes(), name
    for name in ("checkpoint.safetensors", "metrics.jsonl"):
        assert (work / name).read_bytes() == (folder / "whole.work" / name).read_bytes(), name
    print("the same result")


def ranks(tool: str, folder: pathlib.Path, flags: list[str]) -> None:
    finish(start(tool, folder / "one", flags))
    together = ["--ranks=2", f"--rendezvous={folder / 'meeting'}"]
    processes = [start(tool, folder / "two", [*flags, *together, f"--rank={rank}"]) for rank in (0, 1)]
    for process in processes:
        finish(process)
    one, two = (read_metrics(folder / f"{name}.work") for name in ("one", "two"))
    assert len(one) == len(two) > 4
    difference = max(abs(first["loss"] - second["loss"]) for first, second in zip(one, two, strict=True))
    assert difference < 1e-4, difference
    assert one[0]["loss"] != one[-1]["loss"]
    print("the same losses")


if __name__ == "__main__":
    mode, tool, folder, *flags = sys.argv[1:]
    {"interrupt": interrupt, "ranks": ranks}[mode](tool, pathlib.Path(folder), flags)
