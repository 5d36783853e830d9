"""Reads a task's locks and refuses what is stale, with every reason at once; used by all verbs that run or build."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.formats.digest import sha256_hex
from nanobench.gates.tools import TOOLS
from nanobench.harness.contract import contract_of
from nanobench.image.keep import kept_by, kept_by_harness
from nanobench.model.lock import EnvironmentLock, HarnessLock, TaskLock
from nanobench.project.context import context_sha256
from nanobench.project.files import L, Locked, Project, read_lock_file
from nanobench.project.stale import age, environment_reasons, files_reasons, reference_reason, task_reasons
from nanobench.runner.stage import LockedTask
from nanobench.sources.vendored_files import locked_files
from nanobench.store.store import Store


def stale_reasons(project: Project, lock: TaskLock) -> tuple[str, ...]:
    """Every reason why a task's lock is not current for the project's specs. Reads files, and nothing else."""
    task = project.task(lock.task)
    environment = project.environment(task.value.environment)
    fixture = lock.source.vendored is not None
    files = locked_files(project.folder(lock.task), where=f"tasks/{lock.task}").file if fixture else ()
    reasons = [
        *task_reasons(
            lock,
            document=task.document,
            statement_sha256=sha256_hex(project.statement(lock.task)),
            environment=environment.value,
            cutoff=project.cutoff(),
        ),
        *files_reasons(lock, files),
        *reference_reason(lock.environment, "environments", _sha256(project, EnvironmentLock, lock.environment.name)),
        *reference_reason(lock.harness, "harness", _sha256(project, HarnessLock, lock.harness.name)),
    ]
    if project.has_lock(EnvironmentLock, environment.value.name):
        shared = project.lock(EnvironmentLock, environment.value.name).value
        reasons += environment_reasons(shared, environment.document, context_sha256(environment))
    if project.has_lock(HarnessLock, lock.harness.name):
        reasons += harness_reasons(project.lock(HarnessLock, lock.harness.name).value)
    return tuple(reasons)


def harness_reasons(lock: HarnessLock) -> tuple[str, ...]:
    """Every reason why a harness's lock is not current for this program."""
    where = f"locks/harness/{lock.name}.lock.toml"
    try:
        contract_of(lock)
    except NanobenchError as error:
        return (f"{where}: {error.message}", *age(where, lock))
    return age(where, lock)


def current(project: Project, task_id: str, *, lock_file: Path | None = None) -> LockedTask:
    """A task's locks, current for its specs.

    Args:
        lock_file: another task lock to use in place of the project's.

    Raises:
        Refused: ``NB_LOCK_STALE`` listing every reason.
        CannotTell: ``NB_LOCK_MISSING``.
    """
    if lock_file is None:
        found = project.lock(TaskLock, task_id)
    else:
        found = read_lock_file(lock_file, TaskLock, where=str(lock_file))
    where = project.name(found.path)
    if found.value.task != task_id:
        raise Refused(
            "NB_LOCK_OTHER", f"locks the task {found.value.task!r}, not {task_id!r}", where=f"{where}: task"
        )
    reasons = stale_reasons(project, found.value)
    if reasons:
        raise Refused(
            "NB_LOCK_STALE", "the lock is not current", where=where, details=reasons, hint=f"nanobench lock {task_id}"
        )
    environment = project.lock(EnvironmentLock, found.value.environment.name)
    harness = project.lock(HarnessLock, found.value.harness.name)
    statement = project.statement(task_id).decode("utf-8")
    return LockedTask(
        task=found, environment=environment, harness=harness, statement=statement, folder=project.folder(task_id)
    )


@contextmanager
def of_task(task_id: str) -> Iterator[None]:
    """Names the task in the remedy when something of it is missing offline."""
    with brought_by(f"nanobench fetch {task_id}"):
        yield


@contextmanager
def brought_by(command: str) -> Iterator[None]:
    """Names the command in the remedy when something that it brings is missing offline."""
    try:
        yield
    except CannotTell as error:
        if error.code == "NB_OFFLINE":
            error.hint = f"run `{command}` with network first, or leave out --offline"
        raise


def keep(locked: LockedTask, store: Store) -> None:
    """Tell the store what the locks reach, so that it keeps it."""
    tools = (tool.digest for tool in TOOLS)
    store.register_root(locked.task.path, (*kept_by(locked.locks), *tools))
    keep_harness(locked.harness, store)


def keep_harness(locked: Locked[HarnessLock], store: Store) -> None:
    """Tell the store what a harness lock reaches, so that it keeps it."""
    store.register_root(locked.path, kept_by_harness(locked.value))


def _sha256(project: Project, kind: type[L], name: str) -> str | None:
    path = project.lock_path(kind, name)
    return sha256_hex(path.read_bytes()) if path.is_file() else None
