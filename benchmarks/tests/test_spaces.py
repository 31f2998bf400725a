"""How the run over all spaces takes what cwm-tune --check-space says."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable

import catalogue
import pytest
import spaces

#: Writes the report that the payload holds in its first line, exits with the status in its second.
FAKE_TUNE = """\
import sys
options = dict(a.partition("=")[::2] for a in sys.argv[1:])
report, status = open(sys.argv[1]).read().splitlines()[:2]
if report:
    open(options["--summary"], "w").write(report)
sys.stderr.write("cwm-tune: error: this is why\\n")
sys.exit(int(status))
"""


@pytest.fixture
def folder(fake_tune: Callable[[str], pathlib.Path]) -> pathlib.Path:
    return fake_tune(FAKE_TUNE)


def run(folder: pathlib.Path, report: dict | None, status: int) -> dict | str:
    payload = folder / "payload.mlir"
    payload.write_text(f"{json.dumps(report) if report else ''}\n{status}\n")
    array = catalogue.Array((2,))
    return spaces.check(catalogue.Entry("p", payload, "reduce", 0, (array,), array), 4, 1, folder)


def report(wrong: int) -> dict:
    return {"all": {"wrong_accepted": wrong}}


def test_every_payload_with_a_linalg_op_is_covered() -> None:
    indexes = [name.split("/")[0] for name in spaces.payloads("*")]
    assert {index: indexes.count(index) for index in set(indexes)} == {"rep": 22, "nhwc": 10, "corpus": 121}


def test_report_is_taken(folder: pathlib.Path) -> None:
    assert run(folder, report(0), 0) == report(0)


def test_wrong_candidates_are_counted_not_failed(folder: pathlib.Path) -> None:
    assert run(folder, report(2), 1) == report(2)


@pytest.mark.parametrize("written", [None, report(0)])
def test_failed_run_says_why(folder: pathlib.Path, written: dict | None) -> None:
    assert run(folder, written, 1) == "exit status 1: cwm-tune: error: this is why"
