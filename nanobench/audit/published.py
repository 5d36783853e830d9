"""Are a bundle's locks the ones that this project publishes?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from nanobench.bundle.read import Bundle
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, NanobenchError
from nanobench.project.files import L, Locked, Project


def against_project(bundle: Bundle, found: Locked[L], project: Project | None) -> Iterator[str | NanobenchError]:
    """Whether the project publishes the very lock that a bundle holds."""
    kind, name = type(found.value), found.path.name.removesuffix(".lock.toml")
    where = found.path.relative_to(bundle.root).as_posix()
    if project is None or not project.has_lock(kind, name):
        yield CannotTell(
            "NB_NO_PUBLISHED_LOCK",
            "there is no published lock to compare the bundle's with; nothing is fetched for it",
            where=where,
            hint="run this in the project that publishes the lock, or name it with --project",
        )
        return
    published = project.lock(kind, name).sha256
    if published != found.sha256:
        yield f"{where}: the bundle's has sha256 {found.sha256}, this project's {published}"


def online_for(bundle: Bundle, task: str, project: Project | None, online: Online | None) -> Online | None:
    """The network, for a task whose locks are the published ones. A stranger's name servers of his choice, and an
    auditor's machine is not to ask them; what the store holds is used all the same."""
    lock = bundle.task_lock(task)
    differences = chain(
        against_project(bundle, lock, project),
        against_project(bundle, bundle.environment_lock(lock.value), project),
        against_project(bundle, bundle.harness_lock(lock.value), project),
    )
    return online if next(differences, None) is None else None
