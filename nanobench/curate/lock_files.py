"""A lock that is there already, and one that is to be written."""

from __future__ import annotations

from collections.abc import Collection

from nanobench.errors import Refused
from nanobench.formats.documents import dump_lock
from nanobench.model.lock import RECIPE
from nanobench.project.files import L, Project


def old_lock(project: Project, kind: type[L], name: str, upgrade: Collection[str]) -> L | None:
    """The lock that is there already, if any; what it pins stays pinned.

    Raises:
        Refused: ``NB_RECIPE`` when another recipe made it and ``upgrade`` does not name that.
    """
    if not project.has_lock(kind, name):
        return None
    lock = project.lock(kind, name).value
    if lock.recipe != RECIPE and "recipe" not in upgrade:
        raise Refused(
            "NB_RECIPE",
            f"made by recipe {lock.recipe}; this program's is {RECIPE}, which gives other bytes",
            where=project.name(project.lock_path(kind, name)),
            hint="nanobench lock --upgrade-input recipe, in a commit of its own",
        )
    return lock


def put_lock(project: Project, name: str, lock: L, *, dry_run: bool) -> tuple[str, ...]:
    """Write a lock (not in a dry run); its file's name when its bytes changed or would."""
    path = project.lock_path(type(lock), name)
    if dry_run:
        changed = not path.is_file() or path.read_bytes() != dump_lock(lock)
    else:
        changed = project.write_lock(name, lock)
    return (project.name(path),) if changed else ()
