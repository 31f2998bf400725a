"""The C++ side of what is tested: tools of the build that scripts/check.sh names, or of build/dev."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable, Sequence

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CWM_TEST_BUILD_DIR", ROOT / "build" / "dev"))

#: One payload of each kind, small.
PAYLOADS = (
    "matmul_512",
    "layernorm_128x768",
    "permute_1x128x12x64",
    "rep/r50-t3",
    "rep/mbv2-t4",
    "rep/bert-t6",
)


def run(arguments: Sequence[str | pathlib.Path], text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, input=text, capture_output=True, encoding="utf-8", check=False)


@pytest.fixture(scope="session")
def model_tool() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs cwm-model-test-tool with these arguments."""
    path = BUILD / "bin" / "test" / "cwm-model-test-tool"
    assert path.exists(), f"{path} is missing: build it, or set CWM_TEST_BUILD_DIR"
    return lambda *arguments, text=None: run([path, *arguments], text)


def record(name: str, folder: pathlib.Path) -> list[str]:
    """The states and the actions on the way of the baseline of one payload."""
    tool = BUILD / "bin" / "cwm-opt"
    payload = ROOT / "benchmarks" / "payloads" / f"{name}.mlir"
    script, trajectory = folder / "script.mlir", folder / "trajectory.jsonl"
    for arguments in (
        ["--cwm-apply-sketch=script=true", "-o", script],
        [f"--cwm-record=schedule={script} output={trajectory}", "-o", os.devnull],
    ):
        done = run([tool, payload, *arguments])
        assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in trajectory.read_text().splitlines()]
    return [line["text"] for line in lines if line["kind"] in ("state", "action")]


@pytest.fixture(scope="session")
def real_texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """States and actions of real payloads, each once."""
    texts: dict[str, None] = {}
    for name in PAYLOADS:
        texts.update(dict.fromkeys(record(name, tmp_path_factory.mktemp("record"))))
    assert len(texts) > 50
    return list(texts)
