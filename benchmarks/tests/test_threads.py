"""What subgraphs.py says of kernels with several threads."""

from __future__ import annotations

import harness
import pytest
import rows
import subgraphs


def table(times: list[float], ratio: float) -> rows.Table:
    """Rows that take so many microseconds; the ratio grows with the row's number."""
    result = rows.Table(["eager"], lambda row: "eager")
    for number, us in enumerate(times):
        value = ratio + number
        cell = rows.Cell(ratio=harness.Ratio(value, value, value))
        result.rows.append(rows.Row(f"r{number}", us=us, cells={"eager": cell}))
    return result


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "THREADS", 2)


def test_the_longest_ten_count() -> None:
    # The shortest two, whose ratios are 1 and 2, do not.
    value = subgraphs.threads_mean(table([1.0, 2.0, *[10.0 + i for i in range(10)]], 1.0), "eager", 2.0)
    assert value.used == 10
    assert value.value == pytest.approx(harness.geomean(range(3, 13)))
    assert value.bar == 1.0
    assert value.good


def test_a_slow_mean_misses_the_bar() -> None:
    assert not subgraphs.threads_mean(table([5.0], 0.9), "eager", 1.8).good


def test_without_cores_it_is_only_reported() -> None:
    value = subgraphs.threads_mean(table([5.0], 0.9), "eager", 1.7)
    assert value.bar is None
    assert value.good
    assert "reported only" in str(value)
    assert "1.70x" in str(value)


def test_a_failed_row_is_missing() -> None:
    broken = table([5.0, 6.0], 1.0)
    broken.rows[0].failure = "crash"
    value = subgraphs.threads_mean(broken, "eager", 2.0)
    assert value.missing == ["r0"]
    assert not value.good


def test_chunks_of_several_threads_are_wall_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # A call that waits takes no CPU time.
    clock = iter(range(0, 10**12, harness.CHUNK_NS))
    monkeypatch.setattr(harness.time, "perf_counter_ns", lambda: next(clock))
    nanoseconds, count = harness.timed(lambda: None, 1)
    assert (nanoseconds, count) == (harness.CHUNK_NS, 1)
