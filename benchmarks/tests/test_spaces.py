"""How the run over all spaces takes what cwm-tune --check-space says."""

from __future__ import annotations

import json
import pathlib
import sys

import catalogue
import pytest
import spaces

#: Writes the report that the payload holds in its first line, exits with the status in its second.
FAKE_TUNE = f"""#!{sys.executable}
import sys
options = dict(a.partition("=")[::2] for a in sys.argv[1:])
report, status = open(sys.argv[1]).read().splitlines()[:2]
if report:
    open(options["--summary"], "w").write(report)
sys.stderr.write("cwm-tune: error: this is why\\n")
sys.exit(int(status))
"""


def run(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, report: dict | None, status: int) -> dict | str:
    tool = folder / "build" / "bin" / "cwm-tune"
    tool.parent.mkdir(parents=True)
    tool.write_text(FAKE_TUNE)
    tool.chmod(0o755)
    monkeypatch.setenv("CWM_BUILD_DIR", str(folder / "build"))
    payload = folder / "payload.mlir"
    payload.write_text(f"{json.dumps(report) if report else ''}\n{status}\n")
    array = catalogue.Array((2,))
    return spaces.check(catalogue.Entry("p", payload, "reduce", 0, (array,), array), 4, 1, folder)


def report(wrong: int) -> dict:
    return {"all": {"wrong_accepted": wrong}}


def test_every_payload_with_a_linalg_op_is_covered() -> None:
    indexes = [name.split("/")[0] for name in spaces.payloads("*")]
    assert {index: indexes.count(index) for index in set(indexes)} == {"rep": 22, "nhwc": 10, "corpus": 121}


def test_report_is_taken(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, monkeypatch, report(0), 0) == report(0)


def test_wrong_candidates_are_counted_not_failed(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, monkeypatch, report(2), 1) == report(2)


@pytest.mark.parametrize("written", [None, report(0)])
def test_failed_run_says_why(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, written: dict | None) -> None:
    assert run(tmp_path, monkeypatch, written, 1) == "exit status 1: cwm-tune: error: this is why"
