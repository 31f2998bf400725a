"""Sums the machine-readable reports of several test runners.

usage: summarise_tests.py RESULTS_DIR...

Each folder holds, for every runner NAME, its exit status in ``NAME.status`` and
its report: ``gtest-*.json`` (GoogleTest), ``lit*.json`` (lit --output) or
``pytest*.xml`` (JUnit). A runner that failed without a report of a failing test
(a crash, a build error) counts as one failure. The last line printed is
``N passed, N failed``; the exit status is 1 if anything failed or nothing ran.
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

LIT_PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


@dataclass
class Counts:
    """What one or more runners reported."""

    passed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.skipped += other.skipped
        self.failures += other.failures


def read_gtest(path: Path) -> Counts:
    counts = Counts()
    for suite in json.loads(path.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            if test.get("failures"):
                counts.failures.append(f"{suite['name']}.{test['name']}")
            elif test["result"] != "COMPLETED":
                counts.skipped += 1
            else:
                counts.passed += 1
    return counts


def read_lit(path: Path) -> Counts:
    counts = Counts()
    for test in json.loads(path.read_text())["tests"]:
        if test["code"] in LIT_PASSED:
            counts.passed += 1
        elif test["code"] in LIT_SKIPPED:
            counts.skipped += 1
        else:
            counts.failures.append(f"{test['name']} ({test['code']})")
    return counts


def read_junit(path: Path) -> Counts:
    counts = Counts()
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failures.append(f"{case.get('classname')}::{case.get('name')}")
        elif case.find("skipped") is not None:
            counts.skipped += 1
        else:
            counts.passed += 1
    return counts


def read_runner(status: Path) -> Counts:
    """Reads the report beside ``NAME.status``; never trusts it over the status."""
    name = status.stem
    reader, suffix = read_gtest, ".json"
    if name.startswith("lit"):
        reader = read_lit
    elif name.startswith("pytest"):
        reader, suffix = read_junit, ".xml"
    report = status.with_suffix(suffix)
    code = status.read_text().strip()
    counts = Counts()
    if report.exists():
        try:
            counts = reader(report)
        except (ValueError, KeyError, ElementTree.ParseError) as error:
            counts.failures.append(f"{name}: unreadable report: {error}")
    elif code == "0":
        counts.passed = 1  # a stage without a report, e.g. a build
    if code != "0" and not counts.failures:
        counts.failures.append(f"{name}: exit status {code}")
    return counts


def main(folders: list[str]) -> int:
    total = Counts()
    for folder in folders:
        for status in sorted(Path(folder).glob("*.status")):
            counts = read_runner(status)
            print(f"{status.stem}: {counts.passed} passed, {len(counts.failures)} failed, {counts.skipped} skipped")
            total.add(counts)
    for failure in total.failures:
        print(f"failed: {failure}")
    print(f"{total.passed} passed, {len(total.failures)} failed")
    return 0 if total.passed and not total.failures else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
