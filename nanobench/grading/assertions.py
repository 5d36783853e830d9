"""The assertions of a fixture: one outcome each, under the id ``name|type``.

What needs the graded tree is a command in the sealed sandbox, so that nothing of the host ever opens a file of the
agent's: a link, a pipe or an endless file there costs no more than the command's time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from attrs import frozen

from nanobench.grading.suites import Grader, Grading, starved_in
from nanobench.model.fixture import AnswerAssertion, Assertion, ExitAssertion, FileAssertion, UnchangedAssertion
from nanobench.model.result import GradingRecord, Outcome, SuiteEnd
from nanobench.sandbox.interface import Ended
from nanobench.sources.question import heard


@frozen(kw_only=True)
class Claim:
    """What an agent left beside the tree: its patch and its final text (None: it came to none); and the right
    answer."""

    patch: bytes
    said: str | None
    answer: str | None


def assert_all(assertions: Iterable[Assertion], claim: Claim, grader: Grader, workspace: Path) -> Grading:
    """Check every assertion, in order, in the graded workspace.

    Raises:
        MachineFailure: the sandbox could not be started, or the run was interrupted.
    """
    outcomes: dict[str, Outcome] = {}
    ends: list[SuiteEnd] = []
    outputs: list[bytes] = []
    starved: list[str] = []
    for assertion in assertions:
        if isinstance(assertion, AnswerAssertion):
            held = claim.answer is not None and heard(claim.said or "") == claim.answer
        elif isinstance(assertion, UnchangedAssertion):
            held = not claim.patch
        elif isinstance(assertion, FileAssertion) and _through_a_link(workspace, assertion.path):
            held = False
        else:
            held, tried = _tried(_command(assertion), grader, workspace)
            ends += tried.record.suite
            outputs.append(tried.output)
            starved += tried.starved
        outcomes[f"{assertion.name}|{assertion.type}"] = Outcome.PASSED if held else Outcome.FAILED
    record = GradingRecord(schema=1, suite=tuple(ends), outcomes=outcomes)
    return Grading(record=record, failures={}, output=b"".join(outputs), starved=tuple(starved))


def _through_a_link(workspace: Path, path: str) -> bool:
    """Whether a link stands on the way: its end is no file of the tree, and /proc tells grep its own pattern."""
    places = (PurePosixPath(path), *PurePosixPath(path).parents)
    return any(os.path.islink(workspace / place) for place in places)  # noqa: PTH114 (never raises)


def _command(assertion: ExitAssertion | FileAssertion) -> ExitAssertion:
    """The command that tells whether a file has a line of the pattern; grep's engine takes linear time for it."""
    if isinstance(assertion, ExitAssertion):
        return assertion
    command = ("grep", "-a", "-q", "-E", "-e", assertion.pattern, "--", assertion.path)
    return ExitAssertion(type="exit", name=assertion.name, command=command)


def _tried(asserted: ExitAssertion, grader: Grader, workspace: Path) -> tuple[bool, Grading]:
    finished, output = grader.command(workspace, asserted.command, name=asserted.name, seconds=asserted.seconds)
    whole = finished.ended is Ended.EXITED
    end = SuiteEnd(name=asserted.name, exit_code=finished.exit_code, ended=finished.ended.value, complete=whole)
    record = GradingRecord(schema=1, suite=(end,), outcomes={})
    tried = Grading(record=record, failures={}, output=output, starved=starved_in(asserted.name, finished))
    return whole and finished.exit_code == asserted.code, tried
