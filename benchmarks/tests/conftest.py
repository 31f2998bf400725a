"""The benchmarks are scripts in one folder, not a package: tests import them from there."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Callable

import pytest

BENCHMARKS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCHMARKS))

FAKE_TUNE = """\
import json, os, signal, sys
payload = sys.argv[1]
options = dict(a.partition("=")[::2] for a in sys.argv[1:])
out = sys.argv[sys.argv.index("-o") + 1]
text = open(payload).read()
def end(status, summary=None, best=True):
    if summary is not None:
        open(options["--summary"], "w").write(json.dumps(summary))
    if best:
        open(out, "w").write("module {}")
    sys.exit(status)
good = {"best_ns": 500.0, "baseline_ns": 1000.0, "refused": 1, "trials_by_status": {"ok": 3, "lower_error": 1}}
if "// refused" in text:
    sys.stderr.write(payload + ":2:3: error: op has no rule\\n")
    end(1, best=False)
if "// disk" in text:
    sys.stderr.write("cwm-tune: error: no space left\\n")
    end(1, best=False)
if "// none" in text:
    sys.stderr.write("cwm-tune: error: no valid candidate\\n")
    end(2, {**good, "best_ns": None, "trials_by_status": {"crash": 4}}, best=False)
if "// crash" in text:
    os.kill(os.getpid(), signal.SIGSEGV)
if "// unchecked" in text:
    end(0, {**good, "trials_by_status": {"lower_error": 4}})
if "// lost" in text:
    end(0, good, best=False)
end(0, good)
"""


@pytest.fixture
def fake_tune(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], pathlib.Path]:
    """Makes a build folder whose cwm-tune is a Python program, given as text; returns the folder around it."""

    def make(source: str) -> pathlib.Path:
        tool = tmp_path / "build" / "bin" / "cwm-tune"
        tool.parent.mkdir(parents=True)
        tool.write_text(f"#!{sys.executable}\n{source}")
        tool.chmod(0o755)
        monkeypatch.setenv("CWM_BUILD_DIR", str(tmp_path / "build"))
        return tmp_path

    return make


@pytest.fixture
def fake_tools(fake_tune: Callable[[str], pathlib.Path]) -> pathlib.Path:
    """A build folder whose cwm-tune does what a comment in the payload says."""
    return fake_tune(FAKE_TUNE)
