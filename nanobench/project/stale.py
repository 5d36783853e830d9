"""Is a lock still the lock of its specs? Pure rules; every reason is named, not only the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nanobench.formats.digest import document_sha256
from nanobench.model.environment import Environment
from nanobench.model.fields import Document
from nanobench.model.fixture import VendoredFile
from nanobench.model.lock import LOCK_REVISION, RECIPE, EnvironmentLock, HarnessLock, Reference, TaskLock

REVISION_GATES: dict[int, tuple[str, ...]] = {
    1: ("schema", "source", "image", "harness", "verification", "hermetic"),
    2: (
        *("schema", "source", "repository", "contamination", "image", "harness", "leak", "verification"),
        *("flakiness", "adequacy", "fairness", "hermetic"),
    ),
}
"""Lock revision → the gates that must have passed. Each later gate raises the revision."""

_SHOWN = 80
"""Characters of a value in a reason."""


def changes(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """Every difference between two documents: ``key[0].path: locked A, now B``."""
    before, now = _parts(old), _parts(new)
    if before is not None and now is not None and type(old) is type(new):
        for key in sorted(before | now) if isinstance(old, dict) else before | now:
            inner = f"{path}{key}".lstrip(".")
            if key not in now:
                yield f"{inner}: locked {_cut(repr(before[key]))}, now absent"
            elif key not in before:
                yield f"{inner}: absent in the lock, now {_cut(repr(now[key]))}"
            else:
                yield from changes(before[key], now[key], inner)
    elif old != new or type(old) is not type(new):
        yield "{}: locked {}, now {}".format(path, *_where_they_differ(repr(old), repr(new)))


def _parts(value: Any) -> dict[str, Any] | None:
    """What a table or an array holds, by the end of its path."""
    if isinstance(value, dict):
        return {f".{key}": item for key, item in value.items()}
    return {f"[{at}]": item for at, item in enumerate(value)} if isinstance(value, list) else None


def _where_they_differ(old: str, new: str) -> tuple[str, str]:
    """Long texts from a little before their first difference on."""
    if max(len(old), len(new)) <= _SHOWN:
        return old, new
    start = max(0, _alike(old, new) - _SHOWN // 2)
    return _cut(old, start), _cut(new, start)


def _alike(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(text: str, start: int = 0) -> str:
    end = start + _SHOWN
    return f"{'…' * (start > 0)}{text[start:end]}{'…' * (end < len(text))}"


def environment_reasons(
    lock: EnvironmentLock, document: Document, context_sha256: str | None = None
) -> tuple[str, ...]:
    """Why an environment lock is stale for its spec's parsed document and the folder that it is built from."""
    where = f"environments/{lock.name}.toml"
    before, now = lock.context_sha256 or "none", context_sha256 or "none"
    return (
        *(f"{where}: {reason}" for reason in changes(lock.original, document)),
        *((f"{where}: base: its folder: locked sha256 {before}, now {now}",) if before != now else ()),
        *_self_reasons(f"locks/environments/{lock.name}.lock.toml", lock),
        *age(f"locks/environments/{lock.name}.lock.toml", lock),
    )


def task_reasons(
    lock: TaskLock, *, document: Document, statement_sha256: str, environment: Environment, cutoff: str
) -> tuple[str, ...]:
    """Why a task lock is stale for its own spec, statement, its environment's limits and the dataset's cutoff."""
    where = f"tasks/{lock.task}"
    reasons = [f"{where}/task.toml: {reason}" for reason in changes(lock.original, document)]
    if lock.source.statement_sha256 != statement_sha256:
        locked = lock.source.statement_sha256
        reasons.append(f"{where}/statement.md: locked sha256 {locked}, now {statement_sha256}")
    if lock.cutoff not in (None, cutoff):
        reasons.append(f"tasks/dataset.toml: cutoff: locked {lock.cutoff}, now {cutoff}")
    if lock.limits != environment.limits:
        reasons.append(f"environments/{environment.name}.toml: limits differ from the locked ones")
    if lock.env != environment.env:
        reasons.append(f"environments/{environment.name}.toml: env differs from the locked one")
    name = f"locks/{lock.task}.lock.toml"
    return (*reasons, *_self_reasons(name, lock), *age(name, lock), *gate_reasons(lock))


def files_reasons(lock: TaskLock, files: Iterable[VendoredFile]) -> tuple[str, ...]:
    """Why a task lock is stale for the files of its fixture: each that came, went, or changed content or mode."""
    before = {file.path: file for file in (lock.source.vendored.file if lock.source.vendored else ())}
    now = {file.path: file for file in files}
    return tuple(
        f"tasks/{lock.task}/{path}: locked {_file(before.get(path))}, now {_file(now.get(path))}"
        for path in sorted(before | now)
        if before.get(path) != now.get(path)
    )


def _file(file: VendoredFile | None) -> str:
    return f"{file.digest} mode {file.mode}" if file else "absent"


def reference_reason(reference: Reference, folder: str, sha256: str | None) -> tuple[str, ...]:
    """Why a reference to another lock does not hold: the lock is missing, or its bytes are others."""
    path = f"locks/{folder}/{reference.name}.lock.toml"
    if sha256 is None:
        return (f"{path}: missing (locked sha256 {reference.sha256})",)
    return () if sha256 == reference.sha256 else (f"{path}: locked sha256 {reference.sha256}, now {sha256}",)


def gate_reasons(lock: TaskLock) -> tuple[str, ...]:
    """The gates that the lock's revision asks for and that it has not passed."""
    found = {gate.name: gate for gate in lock.gate}
    where = f"locks/{lock.task}.lock.toml"
    asked = REVISION_GATES.get(lock.revision, REVISION_GATES[LOCK_REVISION])
    return tuple(
        f"{where}: gate {name}: {found[name].verdict if name in found else 'missing'}, must be pass"
        for name in asked
        if name not in found or not found[name].admitted(lock.image)
    )


def _self_reasons(where: str, lock: EnvironmentLock | TaskLock) -> tuple[str, ...]:
    """Whether the lock's digest of its spec is that of the spec which it carries."""
    found = document_sha256(lock.original)
    return () if found == lock.spec_sha256 else (f"{where}: spec_sha256: {lock.spec_sha256}, original has {found}",)


def age(where: str, lock: EnvironmentLock | HarnessLock | TaskLock) -> tuple[str, ...]:
    """Whether older gates or another recipe made a lock."""
    reasons = []
    if lock.revision < LOCK_REVISION:
        reasons.append(f"{where}: revision {lock.revision}; gates of revision {LOCK_REVISION} are asked for")
    if lock.recipe != RECIPE:
        reasons.append(f"{where}: recipe {lock.recipe}, now {RECIPE} (lock --upgrade-input recipe)")
    return tuple(reasons)
