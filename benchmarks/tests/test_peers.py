"""The peers' side of things, as far as it works without the peers."""

from __future__ import annotations

import ast
import json
import pathlib
import subprocess
import sys
import time

import catalogue
import harness
import pytest
from peers import environments, iree_payload, metaschedule_records, protocol, records, server

PEERS = pathlib.Path(harness.ROOT / "benchmarks" / "peers")
WANTED = {"trials": 64, "seed": 0}
INFO = {**WANTED, "cpu": "cpu1", "version": "Peer 1", "seconds": 2.5}


def store(folder: pathlib.Path) -> records.Store:
    value = records.Store(folder / "data")
    value.write("r", ["line"], INFO)
    return value


def test_records_come_back(tmp_path: pathlib.Path) -> None:
    kept = store(tmp_path)
    kept.write("s", {"a": 1}, {**INFO, "seconds": 4})
    value, info = kept.read("r", "cpu1")
    assert (value, info["seconds"]) == (["line"], 2.5)
    assert kept.about(info) == f"Peer 1, 64 trials on cpu1, {info['date']}"
    assert {name: row["seconds"] for name, row in kept.tuned().items()} == {"r": 2.5, "s": 4}


def test_same_records_are_the_same_bytes(tmp_path: pathlib.Path) -> None:
    file = store(tmp_path).folder / "r.json.gz"
    before = file.read_bytes()
    store(tmp_path)
    assert file.read_bytes() == before
    assert sorted(f.name for f in file.parent.iterdir()) == ["r.json.gz", "tuned.json"]  # nothing half written


@pytest.mark.parametrize(
    ("row", "cpu", "wanted", "complete"),
    [
        ("r", "cpu1", WANTED, True),
        ("r", "cpu2", WANTED, False),
        ("r", "cpu1", {**WANTED, "trials": 16}, False),
        ("r", "cpu1", {**WANTED, "per_round": 16}, False),
        ("s", "cpu1", WANTED, False),
    ],
)
def test_what_is_tuned_already(tmp_path: pathlib.Path, row: str, cpu: str, wanted: dict, complete: bool) -> None:
    assert store(tmp_path).complete(row, cpu, wanted) == complete


def test_no_records(tmp_path: pathlib.Path) -> None:
    with pytest.raises(records.NoRecords, match="no records of s"):
        store(tmp_path).read("s", "cpu1")
    with pytest.raises(records.NoRecords, match="are for cpu1, this CPU is cpu2"):
        store(tmp_path).read("r", "cpu2")


@pytest.mark.parametrize("peer", ["ansor", "metaschedule"])
def test_committed_records_are_whole(peer: str) -> None:
    kept = records.Store(records.DATA / peer)
    rows = records.rows("rep", "nhwc")
    files = {file.name.split(".")[0] for file in kept.folder.glob("*.json.gz")}
    assert files == set(kept.tuned())
    assert files <= set(rows)
    for name, info in kept.tuned().items():
        value, _ = kept.read(name, info["cpu"])
        assert value and info["seconds"] > 0 and info["best_us"] > 0
        assert info["trials"] == 64


def test_ansor_was_tuned_on_all_22() -> None:
    assert set(records.Store(records.DATA / "ansor").tuned()) >= set(catalogue.load("rep"))


def test_command_of_a_peer(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CWM_PEERS_ENV", str(tmp_path / "with space"))
    with pytest.raises(SystemExit, match=r"does not exist: run benchmarks/peers/setup\.sh iree"):
        environments.command("iree")
    python = tmp_path / "with space" / "iree" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "{\\"error\\": \\"asked to run $1 on $2\\"}"\n')
    python.chmod(0o755)
    with pytest.raises(harness.Failed, match=rf"asked to run {PEERS}/serve_iree\.py on {tmp_path}"):
        server.Server(environments.command("iree"), tmp_path, 10, 10)


@pytest.mark.parametrize("peer", environments.PEERS)
def test_a_peer_is_whole(peer: str) -> None:
    assert (PEERS / f"serve_{peer}.py").exists()
    pins = [line for line in (PEERS / f"requirements-{peer}.txt").read_text().splitlines() if line[0] != "#"]
    assert pins and all("==" in line for line in pins)


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "expected peers"), (["tvm"], "unknown peer 'tvm'"), (["ansor"], "CWM_PYTHON38 is not a Python 3.8")],
)
def test_setup_says_what_is_wrong(tmp_path: pathlib.Path, words: list[str], message: str) -> None:
    variables = {"PATH": "/usr/bin:/bin", "CWM_PYTHON38": sys.executable, "CWM_PEERS_ENV": str(tmp_path)}
    done = subprocess.run([PEERS / "setup.sh", *words], capture_output=True, text=True, env=variables)
    assert done.returncode == 1
    assert f"setup.sh: error: {message}" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["protocol", "records", "ansor_graphs", "tune_ansor", "serve_ansor"])
def test_syntax_of_python_38(name: str) -> None:
    ast.parse((PEERS / f"{name}.py").read_text(), feature_version=(3, 8))


class Bytes:
    """Stands in for an array."""

    def __init__(self, value: bytes) -> None:
        self.value = value

    def tobytes(self) -> bytes:
        return self.value


PAYLOAD = """\
#map = affine_map<(d0) -> (d0)>
module {
  func.func @kernel(%arg0: tensor<2xf32>, %arg1: tensor<2xf32> {cwm.constant}, %arg2: tensor<2xf32>) -> tensor<2xf32> {
    %0 = arith.addf %arg0, %arg1 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
"""


def test_weights_become_constants() -> None:
    text, kept = iree_payload.with_constants(PAYLOAD, [Bytes(b""), Bytes(b"\x00\x01\xfe\xff"), Bytes(b"")])
    assert kept == [0, 2]
    assert "@kernel(%arg0: tensor<2xf32>, %arg2: tensor<2xf32>) -> tensor<2xf32> {\n" in text
    assert "{\n    %arg1 = arith.constant dense_resource<weight1> : tensor<2xf32>\n    %0 = arith.addf" in text
    assert 'weight1: "0x400000000001feff"' in text
    assert "cwm.constant" not in text


@pytest.mark.parametrize("group", ["rep", "nhwc"])
def test_weights_of_every_row_become_constants(group: str) -> None:
    for entry in catalogue.load(group).values():
        text, kept = iree_payload.with_constants(entry.file.read_text(), [Bytes(b"")] * len(entry.args))
        assert kept == [i for i, a in enumerate(entry.args) if a.role == "activation"]
        assert text.count("dense_resource<") == len(entry.args) - len(kept)
        assert "cwm.constant" not in text


def test_payload_and_inputs_must_agree() -> None:
    with pytest.raises(ValueError, match="3 arguments, 1 inputs"):
        iree_payload.with_constants(PAYLOAD, [Bytes(b"")])
    with pytest.raises(ValueError, match="no function @kernel"):
        iree_payload.with_constants("module {}", [])


def test_metaschedule_keeps_the_fastest() -> None:
    lines = [json.dumps([0, [["trace"], seconds, {}, []]]) for seconds in ([0.5, 0.25], [1e10], None, [0.125], [0.75])]
    assert metaschedule_records.best_lines(lines, 2) == [lines[3], lines[0]]
    assert metaschedule_records.best_lines(lines, 9) == [lines[3], lines[0], lines[4]]


def spin(milliseconds: float) -> protocol.Function:
    def call() -> None:
        end = time.thread_time() + milliseconds / 1e3
        while time.thread_time() < end:
            pass

    return protocol.Function(call, lambda: None)


def test_fastest_is_served() -> None:
    assert protocol.fastest([spin(50), spin(1), spin(20)], rounds=2) == 1
    assert protocol.fastest([spin(0)]) == 0


def test_timing_uses_the_peers_own_loop() -> None:
    class Native(protocol.Kernel):
        def __init__(self) -> None:
            self.counts = []

        def repeat(self, count: int) -> None:
            self.counts.append(count)
            end = time.thread_time_ns() + 2 * protocol.CHUNK_NS
            while time.thread_time_ns() < end:
                pass

    kernel = Native()
    nanoseconds, count = protocol.timed(kernel, 4)
    assert (count, kernel.counts) == (4, [4])
    assert nanoseconds >= 2 * protocol.CHUNK_NS / 4
