"""Every document kind in one place: how its bytes become a model object and back."""

from __future__ import annotations

from typing import Any, TypeVar

from nanobench.errors import Refused
from nanobench.formats import json, toml
from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import sha256_hex
from nanobench.model.environment import Environment
from nanobench.model.label import Landmarks
from nanobench.model.lock import LOCK_VERSION, EnvironmentLock, HarnessLock, TaskLock
from nanobench.model.matrix import Matrix
from nanobench.model.provider import Providers
from nanobench.model.result import BundleManifest, CellResult, FailureRecord, GradingRecord, RunManifest
from nanobench.model.task import Dataset, Task

T = TypeVar("T")
Lock = TypeVar("Lock", EnvironmentLock, HarnessLock, TaskLock)

KINDS: dict[str, type] = {
    "task": Task,
    "environment": Environment,
    "dataset": Dataset,
    "task-lock": TaskLock,
    "environment-lock": EnvironmentLock,
    "harness-lock": HarnessLock,
    "result": CellResult,
    "run": RunManifest,
    "bundle": BundleManifest,
    "outcomes": GradingRecord,
    "failures": FailureRecord,
    "landmarks": Landmarks,
    "providers": Providers,
    "matrix": Matrix,
}
"""Document kind → class; each has ``schemas/<kind>.schema.json``."""

_HEADER = b"# Written by `nanobench lock`. Do not edit: change the spec and lock again.\n"


def read_spec(data: bytes, kind: type[T], *, where: str) -> T:
    """A spec that a person wrote (TOML, any layout)."""
    return structure(toml.parse(data, where=where), kind, where=where)


def read_lock(data: bytes, kind: type[Lock], *, where: str) -> Lock:
    """A lock. Its bytes must be exactly what :func:`dump_lock` writes for what it says.

    Raises:
        Refused: ``NB_LOCK_VERSION`` for a version this program does not know, ``NB_LOCK_EDITED`` when the bytes
            are not canonical, or the errors of :func:`nanobench.formats.converter.structure`.
    """
    document = toml.parse(data, where=where)
    version = document.get("version")
    if type(version) is int and version > LOCK_VERSION:
        raise Refused(
            "NB_LOCK_VERSION",
            f"lock version {version}; this program reads {LOCK_VERSION}",
            where=f"{where}: version",
            hint="install a newer nanobench",
        )
    lock = structure(document, kind, where=where)
    if dump_lock(lock) != data:
        raise Refused(
            "NB_LOCK_EDITED",
            "the bytes are not what `nanobench lock` writes (edited by hand, or line endings converted)",
            where=where,
            hint="restore the file from version control, or lock again",
        )
    return lock


def spec_of(lock: TaskLock) -> Task:
    """The task spec that was locked."""
    return structure(lock.original, Task, where=f"locks/{lock.task}.lock.toml: original")


def dump_lock(lock: EnvironmentLock | HarnessLock | TaskLock) -> bytes:
    """The canonical bytes of a lock. The last line sums up the others, so that no edit passes for what was locked."""
    body = _HEADER + toml.dump(unstructure(lock))
    return body + f"# sha256 {sha256_hex(body)}\n".encode()


def read_json(data: bytes, kind: type[T], *, where: str) -> T:
    """A result document. Its bytes must be canonical (RFC 8785)."""
    value = structure(json.parse(data, where=where), kind, where=where)
    if dump_json(value) != data:
        raise Refused("NB_NOT_CANONICAL", "not the canonical JSON of what it says", where=where)
    return value


def dump_json(value: Any) -> bytes:
    """The canonical bytes of a result document."""
    return json.dump(unstructure(value))
