"""Everything that is shown of one cell: read from the bundle's raw files, and bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from attrs import define, frozen

from nanobench.bundle.read import Bundle
from nanobench.bundle.write import blob_name
from nanobench.formats.documents import read_json
from nanobench.gateway.trajectory import Step, ToolUse, trajectory
from nanobench.gateway.transcript import read_transcript
from nanobench.model.lock import TaskLock
from nanobench.model.result import CellResult, GradingRecord, Outcome
from nanobench.project.files import Project
from nanobench.report.rows import Row
from nanobench.scoring.score import passes
from nanobench.scoring.taxonomy import RULES

MOST_TEXT = 12_000
"""Characters of one text."""

MOST_OF_CELL = 600_000
"""Characters of all texts of one cell."""

MOST_STEPS = 500
MOST_TESTS = 500

LEVELS = {
    "1": "structural: files changed against required files",
    "2": "outcome: test counts",
    "3": "process: how the run ended",
    "4": "content: what an error says, the least certain",
    "1+2": "structural and outcome: files changed, test counts",
}


@frozen(kw_only=True)
class Shown:
    """A text, or its beginning: ``length`` characters is what there is of it."""

    text: str
    length: int

    @property
    def cut(self) -> bool:
        """Is it not shown whole?"""
        return len(self.text) < self.length


@define
class Allowance:
    """What may still be shown of a cell."""

    left: int = MOST_OF_CELL

    def show(self, text: str, most: int = MOST_TEXT) -> Shown:
        """As much of the text as may be shown."""
        part = text[: min(most, self.left)]
        self.left -= len(part)
        return Shown(text=part, length=len(text))


@frozen(kw_only=True)
class ShownCall:
    """A tool call: its name, its arguments, its result (None: none was told)."""

    name: str
    arguments: Shown
    result: Shown | None


@frozen(kw_only=True)
class ShownStep:
    """One step: what was told to the model and by whom, what it said and called, and how the exchange went."""

    step: Step
    told: tuple[tuple[str, Shown], ...]
    said: Shown
    calls: tuple[ShownCall, ...]

    @property
    def tools(self) -> list[tuple[str, int]]:
        """The names of what it called, in order, and how often in a row."""
        return [(name, len(list(calls))) for name, calls in groupby(self.calls, key=lambda call: call.name)]


@frozen(kw_only=True)
class Tests:
    """Per-test outcomes: of the target tests, and of those that had to stay green and did not; both bounded."""

    targets: tuple[tuple[str, Outcome], ...]
    broken: tuple[tuple[str, Outcome], ...]
    target_count: int
    broken_count: int
    kept_count: int


@frozen(kw_only=True)
class Detail:
    """One cell as its page shows it. ``statement`` is None where the project here does not have the locked one."""

    row: Row
    result: CellResult
    lock: TaskLock
    statement: Shown | None
    steps: tuple[ShownStep, ...]
    more_steps: bool
    patch: Shown
    tests: Tests | None

    @property
    def other_files(self) -> tuple[str, ...]:
        """The changed files that are not required ones."""
        return tuple(sorted(set(self.result.files_changed) - set(self.lock.source.required_files)))

    @property
    def rule(self) -> str | None:
        """The words of the rule that gave the label."""
        number = self.result.failure.rule if self.result.failure else None
        return next((rule.words for rule in RULES if rule.number == number), None)

    @property
    def level(self) -> str | None:
        """What the level of the label rests on."""
        level = self.result.failure.level if self.result.failure else None
        return LEVELS[level] if level else None


def detail(row: Row, bundle: Bundle, lock: TaskLock, project: Project | None) -> Detail:
    """What is shown of a row that has a result; ``lock`` is its task's.

    Raises:
        Refused: a raw file is missing, changed, or not what it should be.
    """
    assert row.result is not None
    allowance = Allowance()
    statement = project.locked_statement(lock) if project else None
    steps = list(islice(_steps(bundle, row.result.blobs.transcript), MOST_STEPS + 1))
    return Detail(
        row=row,
        result=row.result,
        lock=lock,
        statement=None if statement is None else allowance.show(_text(statement)),
        patch=allowance.show(_text(bundle.blob(row.result.blobs.patch)), most=10 * MOST_TEXT),
        tests=_tests(bundle, row.result, lock),
        steps=tuple(_shown(step, allowance) for step in steps[:MOST_STEPS]),
        more_steps=len(steps) > MOST_STEPS,
    )


def _steps(bundle: Bundle, transcript: str) -> Iterator[Step]:
    bundle.blob(transcript)  # its bytes are what the manifest says
    return trajectory(read_transcript(bundle.root / blob_name(transcript)))


def _shown(step: Step, allowance: Allowance) -> ShownStep:
    return ShownStep(
        step=step,
        told=tuple((heard.role, allowance.show(heard.text)) for heard in step.told),
        said=allowance.show(step.said),
        calls=tuple(_call(use, allowance) for use in step.uses),
    )


def _call(use: ToolUse, allowance: Allowance) -> ShownCall:
    result = None if use.result is None else allowance.show(use.result)
    return ShownCall(name=use.call.name, arguments=allowance.show(use.call.arguments), result=result)


def _tests(bundle: Bundle, result: CellResult, lock: TaskLock) -> Tests | None:
    if result.blobs.outcomes is None:
        return None
    where = f"{result.cell.id}: outcomes"
    outcomes = read_json(bundle.blob(result.blobs.outcomes), GradingRecord, where=where).outcomes
    broken = [test for test in lock.tests.pass_to_pass if not passes(outcomes, test)]
    return Tests(
        targets=_outcomes(outcomes, lock.tests.fail_to_pass),
        broken=_outcomes(outcomes, broken),
        target_count=len(lock.tests.fail_to_pass),
        broken_count=len(broken),
        kept_count=len(lock.tests.pass_to_pass),
    )


def _outcomes(outcomes: dict[str, Outcome], tests: Sequence[str]) -> tuple[tuple[str, Outcome], ...]:
    return tuple((test, outcomes.get(test, Outcome.ABSENT)) for test in sorted(tests)[:MOST_TESTS])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
