"""The summary must never turn a failure into a pass."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "summarise_tests.py"


def run(folder: Path) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def gtest(*tests: dict) -> str:
    return json.dumps({"testsuites": [{"name": "S", "testsuite": list(tests)}]})


def test_sums_all_runners(tmp_path: Path) -> None:
    (tmp_path / "gtest-A.status").write_text("0\n")
    (tmp_path / "gtest-A.json").write_text(
        gtest({"name": "a", "result": "COMPLETED"}, {"name": "b", "result": "SKIPPED"})
    )
    (tmp_path / "lit.status").write_text("0\n")
    (tmp_path / "lit.json").write_text(
        json.dumps({"tests": [{"name": "x", "code": "PASS"}, {"name": "y", "code": "UNSUPPORTED"}]})
    )
    (tmp_path / "pytest.status").write_text("0\n")
    (tmp_path / "pytest.xml").write_text('<t><testcase classname="c" name="n"/></t>')
    code, lines = run(tmp_path)
    assert code == 0
    assert lines[-1] == "3 passed, 0 failed"


def test_reports_each_failure(tmp_path: Path) -> None:
    (tmp_path / "gtest-A.status").write_text("1\n")
    (tmp_path / "gtest-A.json").write_text(gtest({"name": "a", "result": "COMPLETED", "failures": [{"failure": "no"}]}))
    (tmp_path / "lit.status").write_text("1\n")
    (tmp_path / "lit.json").write_text(
        json.dumps({"tests": [{"name": "x", "code": "TIMEOUT"}, {"name": "y", "code": "PASS"}]})
    )
    (tmp_path / "pytest.status").write_text("1\n")
    (tmp_path / "pytest.xml").write_text('<t><testcase classname="c" name="n"><error/></testcase></t>')
    code, lines = run(tmp_path)
    assert code == 1
    assert lines[-1] == "1 passed, 3 failed"
    assert "failed: S.a" in lines and "failed: x (TIMEOUT)" in lines and "failed: c::n" in lines


def test_a_crash_without_a_report_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "gtest-A.status").write_text("139\n")
    (tmp_path / "gtest-B.status").write_text("0\n")
    code, lines = run(tmp_path)
    assert code == 1
    assert lines[-1] == "1 passed, 1 failed"


def test_a_status_that_contradicts_its_report_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "gtest-A.status").write_text("1\n")
    (tmp_path / "gtest-A.json").write_text(gtest({"name": "a", "result": "COMPLETED"}))
    assert run(tmp_path)[0] == 1


def test_nothing_run_is_a_failure(tmp_path: Path) -> None:
    code, lines = run(tmp_path)
    assert code == 1
    assert lines[-1] == "0 passed, 0 failed"
