"""What a gate looks at, and what it answers: a verdict, evidence that is the same on every machine, a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from attrs import frozen

from nanobench.gates.tools import Tools
from nanobench.grading.trial import Arena, Trial
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.fields import Document
from nanobench.model.lock import HarnessLock, LockedImage, SourcePins, Verdict
from nanobench.model.task import Task
from nanobench.scoring.derive import stayed_green, turned_green
from nanobench.sources.change import Change


@frozen(kw_only=True)
class Case:
    """A task with everything that was made of it.

    ``cutoff`` is the dataset's, for a merged change; ``pins`` what its source resolved to; ``tokens`` the estimate
    over its required files. ``rebuild`` builds the image again from an empty build cache.
    """

    task: Task
    environment: Environment
    documents: dict[str, Document]
    statement: bytes
    cutoff: str | None
    pins: SourcePins | None
    tokens: int
    tools: Tools
    harness: HarnessLock
    closure: Path
    image: BuiltTask
    change: Change
    arena: Arena
    base: Trial
    golden: Trial
    bench: Workbench
    rebuild: Callable[[], LockedImage]

    @property
    def required_files(self) -> tuple[str, ...]:
        """The files that a correct change must touch."""
        return self.task.required_files or self.change.source_files

    @property
    def targets(self) -> tuple[str, ...]:
        """The tests that must turn green; none where there is no telling the solution from the base."""
        return turned_green(self.base.grading.outcomes, self.golden.grading.outcomes, quarantine=self.task.quarantine)

    @property
    def kept(self) -> tuple[str, ...]:
        """The tests that must stay green."""
        return stayed_green(self.base.grading.outcomes, self.golden.grading.outcomes, quarantine=self.task.quarantine)


@frozen(kw_only=True)
class Finding:
    """A gate's answer. ``evidence`` holds no time, path or name of this machine; ``reasons`` and ``remedy`` are words
    for the curator when it did not pass."""

    verdict: Verdict
    evidence: Document
    reasons: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a curator should look at although it stops nothing: part of the evidence, so recalled with it."""
        return tuple(self.evidence.get(WARNINGS, ()))


WARNINGS = "warnings"
"""Where evidence keeps them."""


class Gate(Protocol):
    """One check."""

    name: str

    def check(self, case: Case) -> Finding:
        """Look at the case and answer; an exception is not an answer but a fault of the machine or of ours."""


def judged(evidence: Document, reasons: tuple[str, ...], remedy: str) -> Finding:
    """Pass when there is no reason against it, fail otherwise."""
    return Finding(verdict="fail" if reasons else "pass", evidence=evidence, reasons=reasons, remedy=remedy)


def not_asked(why: str) -> Finding:
    """A pass without a question: the gate's rule is about other kinds of tasks, and the evidence says so."""
    return Finding(verdict="pass", evidence={"asked": False, WARNINGS: [f"not asked: {why}"]})
