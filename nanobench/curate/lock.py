"""From a task's specs to its lock: resolve, build, derive, run, judge. Locks are written when every gate passed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from attrs import frozen

from nanobench.curate.environment import lock_environment
from nanobench.curate.harness import keep_or_lock_harness
from nanobench.curate.judge import Judged, judge_all
from nanobench.curate.rebuild import rebuild
from nanobench.curate.source import lock_source
from nanobench.curate.trials import known_trial, remember_trial
from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.gates.interface import Case
from nanobench.grading.locked import arena_of
from nanobench.image.environment import BuiltEnvironment
from nanobench.image.solution import solution_of
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import (
    LOCK_REVISION,
    LOCK_VERSION,
    RECIPE,
    EnvironmentLock,
    HarnessLock,
    LockedSource,
    Reference,
    TaskLock,
)
from nanobench.model.task import GitSource, Task
from nanobench.model.upstream import LockedUpstream
from nanobench.project.files import L, Project, Spec
from nanobench.scoring.derive import derive_tests
from nanobench.sources.interface import Source

INPUTS = ("source", "debian", "python", "node", "harness", "recipe")
"""What ``--upgrade-input`` can name; ``--upgrade`` names all."""


@frozen(kw_only=True)
class Specs:
    """What a curator wrote about one task."""

    task: Spec[Task]
    environment: Spec[Environment]
    statement: bytes


@frozen(kw_only=True)
class LockOutcome:
    """What locking came to. ``written`` names the files whose bytes changed (or would, in a dry run)."""

    task: str
    judged: tuple[Judged, ...]
    lock: TaskLock
    written: tuple[str, ...]


def lock_task(
    project: Project,
    task_id: str,
    *,
    upgrade: Collection[str],
    online: Online | None,
    bench: Workbench,
    dry_run: bool = False,
) -> LockOutcome:
    """Lock a task.

    Raises:
        Refused: ``NB_GATE_FAILED`` with every gate's reasons; nothing is written then. ``NB_RECIPE`` when a lock was
            made by another recipe and ``upgrade`` does not name it.
    """
    task = project.task(task_id)
    environment = project.environment(task.value.environment)
    specs = Specs(task=task, environment=environment, statement=project.statement(task_id))
    # The source first: it is what most often cannot be had.
    old_task = _old(project, TaskLock, task_id, upgrade) if isinstance(task.value.source, GitSource) else None
    source, upstream = lock_source(task, old_task, upgrade=upgrade, online=online, bench=bench)
    old = _old(project, EnvironmentLock, environment.value.name, upgrade)
    environment_lock, layers = lock_environment(
        environment, old, source=source, upgrade=upgrade, online=online, bench=bench
    )
    _check_reproduced(old, environment_lock)
    old_harness = _old(project, HarnessLock, task.value.harness, upgrade)
    harness, closure = keep_or_lock_harness(
        task.value.harness, old_harness, upgrade=upgrade, online=online, bench=bench
    )
    case = _case(specs, source, layers, harness, closure, bench)
    judged = judge_all(case)
    _check_gates(task_id, judged)
    for patch, trial in ((b"", case.base), (case.change.golden, case.golden)):
        remember_trial(case.arena, case.image, patch, trial, store=bench.store)
    lock = _task_lock(specs, case, judged, environment_lock, upstream)
    written = [
        *_write(project, environment.value.name, environment_lock, dry_run=dry_run),
        *_write(project, task.value.harness, harness, dry_run=dry_run),
        *_write(project, task_id, lock, dry_run=dry_run),
    ]
    return LockOutcome(task=task_id, judged=judged, lock=lock, written=tuple(written))


def _case(
    specs: Specs, source: Source, layers: BuiltEnvironment, harness: HarnessLock, closure: Path, bench: Workbench
) -> Case:
    task, environment = specs.task.value, specs.environment.value
    image = build_task(source, layers, bench=bench)
    change = solution_of(task, source, image, bench=bench)
    arena = arena_of(task, image, change, limits=environment.limits, env=environment.env, bench=bench)
    return Case(
        task=task,
        environment=environment,
        documents={"task": specs.task.document, "environment": specs.environment.document},
        statement=specs.statement,
        harness=harness,
        closure=closure,
        image=image,
        change=change,
        arena=arena,
        base=known_trial(arena, image, b"", name="base", bench=bench),
        golden=known_trial(arena, image, change.golden, name="golden patch", bench=bench),
        bench=bench,
        rebuild=lambda: rebuild(source, layers, bench=bench),
    )


def _old(project: Project, kind: type[L], name: str, upgrade: Collection[str]) -> L | None:
    if not project.has_lock(kind, name):
        return None
    lock = project.lock(kind, name).value
    if lock.recipe != RECIPE and "recipe" not in upgrade:
        raise Refused(
            "NB_RECIPE",
            f"made by recipe {lock.recipe}; this program's is {RECIPE}, which gives other bytes",
            where=project.name(project.lock_path(kind, name)),
            hint="nanobench lock --upgrade-input recipe, in a commit of its own",
        )
    return lock


def _check_reproduced(old: EnvironmentLock | None, new: EnvironmentLock) -> None:
    """The same pins and recipe must give the same layers; anything else is a fault to look at, not to lock."""
    if old is None or (old.package, old.recipe, old.source_date_epoch) != (
        new.package,
        new.recipe,
        new.source_date_epoch,
    ):
        return
    differing = tuple(
        f"layer {b.role}: built {b.diff_id}, locked {a.diff_id}"
        for a, b in zip(old.layer, new.layer, strict=False)
        if a != b
    )
    if differing:
        raise Refused(
            "NB_IMAGE_DIFFERS",
            "the same pins gave other layers than the locked ones",
            where=f"locks/environments/{old.name}.lock.toml",
            details=differing,
            hint="`nanobench store verify` looks for damage in the store",
        )


def _check_gates(task_id: str, judged: tuple[Judged, ...]) -> None:
    failed = [j for j in judged if j.finding.verdict != "pass"]
    if failed:
        raise Refused(
            "NB_GATE_FAILED",
            f"{len(failed)} of {len(judged)} gates did not pass; no lock was written",
            where=f"tasks/{task_id}",
            details=tuple(line for j in judged for line in j.lines()),
            hint="mend what is named above, then lock again",
        )


def _task_lock(
    specs: Specs,
    case: Case,
    judged: tuple[Judged, ...],
    environment_lock: EnvironmentLock,
    upstream: LockedUpstream | None,
) -> TaskLock:
    task = case.task
    where = f"tasks/{task.id}/task.toml"
    return TaskLock(
        version=LOCK_VERSION,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        task=task.id,
        spec_sha256=specs.task.sha256,
        environment=Reference(name=task.environment, sha256=sha256_hex(dump_lock(environment_lock))),
        harness=Reference(name=task.harness, sha256=sha256_hex(dump_lock(case.harness))),
        source=LockedSource(
            commit=case.image.repository.commit,
            tree=case.image.repository.tree,
            golden_patch_sha256=sha256_hex(case.change.golden),
            test_patch_sha256=sha256_hex(case.change.test),
            statement_sha256=sha256_hex(case.statement),
            required_files=task.required_files or case.change.source_files,
            test_files=case.change.test_files,
            upstream=upstream,
        ),
        image=case.image.locked(),
        limits=case.environment.limits,
        env=case.environment.env,
        tests=derive_tests(
            case.base.grading.outcomes, case.golden.grading.outcomes, quarantine=task.quarantine, where=where
        ),
        gate=tuple(j.verdict for j in judged),
        original=specs.task.document,
    )


def _write(project: Project, name: str, lock: L, *, dry_run: bool) -> tuple[str, ...]:
    path = project.lock_path(type(lock), name)
    if dry_run:
        changed = not path.is_file() or path.read_bytes() != dump_lock(lock)
    else:
        changed = project.write_lock(name, lock)
    return (project.name(path),) if changed else ()
