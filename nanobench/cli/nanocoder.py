"""What ``--nanocoder X`` means: a version, the name of a lock, or the path of a packed build (``PATH.tgz``)."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from nanobench.errors import Misuse, Refused
from nanobench.harness.build import import_build
from nanobench.harness.lock import lock_name, request_for_build, request_named
from nanobench.model.fields import Digest
from nanobench.model.lock import HarnessLock, HarnessRequest
from nanobench.project.files import Locked, Project
from nanobench.store.seals import file_hash
from nanobench.store.store import Store

OPTION = "--nanocoder"
HELP = "A Nanocoder: a version, the name of its lock, or a packed build (PATH.tgz); several may be given"


def requested(project: Project, asked: str, before: str | None, store: Store) -> tuple[str, HarnessRequest]:
    """The name of the lock that is to be made or kept, and what for; a packed build is then in the store.

    Args:
        before: the date that every dependency must be older than; None for the usual one.

    Raises:
        Refused: ``NB_HARNESS_VERSION``, ``NB_BUILD`` and as :mod:`nanobench.archives` says.
        Misuse: ``NB_NO_FILE``.
    """
    if _is_path(asked):
        request = request_for_build(import_build(Path(asked), store), store)
        name = lock_name(request, dated=False)
    else:
        name = _name(asked)
        known = name in project.harness_names()
        request = project.lock(HarnessLock, name).value.original if known else request_named(name)
    if before is not None:
        request = evolve(request, before=before)
        name = lock_name(request, dated=True)
    return name, request


def locked_harness(project: Project, asked: str) -> Locked[HarnessLock]:
    """The lock that is meant; a packed build is known by its content.

    Raises:
        Refused: ``NB_HARNESS_NOT_LOCKED``.
        Misuse: ``NB_NO_FILE``; ``NB_HARNESS_NAME`` for a build that was locked with packages of several dates.
    """
    locks = [project.lock(HarnessLock, name) for name in project.harness_names()]
    if _is_path(asked):
        digest = _digest(Path(asked))
        found = [lock for lock in locks if lock.value.original.tarball == digest]
    else:
        found = [lock for lock in locks if lock.value.name == _name(asked)]
    if len(found) > 1:
        several = ", ".join(lock.value.name for lock in found)
        raise Misuse(
            "NB_HARNESS_NAME", f"several locks are of {asked:.200}", where=OPTION, hint=f"name one: {several}"
        )
    if found:
        return found[0]
    names = ", ".join(lock.value.name for lock in locks)
    raise Refused(
        "NB_HARNESS_NOT_LOCKED",
        f"there is no lock of {asked:.200}; locked are {names or 'none'}",
        where=OPTION,
        hint=f"nanobench lock --nanocoder {asked:.200}",
    )


def _name(asked: str) -> str:
    return asked if asked.startswith("nanocoder-") else f"nanocoder-{asked}"


def _is_path(asked: str) -> bool:
    return asked.endswith(".tgz") or "/" in asked


def _digest(path: Path) -> Digest:
    try:
        found = file_hash(path.resolve(), "sha256")
    except OSError as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=str(path)) from None
    return Digest(f"sha256:{found}")
