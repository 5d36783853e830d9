"""The lock that a task's pins, built and judged, amount to. Locking writes it; verification compares with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.online import Online
from nanobench.formats.converter import structure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.gates.interface import Case
from nanobench.gates.judge import Judged
from nanobench.gates.tokens import count_tokens
from nanobench.gates.tools import Tools, realise_tools
from nanobench.grading.known import known_trial, remember_trial
from nanobench.grading.locked import arena_of
from nanobench.harness.realise import realise_closure
from nanobench.image.environment import BuiltEnvironment
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.rebuild import rebuild
from nanobench.image.solution import solution_of
from nanobench.image.sources import bring
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.fields import Document
from nanobench.model.fixture import LockedFiles
from nanobench.model.lock import (
    LOCK_REVISION,
    LOCK_VERSION,
    RECIPE,
    EnvironmentLock,
    HarnessLock,
    LockedSource,
    Reference,
    SourcePins,
    TaskLock,
)
from nanobench.model.task import Task
from nanobench.model.upstream import LockedUpstream
from nanobench.scoring.derive import derive_tests
from nanobench.sources.interface import Source


@frozen(kw_only=True)
class Inputs:
    """What is judged: the parsed specs with their documents, the statement, the source with its files in the store
    and what it was resolved to, the environment's layers, the agent's closure; the cutoff (of a merged change), and
    the gates' own tools."""

    task: Task
    environment: Environment
    documents: dict[str, Document]
    statement: bytes
    cutoff: str | None
    source: Source
    pins: SourcePins | None
    layers: BuiltEnvironment
    environment_lock: EnvironmentLock
    harness: HarnessLock
    closure: Path
    tools: Tools


def locked_inputs(
    locks: Locks, harness: HarnessLock, statement: bytes, *, online: Online | None, bench: Workbench
) -> Inputs:
    """What locks pin, to be judged once more.

    Raises:
        Refused: what is pinned does not give what is locked.
        CannotTell: a pinned file is missing and may not or cannot be fetched.
    """
    lock, environment = locks.task, locks.environment
    where = f"locks/environments/{environment.name}.lock.toml: original"
    layers = realise_environment(environment, online=online, bench=bench)
    bring(locks.source, bench.store, online=online, say=bench.say, progress=bench.fetched)
    return Inputs(
        task=locks.spec,
        environment=structure(environment.original, Environment, where=where),
        documents={"task": lock.original, "environment": environment.original},
        statement=statement,
        cutoff=lock.cutoff,
        source=locks.source,
        pins=lock.source.pins,
        layers=layers,
        environment_lock=environment,
        harness=harness,
        closure=realise_closure(harness, online=online, bench=bench),
        tools=realise_tools(online=online, bench=bench),
    )


def case_of(inputs: Inputs, *, bench: Workbench, afresh: bool = False) -> Case:
    """Build the image, derive the patches, and run the tests in both states (or, unless ``afresh``, recall what came
    of them)."""
    task, environment = inputs.task, inputs.environment
    image = build_task(inputs.source, inputs.layers, bench=bench)
    change = solution_of(task, inputs.source, image, bench=bench)
    arena = arena_of(task, image, change, limits=environment.limits, env=environment.env, bench=bench)
    required = task.required_files or change.source_files
    trial = partial(known_trial, arena, image, bench=bench, afresh=afresh)
    return Case(
        task=task,
        environment=environment,
        documents=inputs.documents,
        statement=inputs.statement,
        cutoff=inputs.cutoff,
        pins=inputs.pins,
        tokens=count_tokens(image.workspace, required, vocabulary=inputs.tools.vocabulary),
        tools=inputs.tools,
        harness=inputs.harness,
        closure=inputs.closure,
        image=image,
        change=change,
        arena=arena,
        base=trial(b"", name="base"),
        golden=trial(change.golden, said=change.said, name="golden patch"),
        bench=bench,
        rebuild=lambda: rebuild(inputs.source, inputs.layers, bench=bench),
    )


def remember_trials(case: Case) -> None:
    """What came of both states is known from now on; to be called when every gate passed."""
    arena, image, change, store = case.arena, case.image, case.change, case.bench.store
    remember_trial(arena, image, b"", case.base, store=store)
    remember_trial(arena, image, change.golden, case.golden, said=change.said, store=store)


def lock_of(inputs: Inputs, case: Case, judged: tuple[Judged, ...]) -> TaskLock:
    """The task's lock, every field derived.

    Raises:
        Refused: ``NB_NO_TARGET``, ``NB_QUARANTINE``.
    """
    task, document = inputs.task, inputs.documents["task"]
    return TaskLock(
        version=LOCK_VERSION,
        revision=LOCK_REVISION,
        recipe=RECIPE,
        task=task.id,
        cutoff=inputs.cutoff,
        spec_sha256=document_sha256(document),
        environment=Reference(name=task.environment, sha256=sha256_hex(dump_lock(inputs.environment_lock))),
        harness=Reference(name=task.harness, sha256=sha256_hex(dump_lock(case.harness))),
        source=LockedSource(
            commit=case.image.repository.commit,
            tree=case.image.repository.tree,
            golden_patch_sha256=sha256_hex(case.change.golden),
            test_patch_sha256=sha256_hex(case.change.test),
            statement_sha256=sha256_hex(case.statement),
            required_files=case.required_files,
            token_estimate=case.tokens,
            test_files=case.change.test_files,
            upstream=inputs.pins if isinstance(inputs.pins, LockedUpstream) else None,
            vendored=inputs.pins if isinstance(inputs.pins, LockedFiles) else None,
        ),
        image=case.image.locked(),
        limits=case.environment.limits,
        env=case.environment.env,
        tests=derive_tests(
            case.base.grading.outcomes,
            case.golden.grading.outcomes,
            quarantine=task.quarantine,
            where=f"tasks/{task.id}/task.toml",
        ),
        gate=tuple(j.verdict for j in judged),
        original=document,
    )
