"""How the corpus run judges what cwm-tune did."""

from __future__ import annotations

import pathlib

import catalogue
import corpus
import pytest


def outcome(folder: pathlib.Path, comment: str, body: str = "linalg.fill") -> corpus.Outcome:
    payload = folder / "payload.mlir"
    payload.write_text(f"// {comment}\n{body}\n")
    array = catalogue.Array((2,))
    entry = catalogue.Entry("p", payload, "reduce", 0, (array,), array)
    return corpus.tune(entry, "model/p", folder, trials=4, seed=0)


def test_tuned(fake_tools: pathlib.Path) -> None:
    result = outcome(fake_tools, "fine")
    assert (result.kind, result.good) == ("tuned", True)
    assert result.classes == {"ok": 3, "lower_error": 1}
    assert "2.00x  1 lower_error 3 ok 1 refused" in str(result)


@pytest.mark.parametrize(
    ("comment", "kind", "message"),
    [
        ("refused", "refused", "op has no rule"),
        ("disk", "failed", "no space left"),
        ("none", "failed", "no valid candidate"),
        ("crash", "failed", "died of SIGSEGV"),
        ("unchecked", "failed", "without a time of a candidate that was checked"),
        ("lost", "failed", "without a result"),
    ],
)
def test_not_tuned(fake_tools: pathlib.Path, comment: str, kind: str, message: str) -> None:
    result = outcome(fake_tools, comment)
    assert (result.kind, result.good) == (kind, False)
    assert message in result.message
    assert message in str(result)
    assert kind.upper() in str(result)


def test_refusal_is_right_without_linalg_only(fake_tools: pathlib.Path) -> None:
    assert outcome(fake_tools, "refused", "tensor.pad").good
    assert not outcome(fake_tools, "fine", "tensor.pad").good


def test_summary_counts_every_payload(fake_tools: pathlib.Path) -> None:
    outcomes = [
        outcome(fake_tools, "fine"),
        outcome(fake_tools, "crash"),
        outcome(fake_tools, "refused", "tensor.pad"),
    ]
    lines = corpus.summary(outcomes)
    assert lines[0] == "not as expected: model/p: failed: died of SIGSEGV"
    assert lines[1].startswith("1 of 2 payloads tune with a valid, verified best (50.0%)")
    assert lines[2] == "1 of 1 payloads without a linalg op are refused by rule"
    assert lines[3] == "candidates: 1 lower_error, 3 ok"


def test_stale_result_of_an_earlier_run_is_no_result(fake_tools: pathlib.Path) -> None:
    assert outcome(fake_tools, "fine").good
    assert not outcome(fake_tools, "crash").good
