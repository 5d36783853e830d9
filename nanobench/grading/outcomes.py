"""From the lines that a reporter left to one outcome a test. The lines are hostile: code under test can write them.

A report that breaks a bound or a rule is not believed at all: its suite's tests are absent, so none passes. The one
exception is a last line that is cut: that is how a crash looks, and what came before it counts.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import cast

from attrs import define, field, frozen

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.grading.seal import unsealed
from nanobench.model.result import Failure, Outcome
from nanobench.store.plain_file import read_below

MAX_REPORT = 64 << 20
MAX_LINE = 64 << 10
MAX_TESTS = 1_000_000
MAX_ID = 16 << 10
MAX_WORDS = 2000

SEVERITY = (
    Outcome.PASSED,
    Outcome.XPASSED,
    Outcome.XFAILED,
    Outcome.SKIPPED,
    Outcome.FAILED,
    Outcome.ERROR,
)
"""From best to worst. A test that was reported more than once has its worst outcome."""


@frozen(kw_only=True)
class Report:
    """One suite's report: by node id. ``end`` is the runner's own exit status, ``None`` when it never said.

    ``damage`` says why the report was not believed; then it is empty.
    """

    outcomes: dict[str, Outcome] = field(factory=dict)
    failures: dict[str, Failure] = field(factory=dict)
    end: int | None = None
    damage: str | None = None


def read_report(path: Path, key: bytes) -> Report:
    """The report at ``path``, which code under test may have replaced by anything; a missing one is empty.

    Args:
        key: the first key of its seals.
    """
    try:
        data = read_below(path.parent, path.name, limit=MAX_REPORT)
    except FileNotFoundError:
        return Report()
    except OSError as error:
        return Report(damage=f"the report cannot be read: {error.strerror}")
    lines, wrong = unsealed(data, key)
    return parse_report(lines) if wrong is None else Report(damage=f"line {wrong} of the report: not our reporter's")


def parse_report(data: bytes) -> Report:
    """The report in ``data``: one JSON object a line, as :mod:`.reporter.nanobench_reporter` writes them."""
    if len(data) > MAX_REPORT:
        return Report(damage=f"the report is over {MAX_REPORT} bytes")
    reading = _Reading()
    for number, line in enumerate(io.BytesIO(data), 1):
        if not line.endswith(b"\n"):
            break
        problem = reading.line(line[:-1])
        if problem:
            return Report(damage=f"line {number} of the report: {problem}")
    return Report(outcomes=reading.outcomes, failures=reading.failures, end=reading.end)


@define
class _Reading:
    outcomes: dict[str, Outcome] = field(factory=dict)
    failures: dict[str, Failure] = field(factory=dict)
    end: int | None = None

    def line(self, line: bytes) -> str | None:
        """Take one line; what is wrong with it."""
        if len(line) > MAX_LINE:
            return f"over {MAX_LINE} bytes"
        if self.end is not None:
            return "something after the end"
        try:
            document = json.parse(line, where="report")
        except Refused as refusal:
            return refusal.message
        if document.keys() == {"end"}:
            return self._end(document["end"])
        return self._test(document)

    def _end(self, status: object) -> str | None:
        if type(status) is not int or not 0 <= status <= 255:
            return "no exit status"
        self.end = status
        return None

    def _test(self, document: dict[str, object]) -> str | None:
        wanted, more = {"id", "outcome"}, {"type", "message"}
        if document.keys() not in (wanted, wanted | more) or not all(type(v) is str for v in document.values()):
            return "not the keys and types of a test"
        texts = cast(dict[str, str], document)
        test, spelled = texts["id"], texts["outcome"]
        if not 0 < len(test) <= MAX_ID or (test not in self.outcomes and len(self.outcomes) >= MAX_TESTS):
            return "an empty or overlong id, or too many tests"
        outcome = next((o for o in SEVERITY if o.value == spelled), None)
        if outcome is None:
            return f"{spelled[:40]!r} is no outcome"
        self._record(test, outcome, texts)
        return None

    def _record(self, test: str, outcome: Outcome, texts: dict[str, str]) -> None:
        before = self.outcomes.get(test, Outcome.PASSED)
        self.outcomes[test] = max(before, outcome, key=SEVERITY.index)
        if "type" in texts and test not in self.failures:
            self.failures[test] = Failure(type=texts["type"][:MAX_WORDS], message=texts["message"][:MAX_WORDS])
