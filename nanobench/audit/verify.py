"""Verification of a published bundle, step by step:

1. **bytes**: every file is there and is what the manifest says; every planned cell has its result and raw files.
2. **lock**: the locks name each other by digest, every gate passed, each result was made from them, and they are the
   ones this project publishes.
3. **derive**: every gate, run again on what the locks pin, passes, and the lock that follows is the same in every
   key: target tests, required files, evidence.
4. **rescore**: every figure of every result follows from its raw files.
5. **retest**: in the image rebuilt from the lock, each patch gives the published outcome of every locked test, and
   the published label; the project's AGENTS.md is in each prompt as the profile says; a script not run has no part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen

from nanobench.audit.derive import derive_again
from nanobench.audit.published import against_project
from nanobench.audit.raw import contract_for, raw_files
from nanobench.audit.rescore import rescore
from nanobench.audit.retest import retest
from nanobench.audit.steps import Step, sorted_out, step
from nanobench.bundle.read import Bundle, open_bundle
from nanobench.ecosystems.online import Online
from nanobench.errors import NanobenchError
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock, TaskLock
from nanobench.model.result import CellResult
from nanobench.project.files import Locked, Project
from nanobench.project.stale import gate_reasons


@frozen(kw_only=True)
class Audit:
    """What an audit may use. ``project`` None: there is nothing to compare the bundle's locks with."""

    project: Project | None
    bench: Workbench
    online: Online | None


def verify(root: Path, audit: Audit) -> tuple[Step, ...]:
    """Verify the bundle in ``root``. A bundle whose index cannot be read has only the step ``bytes``."""
    try:
        bundle = open_bundle(root)
    except NanobenchError as error:
        return (step("bytes", [str(error)]),)
    return (
        step("bytes", dict.fromkeys(bundle.integrity_problems())),
        _step("lock", lambda: _check_locks(bundle, audit)),
        _step("derive", lambda: derive_again(bundle, audit.project, online=audit.online, bench=audit.bench)),
        _step("rescore", lambda: _check_scores(bundle)),
        _step("retest", lambda: retest(bundle, audit.project, online=audit.online, bench=audit.bench)),
    )


def _step(name: str, check: Callable[[], Iterator[str | NanobenchError]]) -> Step:
    """Collects what a check yields; an error that it raises ends it and counts."""
    found: list[str | NanobenchError] = []
    try:
        found.extend(check())
    except NanobenchError as error:
        found.append(error)
    problems, questions = sorted_out(f for f in found if isinstance(f, NanobenchError))
    return step(name, (*(f for f in found if isinstance(f, str)), *problems), questions)


def _check_locks(bundle: Bundle, audit: Audit) -> Iterator[str | NanobenchError]:
    for task in bundle.tasks:
        locked = bundle.task_lock(task)
        bundle.environment_lock(locked.value)
        bundle.harness_lock(locked.value)
        yield from gate_reasons(locked.value)
        yield from against_project(bundle, locked, audit.project)
        for result in bundle.results(task):
            yield from _made_from(result, locked, bundle.run_harness_lock(result.cell.harness))
    for name in sorted(bundle.run.harnesses):
        yield from against_project(bundle, bundle.run_harness_lock(name), audit.project)


def _made_from(result: CellResult, task: Locked[TaskLock], harness: Locked[HarnessLock]) -> Iterator[str]:
    """Where a result names other inputs than the locks of its cell."""
    made_from = {
        "lock_sha256": (result.lock_sha256, task.sha256),
        "image_manifest": (result.image_manifest, task.value.image.manifest_digest),
        "harness_sha256": (result.harness_sha256, harness.sha256),
        "nanocoder": (result.nanocoder, harness.value.nanocoder),
    }
    for key, (says, lock) in made_from.items():
        if says != lock:
            yield f"{result.cell.id}: {key}: the result says {says}, the lock {lock}"


def _check_scores(bundle: Bundle) -> Iterator[str | NanobenchError]:
    for task in bundle.tasks:
        lock = bundle.task_lock(task).value
        for result in bundle.results(task):
            try:
                contract = contract_for(bundle, result)
                problems = rescore(result, lock, bundle.run, raw_files(bundle, result), contract)
                yield from (f"{result.cell.id}: {problem}" for problem in problems)
            except NanobenchError as error:  # what is wrong with one cell hides nothing of the others
                yield error
