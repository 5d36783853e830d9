"""What ``--nanocoder X`` means: a version, the name of a lock, or the path of a packed build (``PATH.tgz``)."""

from __future__ import annotations

from pathlib import Path

from nanobench.errors import Misuse, Refused
from nanobench.harness.build import import_build
from nanobench.harness.lock import request_for, request_for_build
from nanobench.model.fields import Digest
from nanobench.model.lock import HarnessLock, HarnessRequest
from nanobench.project.files import Locked, Project
from nanobench.store.seals import file_hash
from nanobench.store.store import Store

OPTION = "--nanocoder"
HELP = "A Nanocoder: a version, the name of its lock, or a packed build (PATH.tgz); several may be given"


def requested(project: Project, asked: str, store: Store) -> HarnessRequest:
    """What a lock is to be made for; a packed build is then in the store.

    Raises:
        Refused: ``NB_HARNESS_VERSION``, ``NB_BUILD`` and as :mod:`nanobench.archives` says.
        Misuse: ``NB_NO_FILE``.
    """
    if _is_path(asked):
        return request_for_build(import_build(Path(asked), store), store)
    if asked in project.harness_names():
        return project.lock(HarnessLock, asked).value.original
    return request_for(asked)


def locked_harness(project: Project, asked: str) -> Locked[HarnessLock]:
    """The lock that is meant; a packed build is known by its content.

    Raises:
        Refused: ``NB_HARNESS_NOT_LOCKED``.
        Misuse: ``NB_NO_FILE``.
    """
    locks = [project.lock(HarnessLock, name) for name in project.harness_names()]
    if _is_path(asked):
        digest = _digest(Path(asked))
        found = [lock for lock in locks if lock.value.original.tarball == digest]
    else:
        found = [lock for lock in locks if lock.value.name in (asked, f"nanocoder-{asked}")]
    if found:
        return found[0]
    names = ", ".join(lock.value.name for lock in locks)
    raise Refused(
        "NB_HARNESS_NOT_LOCKED",
        f"there is no lock of {asked:.200}; locked are {names or 'none'}",
        where=OPTION,
        hint=f"nanobench lock --nanocoder {asked:.200}",
    )


def _is_path(asked: str) -> bool:
    return asked.endswith(".tgz") or "/" in asked


def _digest(path: Path) -> Digest:
    try:
        found = file_hash(path.resolve(), "sha256")
    except OSError as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=str(path)) from None
    return Digest(f"sha256:{found}")
