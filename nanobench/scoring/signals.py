"""What is told beside a failure label and never is one: docs/rules.md defines each. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import normpath

from attrs import frozen

from nanobench.harness.report import Report
from nanobench.model.label import Landmarks, Signal
from nanobench.model.lock import LockedSource
from nanobench.model.result import Cause
from nanobench.model.task import PathRules
from nanobench.sandbox.interface import WORKSPACE
from nanobench.scoring.landmarks import touched
from nanobench.sources.kinds import kind_of
from nanobench.sources.patch import Section, paths_of
from nanobench.sources.quoting import display

_SHELL = "execute_bash"
_FAILED = re.compile(r"EXIT_CODE: (?!0\n)|Error: Command timed out")
_FENCE = "```"


@frozen(kw_only=True)
class Traces:
    """What an agent left behind: how it ended, its patch's parts, its report if there is one; and the task's side."""

    cause: Cause
    parts: tuple[Section, ...]
    report: Report | None
    source: LockedSource
    rules: PathRules
    landmarks: Landmarks

    @property
    def required(self) -> tuple[Section, ...]:
        """The parts that change required files."""
        return tuple(part for part in self.parts if display(part.path) in self.source.to_change)


def signals_of(traces: Traces) -> tuple[Signal, ...]:
    """Everything that shows in what the agent left."""
    return tuple(signal for signal, shows in _SIGNALS.items() if shows(traces))


def _tests_left_alone(traces: Traces) -> bool:
    tests = any(kind_of(part.path, traces.rules) == "test" for part in traces.parts)
    return bool(traces.source.test_files and traces.required) and not tests


def _other_functions(traces: Traces) -> bool:
    changed = {path for path, all_ in traces.landmarks.functions.items() if any(each.changed for each in all_)}
    parts = [part for part in traces.required if display(part.path) in changed]
    found = [each for part in parts for each in touched(traces.landmarks.functions[display(part.path)], part)]
    return bool(found) and not any(each.changed for each in found)


def _command_failed_last(traces: Traces) -> bool:
    calls = traces.report.toolCalls if traces.report else ()
    results = [call.result or "" for call in calls if call.name == _SHELL]
    return bool(results) and _FAILED.match(results[-1]) is not None


def _told_and_not_done(traces: Traces) -> bool:
    if traces.cause is not Cause.FINISHED or traces.report is None or traces.parts or not traces.source.to_change:
        return False
    said = traces.report.finalText
    return _FENCE in said or any(path in said for path in traces.source.to_change)


def _reported_otherwise(traces: Traces) -> bool:
    if traces.report is None:
        return False
    reported = {normpath(path).removeprefix(f"{WORKSPACE}/") for path in traces.report.filesChanged}
    return reported != set(paths_of(traces.parts))


_SIGNALS: dict[Signal, Callable[[Traces], bool]] = {
    "test_not_updated": _tests_left_alone,
    "correct_file_wrong_function": _other_functions,
    "environment_agency_failure": _command_failed_last,
    "narrated_without_edit": _told_and_not_done,
    "reported_files_differ": _reported_otherwise,
}
