"""A task's source by its spec and its lock, and its files in the store."""

from __future__ import annotations

from collections.abc import Callable

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.model.task import ArchiveSource, GitSource, Task
from nanobench.model.upstream import LockedUpstream
from nanobench.sources.archive import ReleasePair
from nanobench.sources.git import MergedChange
from nanobench.sources.git_pin import repin
from nanobench.sources.git_remote import Remote, safe
from nanobench.sources.interface import Source
from nanobench.store.store import Store

Say = Callable[[str], None]


def source_of(task: Task, upstream: LockedUpstream | None) -> Source:
    """The source that a task spec names.

    Raises:
        CannotTell: ``NB_LOCK_UPSTREAM`` for a git source without pins.
    """
    where = f"tasks/{task.id}/task.toml"
    if isinstance(task.source, ArchiveSource):
        return ReleasePair(spec=task.source, where=where)
    if upstream is None:
        hint = f"nanobench lock {task.id}"
        raise CannotTell("NB_LOCK_UPSTREAM", "its commits are not pinned", where=f"{where}: source", hint=hint)
    return MergedChange(spec=task.source, upstream=upstream, where=where)


def source_names(task: Task) -> tuple[str, ...]:
    """What a task's source is made of: two releases, or a repository with its pull request and commits."""
    spec = task.source
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
    if isinstance(source, MergedChange) and not all(store.has(file.digest) for file in source.pinned()):
        repin(source.spec, source.upstream, remote_of(source.spec, source.where, online=online, say=say), store)
    for file in source.pinned():
        store.blob(file.digest)
