"""A pytest plugin that says what became of every test: one JSON line a report, written as it comes.

It is loaded with ``-p nanobench_reporter`` inside the sandbox, from a read-only mount; it needs nothing but pytest
and the standard library, and runs on Python 3.8 and later. Lines go to ``$NANOBENCH_REPORT``, opened for appending
and never buffered, so that a crash keeps what ran:

    {"id": "tests/test_a.py::test_b[c]", "message": "…", "outcome": "failed", "type": "builtins.ValueError"}
    {"end": 1}

``id`` is pytest's node id. Several lines of one test (phases, subtests) are for the reader to reconcile. ``end`` is
pytest's exit status; it is missing when pytest did not get that far. No durations: they differ from run to run.
Only the pytest that the suite's command started writes: workers of xdist send their reports to it, and a pytest
that a test starts finds the report taken.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

LIMIT = 2000
TAKEN = "NANOBENCH_REPORT_TAKEN"


def pytest_configure(config: Any) -> None:
    """Open the report, once per suite."""
    path = os.environ.get("NANOBENCH_REPORT")
    if path and not hasattr(config, "workerinput") and TAKEN not in os.environ:
        os.environ[TAKEN] = "1"
        config.pluginmanager.register(Reporter(path), "nanobench-report")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Keep the exception's type and words on the report: a report crosses from a worker, an exception does not."""
    result = yield
    if call.excinfo is not None:
        kind = call.excinfo.type
        error = [f"{kind.__module__}.{kind.__qualname__}", _words(call.excinfo.value)]
        result.get_result().nanobench_error = error


class Reporter:
    """Writes the lines."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of a test, or one subtest."""
        outcome = _outcome(report)
        if outcome:
            self._write(report, outcome)

    def pytest_collectreport(self, report: Any) -> None:
        """A file or class that could not be collected; its tests will be absent."""
        if report.failed:
            self._write(report, "error")

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        """The last line."""
        self._line({"end": int(exitstatus)})

    def _write(self, report: Any, outcome: str) -> None:
        line = {"id": _plain(report.nodeid), "outcome": outcome}
        if outcome in ("failed", "error"):
            line["type"], line["message"] = _error(report)
        self._line(line)

    def _line(self, line: dict[str, Any]) -> None:
        os.write(self._fd, (json.dumps(line, sort_keys=True) + "\n").encode())


def _outcome(report: Any) -> str | None:
    """What this report says about its test; ``None`` for nothing yet."""
    if type(report).__name__.lower() == "subtestreport":
        # A subtest that passed or was skipped leaves the verdict to its test.
        return "failed" if report.failed else None
    if report.outcome not in ("passed", "failed", "skipped"):
        return None  # an attempt that pytest-rerunfailures repeats
    if report.passed and report.when != "call":
        return None
    if hasattr(report, "wasxfail") and not report.failed:
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return "error"
    return str(report.outcome)


def _error(report: Any) -> tuple[str, str]:
    known = getattr(report, "nanobench_error", None)
    if known:
        return _plain(known[0])[:LIMIT], _plain(known[1])[:LIMIT]
    crash = getattr(report.longrepr, "reprcrash", None)
    return "", _plain(crash.message if crash else str(report.longrepr))[:LIMIT]


def _words(error: BaseException) -> str:
    try:
        return _plain(str(error))[:LIMIT]
    except Exception:  # whatever a project's exception does when it is shown
        return ""


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
