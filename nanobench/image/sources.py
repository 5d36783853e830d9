"""A task's source by its spec and its lock, and its files in the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.model.fixture import LockedFiles, VendoredSource
from nanobench.model.lock import SourcePins
from nanobench.model.task import ArchiveSource, GitSource, Task
from nanobench.model.upstream import LockedUpstream
from nanobench.sources.archive import ReleasePair
from nanobench.sources.git import MergedChange
from nanobench.sources.git_pin import repin
from nanobench.sources.git_remote import Remote, safe
from nanobench.sources.interface import Source
from nanobench.sources.vendored import Vendored
from nanobench.sources.vendored_files import locked_files
from nanobench.store.store import Store

Say = Callable[[str], None]


def source_of(task: Task, pins: SourcePins | None, *, folder: Path | None = None) -> Source:
    """The source that a task spec names.

    Args:
        pins: what its lock pins beyond the spec.
        folder: the task's folder, if it is at hand; files of a fixture that the store lacks are taken from there.

    Raises:
        CannotTell: ``NB_LOCK_UPSTREAM`` for a source without the pins that it needs.
    """
    where = f"tasks/{task.id}/task.toml"
    if isinstance(task.source, ArchiveSource):
        return ReleasePair(spec=task.source, where=where)
    if isinstance(task.source, GitSource) and isinstance(pins, LockedUpstream):
        return MergedChange(spec=task.source, upstream=pins, where=where)
    if isinstance(task.source, VendoredSource) and isinstance(pins, LockedFiles):
        return Vendored(files=pins, rules=task.paths, folder=folder, where=f"tasks/{task.id}")
    hint = f"nanobench lock {task.id}"
    raise CannotTell("NB_LOCK_UPSTREAM", "its commits or files are not pinned", where=f"{where}: source", hint=hint)


def source_names(task: Task, *, folder: Path) -> tuple[str, ...]:
    """What a task's source is made of: two releases, a repository with its pull request and commits, or files.

    Args:
        folder: the task's, where the files of a fixture are.

    Raises:
        Refused: the releases are no pair, or the files no fixture.
    """
    spec = task.source
    if isinstance(spec, VendoredSource):
        files = locked_files(folder, where=f"tasks/{task.id}")
        source_of(task, files)
        return tuple(f"tasks/{task.id}/{file.path}" for file in files.file)
    if isinstance(spec, ArchiveSource):
        return tuple(package.purl for package in source_of(task, None).packages())
    request = None if spec.pull_request is None else f"pull request {spec.pull_request}"
    return tuple(f"{safe(spec.url)}: {part}" for part in (request, spec.base_commit, spec.merge_commit) if part)


def remote_of(spec: GitSource, where: str, *, online: Online | None, say: Say) -> Remote:
    """The repository of a git source.

    Raises:
        CannotTell: ``NB_OFFLINE`` when the network may not be used.
    """
    if online is None:
        raise CannotTell(
            "NB_OFFLINE",
            f"commits of {safe(spec.url)} are needed, and the network may not be used",
            where=f"{where}: source",
            hint="run `nanobench fetch` with network first, or leave out --offline",
        )
    online.note(spec.url)
    return Remote(url=spec.url, where=where, say=say)


def bring(
    source: Source, store: Store, *, online: Online | None, say: Say, progress: Callable[[int], None] | None = None
) -> None:
    """Have every file of a source in the store, verified: what a lock pins is fetched again where it is missing.

    Raises:
        CannotTell: what is missing and may not or cannot be fetched.
        Refused: what came is not what is locked.
    """
    fetch(source.packages(), store, online=online, say=say, progress=progress)
    if isinstance(source, Vendored):
        source.keep(store)
    if isinstance(source, MergedChange) and not all(store.has(file.digest) for file in source.pinned()):
        repin(source.spec, source.upstream, remote_of(source.spec, source.where, online=online, say=say), store)
    for file in source.pinned():
        store.blob(file.digest)
