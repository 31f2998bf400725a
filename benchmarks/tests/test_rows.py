"""Ratios, means, and rows that fail: none may get lost."""

from __future__ import annotations

import dataclasses
import json
import math
import pathlib
import sys

import catalogue
import harness
import pytest
import rows
import subgraphs

#: Stands in for measure.py: does what the payload's second comment says.
FAKE_MEASURE = """\
import json, os, signal, sys
job = json.load(open(sys.argv[1]))
text = open(job["entry"]["file"]).read()
if "// dies" in text:
    os.kill(os.getpid(), signal.SIGKILL)
if "// raises" in text:
    raise RuntimeError("no such thing")
if "// silent" in text:
    sys.exit(0)
ratio = {"median": 2.0, "low": 1.9, "high": 2.1}
cells = {peer: {"ratio": ratio} for peer in job["peers"]}
if "// peer" in text:
    cells[job["peers"][-1]] = {"failure": "peer broke"}
result = {"cells": cells, "us": 10.0, "error": 1e-7, "versions": "fake 1"}
if "// wrong" in text:
    result = {"failure": "wrong numbers: 1 of 2 elements", "versions": "fake 1"}
open(job["result"], "w").write(json.dumps(result))
"""


def make(folder: pathlib.Path, name: str, comment: str = "", peers: tuple[str, ...] = ("eager",)) -> rows.Row:
    payload = folder / f"{name}.mlir"
    payload.write_text(f"// {comment}\nlinalg.fill\n")
    script = folder / "measure.py"
    script.write_text(FAKE_MEASURE)
    results = folder / "results"
    results.mkdir(exist_ok=True)
    array = catalogue.Array((2,))
    entry = catalogue.Entry(name, payload, "matmul", 1_000_000, (array,), array)
    options = rows.Options(results, trials=4, peers=peers, measure=(sys.executable, str(script)))
    return rows.make(entry, 1.0, options)


def test_ratio_is_the_median_of_pairs() -> None:
    ratio = harness.paired([2.0, 40.0, 6.0], [1.0, 10.0, 2.0])
    assert ratio.median == 3.0
    assert 2.0 <= ratio.low <= 3.0 <= ratio.high <= 4.0


def test_interval_shrinks_to_a_constant_ratio() -> None:
    assert vars(harness.paired([3.0] * 9, [2.0] * 9)) == {"median": 1.5, "low": 1.5, "high": 1.5}


def test_best_peer_is_picked_and_measured_on_different_rounds() -> None:
    # "a" is faster on even rounds only; on odd ones, which count, it is slower.
    times = {"a": [1.0, 8.0, 1.0, 8.0], "b": [2.0, 2.0, 2.0, 2.0]}
    name, ratio = harness.best_of(times, [4.0, 4.0, 4.0, 4.0])
    assert (name, ratio.median) == ("a", 2.0)


def test_geomean() -> None:
    assert harness.geomean([2.0, 8.0]) == pytest.approx(4.0)
    assert math.isnan(harness.geomean([]))


def test_contenders_take_turns() -> None:
    order = []

    class Contender:
        def __init__(self, name: str) -> None:
            self.name = name

        def warm_up(self) -> None:
            order.append(self.name.upper())

        def time(self) -> float:
            order.append(self.name)
            return 1.0

    times = harness.interleave({"a": Contender("a"), "b": Contender("b")}, 2)
    assert order == ["A", "B", "a", "b", "a", "b"]
    assert times == {"a": [1.0, 1.0], "b": [1.0, 1.0]}


def test_good_row(fake_tools: pathlib.Path) -> None:
    row = make(fake_tools, "good")
    assert not row.failure
    assert row.cells["eager"].ratio.median == 2.0
    assert row.gflops == pytest.approx(100)  # 1 MFLOP in 10 us
    assert row.seconds > 0
    assert row.verdict("eager") == "ok"
    assert make(fake_tools, "good").seconds == 0  # the earlier result is used


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("refused", "op has no rule"),
        ("disk", "no space left"),
        ("none", "no valid candidate"),
        ("crash", "cwm-tune: died of SIGSEGV"),
        ("dies", "timing: died of SIGKILL"),
        ("raises", "no such thing"),
        ("silent", "timing: "),
        ("wrong", "wrong numbers: 1 of 2 elements"),
    ],
)
def test_failing_row_is_a_row(fake_tools: pathlib.Path, comment: str, message: str) -> None:
    row = make(fake_tools, "bad", comment)
    assert message in row.failure
    assert row.verdict("eager") == "FAIL"
    table = rows.Table(["eager"], lambda row: "eager")
    table.add(make(fake_tools, "good"))
    table.add(row)
    assert table.missed() == ["bad"]
    mean = rows.mean("all", "eager", table.rows, bar=1.0)
    assert (mean.value, mean.used, mean.missing, mean.good) == (pytest.approx(2.0), 1, ["bad"], False)
    assert "1 MISSING: bad" in str(mean)
    page = table.markdown("Title", "Intro.", [mean], ["conditions"])
    assert "| bad |  | FAIL |" in page
    assert f"- bad: {row.failure}" in page


def test_failing_peer_fails_its_cell_only(fake_tools: pathlib.Path) -> None:
    row = make(fake_tools, "half", "peer", ("eager", "other"))
    assert not row.failure
    assert (row.verdict("eager"), row.verdict("other")) == ("ok", "FAIL")
    assert rows.mean("all", "other", [row]).missing == ["half"]
    assert not rows.mean("all", "eager", [row]).missing


def test_best_is_missing_where_a_peer_failed() -> None:
    figure = rows.Cell(harness.Ratio(2, 2, 2))
    table = [
        rows.Row("r", cells={"eager": figure, "best": figure}),
        rows.Row("s", cells={"eager": figure, "aot": rows.Cell(failure="broke"), "best": figure}),
        rows.Row("t", cells={"eager": figure, "aot": rows.Cell(skipped="no form"), "best": figure}),
    ]
    assert rows.mean("all", "best", table).missing == ["s"]
    assert rows.mean("all", "eager", table).missing == []


def test_peer_without_a_cell_is_missing_not_left_out() -> None:
    row = rows.Row("r", cells={"eager": rows.Cell(harness.Ratio(1, 1, 1))})
    assert rows.mean("all", "aot", [row]).missing == ["r"]


def test_reused_result_knows_its_seconds(fake_tools: pathlib.Path) -> None:
    make(fake_tools, "again")
    summary = fake_tools / "results" / "again.summary.json"
    summary.write_text(json.dumps({"seconds": 12.5, "trials": 4, "prior_records": 0}))
    assert make(fake_tools, "again").seconds == 12.5
    summary.write_text(json.dumps({"seconds": 12.5, "trials": 4, "prior_records": 3}))
    assert make(fake_tools, "again").seconds == 0  # it does not say what the records before it took
    summary.write_text(json.dumps({"seconds": 12.5, "trials": 64, "prior_records": 0}))
    assert "was tuned with 64 trials, not 4" in make(fake_tools, "again").failure


def test_tuning_time_names_what_it_misses() -> None:
    table = [rows.Row("a", seconds=10), rows.Row("b", seconds=20), rows.Row("c"), rows.Row("d", seconds=5)]
    value = rows.tuning_time("all", "ansor", table[:2], {"a": 40, "b": 30}, bar=0.5)
    assert (value.ours, value.theirs, value.good) == (30, 70, True)
    assert str(value) == "tuning seconds of all: 30, ansor: 70: 0.43 (at most 0.50: ok)"
    assert not rows.tuning_time("all", "ansor", table[:2], {"a": 40, "b": 19}, bar=0.5).good
    value = rows.tuning_time("all", "ansor", table, {"a": 40, "b": 30, "c": 5}, bar=0.5)
    assert (value.ours, value.missing, value.good) == (30, ["c", "d"], False)
    table[0].failure = "wrong numbers"
    assert rows.tuning_time("all", "ansor", table[:2], {"a": 40, "b": 30}).missing == ["a"]


def test_page_says_which_peer_was_best() -> None:
    cell = rows.Cell(harness.Ratio(1.5, 1.25, 1.75), way="ansor")
    table = rows.Table(["best"], lambda row: "best")
    table.add(rows.Row("r", us=1.0, cells={"best": cell}))
    assert "| 1.500 [1.250, 1.750] ansor |" in table.markdown("Title", "Intro.", [], [])


def test_skipped_cell_is_neither_used_nor_missing() -> None:
    row = rows.Row("r", cells={"onednn": rows.Cell(skipped="no form")})
    mean = rows.mean("all", "onednn", [row])
    assert (mean.used, mean.missing) == (0, [])
    assert "none over 0 rows" in str(mean)
    assert row.verdict("onednn") == ""


@pytest.mark.parametrize(
    ("median", "bar", "verdict"),
    [(1.0, 1.0, "ok"), (0.96, 1.0, "tie"), (0.94, 1.0, "MISS"), (0.92, 0.92, "ok"), (0.91, 0.92, "MISS")],
)
def test_verdicts(median: float, bar: float, verdict: str) -> None:
    row = rows.Row("r", bar=bar, cells={"eager": rows.Cell(harness.Ratio(median, median, median))})
    assert row.verdict("eager") == verdict


def test_means_of_a_part_have_no_bar() -> None:
    entries = catalogue.load("rep") | catalogue.load("nhwc")
    table = rows.Table(["eager"], lambda row: "eager")
    cell = rows.Cell(harness.Ratio(1.5, 1.5, 1.5))
    table.rows = [rows.Row(name, cells={"eager": cell}) for name in entries]
    rep, nhwc = subgraphs.means_of(table, entries, ["eager"])
    assert (rep.used, rep.bar, rep.good) == (22, 1.9, False)
    assert (nhwc.used, nhwc.bar, nhwc.good) == (9, 1.0, True)  # the pooling is a row, not part of the mean
    table.rows = table.rows[:3]
    (rep,) = subgraphs.means_of(table, entries, ["eager"])
    assert (rep.used, rep.bar) == (3, None)
    assert "3 of 22 asked for" in rep.label


@pytest.mark.parametrize(
    ("peer", "trials", "bar"),
    [
        ("ansor", 64, 1.54),
        ("ansor", 16, 1.3),
        ("ansor", 8, None),
        ("best", 64, 1.05),
        ("best", 16, None),
        ("eager", 16, None),
    ],
)
def test_bars_depend_on_trials(peer: str, trials: int, bar: float | None) -> None:
    assert subgraphs.bar_of("rep", peer, [*subgraphs.ALL_PEERS, "best"], trials) == bar


def test_best_of_a_few_peers_has_no_bar() -> None:
    assert subgraphs.bar_of("rep", "best", ["eager", "ansor", "best"], 64) is None


def test_tuning_seconds_against_ansor(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = catalogue.load("rep")
    monkeypatch.setattr(subgraphs, "peer_seconds", lambda peer: dict.fromkeys(entries, 90.0))
    cell = rows.Cell(harness.Ratio(1.5, 1.5, 1.5))
    table = rows.Table(["ansor"], lambda row: "ansor")
    table.rows = [rows.Row(name, seconds=30, cells={"ansor": cell}) for name in entries]
    mean, seconds = subgraphs.means_of(table, entries, ["ansor"])
    assert (mean.bar, mean.good) == (1.54, False)
    assert (seconds.ours, seconds.theirs, seconds.bar, seconds.good) == (22 * 30, 22 * 90, 0.5, True)
    table.rows = table.rows[:2]
    assert [value.bar for value in subgraphs.means_of(table, entries, ["ansor"])] == [None, None]


def test_peers_of_one_thread_are_not_compared_with_several(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(harness, "THREADS", 1)
    monkeypatch.setenv("CWM_BENCH_THREADS", "1")
    monkeypatch.setattr(sys, "argv", ["subgraphs.py", "--threads=2", "--peer", "mine=server {}"])
    with pytest.raises(SystemExit, match="2"):
        subgraphs.main()
    assert "--threads: peers in processes of their own run on one thread: mine" in capsys.readouterr().err


def test_entry_survives_json() -> None:
    entry = catalogue.load("corpus")["gpt2/layernorm_normalise_128x768"]
    again = catalogue.entry(json.loads(json.dumps(entry.to_json())), pathlib.Path())
    assert again == dataclasses.replace(entry, args=tuple(entry.args))


def test_last_words() -> None:
    assert harness.last_words(-11, "x") == "died of SIGSEGV"
    assert harness.last_words(1, "note\nf:1:2: error: bad\nmore") == "f:1:2: error: bad"
    assert harness.last_words(1, "a\nb\n") == "b"
    assert harness.last_words(3, "") == "exit status 3"
