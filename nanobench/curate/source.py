"""From a task's source to its pins. What the old lock pinned stays, unless its spec changed or an upgrade asks."""

from __future__ import annotations

from collections.abc import Collection

from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.image.sources import bring, remote_of, source_of
from nanobench.image.workbench import Workbench
from nanobench.model.fixture import VendoredSource
from nanobench.model.lock import SourcePins, TaskLock
from nanobench.model.task import GitSource, Task
from nanobench.model.upstream import LockedUpstream
from nanobench.project.files import Spec
from nanobench.sources.git_pin import pin
from nanobench.sources.interface import Source
from nanobench.sources.vendored_files import locked_files


def lock_source(
    spec: Spec[Task],
    old: TaskLock | None,
    *,
    upgrade: Collection[str],
    online: Online | None,
    bench: Workbench,
) -> tuple[Source, SourcePins | None]:
    """The source with its files in the store, and what it resolved to.

    Raises:
        CannotTell: exactly what could not be reached.
        Refused: ``NB_CLAIM`` when the task states a base commit that is not the real one (a merge date is looked at
            by the contamination gate).
    """
    task, folder = spec.value, spec.path.parent
    pins: SourcePins | None = None
    if isinstance(task.source, GitSource):
        pins = _kept(spec, old, upgrade) or _resolved(task, task.source, online, bench)
        _check_claims(task, pins)
    elif isinstance(task.source, VendoredSource):
        pins = locked_files(folder, where=f"tasks/{task.id}")
    source = source_of(task, pins, folder=folder)
    bring(source, bench.store, online=online, say=bench.say, progress=bench.fetched)
    return source, pins


def _kept(spec: Spec[Task], old: TaskLock | None, upgrade: Collection[str]) -> LockedUpstream | None:
    if old is None or {"source", "recipe"} & set(upgrade) or old.original.get("source") != spec.document["source"]:
        return None
    return old.source.upstream


def _resolved(task: Task, source: GitSource, online: Online | None, bench: Workbench) -> LockedUpstream:
    remote = remote_of(source, f"tasks/{task.id}/task.toml", online=online, say=bench.say)
    return pin(source, remote, bench.store)


def _check_claims(task: Task, upstream: LockedUpstream) -> None:
    """What a curator states must be what the commits themselves say."""
    stated, found = task.curation.base_commit, upstream.base.commit
    if stated not in (None, found):
        raise Refused(
            "NB_CLAIM",
            "the task states what its commits do not say",
            where=f"tasks/{task.id}/task.toml",
            details=(f"curation.base_commit: stated {stated}, found {found}",),
            hint="correct it, or leave it out",
        )
