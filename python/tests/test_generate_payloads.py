"""Tests of the generator of payloads; that cwm accepts them is a test in test/Dataset."""

from __future__ import annotations

import json
import pathlib
import random

import pytest
from cwm import generate_payloads as generator
from cwm.payload_kinds import KINDS

PAYLOADS = pathlib.Path(__file__).resolve().parent.parent.parent / "benchmarks" / "payloads"


def texts(count: int, seed: int = 0, kinds: list[str] | None = None, avoid: set | None = None) -> list[str]:
    return [p.text for p in generator.generate(count, seed, kinds or list(KINDS), avoid or set())]


def test_the_seed_decides_and_longer_lists_begin_alike() -> None:
    assert texts(40) == texts(60)[:40]
    assert texts(40) != texts(40, seed=1)


def test_five_hundred_distinct_payloads_of_all_kinds() -> None:
    payloads = list(generator.generate(500, 0, list(KINDS), generator.held_out_signatures(PAYLOADS)))
    assert len({p.text for p in payloads}) == 500
    counts = {kind: sum(p.kind == kind for p in payloads) for kind in KINDS}
    assert min(counts.values()) >= 4, counts
    assert {p.dtype for p in payloads} == {"f32", "bf16", "i8"}
    assert all(generator.SHORTEST <= p.seconds <= generator.LONGEST for p in payloads)
    text = "".join(p.text for p in payloads)
    for word in ("cwm.constant", "math.erf", "math.tanh", "math.rsqrt", "math.log", "tensor.pad", "indexing_maps = [affine",
                 "linalg.softmax", "cwm.domain", "strides = dense<2>", "dilations = dense<2>"):  # fmt: skip
        assert word in text, word


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_kind_uses_what_it_defines(kind: str) -> None:
    """Every name is defined before it is used, and once; no constant or argument is left over."""
    rng = random.Random(7)
    for _ in range(40):
        payload = generator.make(kind, rng)
        if payload is None:
            continue
        lines = payload.text.split("\n")
        header = lines[1]
        scope = {word.split(":")[0] for word in header.replace("(", " ").split() if word.startswith("%")}
        arguments = set(scope)
        used: set[str] = set()
        for line in lines[2:]:
            names = [name.rstrip(",):") for name in line.replace("(", " ").split() if name.startswith("%")]
            if line.strip().startswith("^bb0"):
                scope.update(name for name in names)
                continue
            if " = " in line:
                defined, names = names[0], names[1:]
            else:
                defined = ""
            assert set(names) <= scope, line
            used.update(names)
            if defined:
                if not defined.startswith("%s"):  # scalars of one body
                    assert defined not in scope, line
                scope.add(defined)
        assert arguments <= used
        assert {name for name in scope if name.startswith("%cst")} <= used


def test_signatures() -> None:
    text = (PAYLOADS / "corpus/bert_base/softmax_12x128x128.mlir").read_text()
    assert generator.signature_of(text) == ("tensor<12x128x128xf32>", "->", "tensor<12x128x128xf32>")
    with pytest.raises(ValueError, match="no function"):
        generator.signature_of("module {}")


def test_what_is_held_out_is_avoided() -> None:
    avoid = generator.held_out_signatures(PAYLOADS)
    assert ("tensor<12x128x128xf32>", "->", "tensor<12x128x128xf32>") in avoid
    first = next(generator.generate(1, 0, ["matmul"], set()))
    others = texts(20, kinds=["matmul"], avoid={first.signature})
    assert first.text not in others
    assert first.text in texts(20, kinds=["matmul"])


def test_files_and_index(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    assert generator.main(["--out", str(folder), "--count", "12", "--kinds", "pool,conv1d"]) == 0
    index = json.loads((folder / "index.json").read_text())
    assert len(index) == 12
    assert {entry["kind"] for entry in index} == {"pool", "conv1d"}
    assert {entry["file"] for entry in index} == {file.name for file in folder.glob("*.mlir")}
    assert "12 payloads" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        generator.main(["--out", str(folder)])
    assert "holds payloads already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kinds", "matmull"], "no 'matmull'; known are: matmul"),
        (["--count", "0"], "expected at least 1"),
        (["--avoid", "/nowhere"], "holds no payloads of resnet50"),
    ],
)
def test_bad_arguments(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    try:
        status = generator.main(["--out", str(tmp_path / "out"), *arguments])
    except SystemExit as end:
        status = end.code
    assert status != 0
    assert message in capsys.readouterr().err
