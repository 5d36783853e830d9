"""A pytest plugin that says what became of every test: one JSON line a report, written as it comes.

It is loaded with ``-p nanobench_reporter`` inside the sandbox, from a read-only mount, before any plugin or file of
the project; it needs nothing but pytest and the standard library, and runs on Python 3.8 and later. Lines go to
``$NANOBENCH_REPORT``, opened for appending and never buffered, so that a crash keeps what ran; each begins with its
seal (see ``seal.py``, here left out):

    {"id": "tests/test_a.py::test_b[c]", "message": "…", "outcome": "failed", "type": "builtins.ValueError"}
    {"end": 1}

``id`` is pytest's node id. Several lines of one test (phases, subtests) are for the reader to reconcile. ``end`` is
pytest's exit status; it is missing when pytest did not get that far. No durations: they differ from run to run.
Only the pytest that the suite's command started writes: workers of xdist send their reports to it, and a pytest
that a test starts finds the key of the seals taken. A test that raised has not passed, whatever a hook made of its
report.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from hashlib import sha256
from typing import Any

import pytest

LIMIT = 2000


def _open() -> Callable[[dict[str, Any]], None] | None:
    """What writes a sealed line; nothing when somebody was here before."""
    path = os.environ.pop("NANOBENCH_REPORT", "")
    beside = os.path.join(os.path.dirname(path), "key")  # noqa: PTH118, PTH120 (as little as possible is loaded)
    try:
        with open(beside, "rb") as file:  # noqa: PTH123
            key = file.read()
        os.unlink(beside)  # noqa: PTH108
    except OSError:
        return None
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def write(line: dict[str, Any]) -> None:
        nonlocal key
        body = json.dumps(line, sort_keys=True).encode()
        os.write(descriptor, sha256(key + body).hexdigest().encode() + b" " + body + b"\n")
        key = sha256(key).hexdigest().encode()

    return write


_writers = [_open()]
_raised: dict[tuple[str, str], bool] = {}


def pytest_configure(config: Any) -> None:
    """Begin the report, once per suite. The whole suite is run: a first failure says nothing of the other tests."""
    config.option.maxfail = 0
    write = _writers.pop() if _writers else None
    if write:
        config.pluginmanager.register(Reporter(write), "nanobench-report")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Keep the exception's type and words on the report: a report crosses from a worker, an exception does not."""
    result = yield
    _raised[item.nodeid, call.when] = call.excinfo is not None
    if call.excinfo is not None:
        result.get_result().nanobench_error = _said(call.excinfo.value)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: Any) -> Generator[None, Any, None]:
    """Keep them of a file that cannot be collected too: pytest shows a traceback in their place."""
    result = yield
    if result.excinfo is None:
        report = result.get_result()
        raised = getattr(getattr(report, "call", None), "excinfo", None)
        if report.failed and raised is not None:
            told = isinstance(raised.value, collector.CollectError) and raised.value.__cause__
            report.nanobench_error = _said(told or raised.value)


class Reporter:
    """Writes the lines."""

    def __init__(self, write: Callable[[dict[str, Any]], None]) -> None:
        self._line = write

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


def _outcome(report: Any) -> str | None:
    """What this report says about its test; ``None`` for nothing yet."""
    if type(report).__name__.lower() == "subtestreport":
        # A subtest that passed or was skipped leaves the verdict to its test.
        return "failed" if report.failed else None
    if report.outcome not in ("passed", "failed", "skipped"):
        return None  # an attempt that pytest-rerunfailures repeats
    if report.passed and report.when != "call":
        return "error" if _raised.get((report.nodeid, report.when)) else None
    if hasattr(report, "wasxfail") and not report.failed:
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return "error"
    if report.passed and (hasattr(report, "nanobench_error") or _raised.get((report.nodeid, report.when))):
        return "failed"
    return str(report.outcome)


def _error(report: Any) -> tuple[str, str]:
    known = getattr(report, "nanobench_error", None)
    if known:
        return _plain(known[0])[:LIMIT], _plain(known[1])[:LIMIT]
    crash = getattr(report.longrepr, "reprcrash", None)
    return "", _plain(crash.message if crash else str(report.longrepr))[:LIMIT]


def _said(error: BaseException) -> list[str]:
    kind = type(error)
    return [f"{kind.__module__}.{kind.__qualname__}", _words(error)]


def _words(error: BaseException) -> str:
    try:
        return _plain(str(error))[:LIMIT]
    except Exception:  # whatever a project's exception does when it is shown
        return ""


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
