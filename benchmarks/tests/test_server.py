"""Peers in processes of their own: whatever they do, the asking side says what happened."""

from __future__ import annotations

import pathlib
import sys

import harness
import pytest
from peers import server

READY = 'import sys\nprint(\'noise\', flush=True)\nprint(\'{"ready": true, "version": "7"}\', flush=True)\n'
ANSWER = "for line in sys.stdin:\n    print({answer!r}, flush=True)\n"


def start(folder: pathlib.Path, text: str, limit: float = 60) -> server.Server:
    script = folder / "peer.py"
    script.write_text(text)
    return server.Server(f"{sys.executable} {script} {{}}", folder, limit, limit)


def test_times(tmp_path: pathlib.Path) -> None:
    peer = start(tmp_path, READY + ANSWER.format(answer='{"ns": 1500.5, "calls": 3}'))
    assert peer.about["version"] == "7"
    peer.warm_up()
    assert peer.time() == 1500.5
    peer.close()
    assert peer.process.returncode == 0


def test_gets_the_folder(tmp_path: pathlib.Path) -> None:
    echo = "import json\nsys.stdin.readline()\nprint(json.dumps({'ns': 2, 'got': sys.argv[1:]}), flush=True)\n"
    peer = start(tmp_path, READY + echo)
    assert peer.ask("time") == {"ns": 2, "got": [str(tmp_path)]}
    peer.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('{"error": "no such op"}', "no such op"),
        ('{"ns": 0}', 'expected a positive "ns"'),
        ('{"calls": 3}', 'expected a positive "ns"'),
        ('{"ns": ', "broken JSON"),
    ],
)
def test_bad_answers_fail(tmp_path: pathlib.Path, answer: str, message: str) -> None:
    peer = start(tmp_path, READY + ANSWER.format(answer=answer))
    with pytest.raises(harness.Failed, match=message):
        peer.time()
    assert peer.broken
    peer.close()


def test_dies_under_way(tmp_path: pathlib.Path) -> None:
    peer = start(tmp_path, READY + "sys.stdin.readline()\nraise SystemExit('error: out of paper')")
    with pytest.raises(harness.Failed, match="out of paper"):
        peer.time()
    assert peer.broken
    peer.close()


def test_dies_at_start(tmp_path: pathlib.Path) -> None:
    with pytest.raises(harness.Failed, match="died of SIGKILL"):
        start(tmp_path, "import os\nos.kill(os.getpid(), 9)")


def test_first_line_must_be_ready(tmp_path: pathlib.Path) -> None:
    with pytest.raises(harness.Failed, match='expected a line with "ready"'):
        start(tmp_path, "print('{\"ns\": 1}')")


def test_says_that_it_has_no_such_form(tmp_path: pathlib.Path) -> None:
    with pytest.raises(harness.Unsupported, match="no graph for 'permute'"):
        start(tmp_path, "print('{\"unsupported\": \"no graph for \\'permute\\'\"}')")


def test_hangs(tmp_path: pathlib.Path) -> None:
    with pytest.raises(harness.Failed, match=r"no answer within 0\.2 s"):
        start(tmp_path, "import sys\nsys.stdin.read()", limit=0.2)


def test_cannot_start(tmp_path: pathlib.Path) -> None:
    with pytest.raises(harness.Failed, match="cannot start '/nonexistent/peer'"):
        server.Server("/nonexistent/peer {}", tmp_path)
