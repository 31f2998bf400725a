"""What defaults.py makes of the shares of its rows."""

from __future__ import annotations

import pathlib

import defaults
import harness
import pytest


def run(monkeypatch: pytest.MonkeyPatch, shares: dict[str, float | str], rows: str) -> int:
    def share(entry: object, options: object, folder: pathlib.Path) -> harness.Ratio:
        value = shares[folder.name]
        if isinstance(value, str):
            raise harness.Failed(value)
        return harness.Ratio(value, value, value)

    monkeypatch.setattr(defaults, "share", share)
    monkeypatch.setattr("sys.argv", ["defaults.py", "--rows", rows])
    return defaults.main()


@pytest.mark.usefixtures("fake_tools")
def test_mean_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, {"opt-t3": 0.5, "bert-t6": 1.0}, "opt-t3,bert-t6") == 0
    assert "2 of the representative subgraphs: 0.707 (bar 0.70)" in capsys.readouterr().out
    assert run(monkeypatch, {"opt-t3": 0.4, "bert-t6": 1.0}, "opt-t3,bert-t6") == 1


@pytest.mark.usefixtures("fake_tools")
def test_the_nhwc_forms_have_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, {"opt-t3": 1.0, "r50-t6-nhwc": 0.1}, "opt-t3,r50-t6-nhwc") == 0
    assert "1 of the NHWC forms: 0.100" in capsys.readouterr().out


@pytest.mark.usefixtures("fake_tools")
def test_a_row_that_fails_is_no_success(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, {"opt-t3": 1.0, "bert-t6": "no compiler"}, "opt-t3,bert-t6") == 1
    output = capsys.readouterr().out
    assert "FAIL: no compiler" in output
    assert "failed: bert-t6" in output
