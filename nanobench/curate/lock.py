"""From a task's specs to its lock: resolve, build, derive, run, judge. Locks are written when every gate passed."""

from __future__ import annotations

from collections.abc import Collection

from attrs import frozen

from nanobench.curate.environment import lock_environment
from nanobench.curate.harness import keep_or_lock_harness
from nanobench.curate.lock_files import old_lock, put_lock
from nanobench.curate.source import lock_source
from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.gates.explain import remember_judgement
from nanobench.gates.judge import Judged, judge_all
from nanobench.gates.relock import Inputs, case_of, lock_of, remember_trials
from nanobench.gates.tools import realise_tools
from nanobench.image.workbench import Workbench
from nanobench.model.lock import EnvironmentLock, HarnessLock, LockedImage, TaskLock
from nanobench.model.task import GitSource
from nanobench.project.files import Project

INPUTS = ("source", "base", "python", "node", "step", "harness", "recipe")
"""What ``--upgrade-input`` can name; ``--upgrade`` names all."""


@frozen(kw_only=True)
class LockOutcome:
    """What locking came to. ``written`` names the files whose bytes changed (or would, in a dry run); ``image_bytes``
    is the size of the image's layers."""

    task: str
    judged: tuple[Judged, ...]
    lock: TaskLock
    written: tuple[str, ...]
    image_bytes: int


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
    # Read early: what is wrong with them is said before anything is built.
    project.statement(task_id)
    project.members()
    # The source first: it is what most often cannot be had.
    old_task = old_lock(project, TaskLock, task_id, upgrade) if isinstance(task.value.source, GitSource) else None
    source, pins = lock_source(task, old_task, upgrade=upgrade, online=online, bench=bench)
    old = old_lock(project, EnvironmentLock, environment.value.name, upgrade)
    environment_lock, layers = lock_environment(
        environment, old, source=source, upgrade=upgrade, online=online, bench=bench
    )
    _check_reproduced(old, environment_lock)
    old_harness = old_lock(project, HarnessLock, task.value.harness, upgrade)
    harness, closure = keep_or_lock_harness(
        task.value.harness, old_harness, upgrade=upgrade, online=online, bench=bench
    )
    inputs = Inputs(
        task=task.value,
        environment=environment.value,
        documents={"task": task.document, "environment": environment.document},
        statement=project.statement(task_id),
        cutoff=project.cutoff() if isinstance(task.value.source, GitSource) else None,
        source=source,
        pins=pins,
        layers=layers,
        environment_lock=environment_lock,
        harness=harness,
        closure=closure,
        tools=realise_tools(online=online, bench=bench),
    )
    case = case_of(inputs, bench=bench)
    judged = judge_all(case)
    remember_judgement(task_id, inputs, judged, store=bench.store)
    _check_gates(task_id, judged, case.image.locked())
    remember_trials(case)
    lock = lock_of(inputs, case, judged)
    written = [
        *put_lock(project, environment.value.name, environment_lock, dry_run=dry_run),
        *put_lock(project, task.value.harness, harness, dry_run=dry_run),
        *put_lock(project, task_id, lock, dry_run=dry_run),
    ]
    image_bytes = sum(layer.size for layer in case.image.image.layers)
    return LockOutcome(task=task_id, judged=judged, lock=lock, written=tuple(written), image_bytes=image_bytes)


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


def _check_gates(task_id: str, judged: tuple[Judged, ...], image: LockedImage) -> None:
    failed = [j for j in judged if not j.verdict.admitted(image)]
    if failed:
        raise Refused(
            "NB_GATE_FAILED",
            f"{len(failed)} of {len(judged)} gates did not pass; no lock was written",
            where=f"tasks/{task_id}",
            details=tuple(line for j in judged for line in j.lines()),
            hint="mend what is named above, then lock again",
        )
