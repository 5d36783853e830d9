"""What a gate looks at, and what it answers: a verdict, evidence that is the same on every machine, a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from attrs import frozen

from nanobench.grading.trial import Arena, Trial
from nanobench.image.task import BuiltTask
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.fields import Document
from nanobench.model.lock import HarnessLock, LockedImage, Verdict
from nanobench.model.task import Task
from nanobench.sources.change import Change


@frozen(kw_only=True)
class Case:
    """A task with everything that was made of it. ``rebuild`` builds the image again from an empty build cache."""

    task: Task
    environment: Environment
    documents: dict[str, Document]
    statement: bytes
    harness: HarnessLock
    closure: Path
    image: BuiltTask
    change: Change
    arena: Arena
    base: Trial
    golden: Trial
    bench: Workbench
    rebuild: Callable[[], LockedImage]


@frozen(kw_only=True)
class Finding:
    """A gate's answer. ``evidence`` holds no time, path or name of this machine; ``reasons`` and ``remedy`` are words
    for the curator when it did not pass."""

    verdict: Verdict
    evidence: Document
    reasons: tuple[str, ...] = ()
    remedy: str = ""


class Gate(Protocol):
    """One check."""

    name: str

    def check(self, case: Case) -> Finding:
        """Look at the case and answer; an exception is not an answer but a fault of the machine or of ours."""


def judged(evidence: Document, reasons: tuple[str, ...], remedy: str) -> Finding:
    """Pass when there is no reason against it, fail otherwise."""
    return Finding(verdict="fail" if reasons else "pass", evidence=evidence, reasons=reasons, remedy=remedy)
