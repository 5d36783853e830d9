"""The difference of a tree to the base commit: a solution's patch, and the agent's.

Both are staged by the image's git with the pristine repository; nothing that stands in the tree (configuration,
hooks, attributes, filters, an own repository) has a say in it.
"""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen

from nanobench.errors import Refused
from nanobench.sandbox.interface import WORKSPACE, Mount
from nanobench.sources.clean import TreeBounds, clean
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.patch import Section, paths_of, sections

_TREE = "/nanobench/tree"

MAX_CHANGED = 20_000
MAX_CHANGED_BYTES = 512 << 20
"""The most changed files, and their size together, that an agent's patch may have."""


@frozen(kw_only=True)
class TakenPatch:
    """What an agent left: the patch, the paths it changes, and the paths that were left out because no patch can
    hold them (nested repositories, FIFOs, …)."""

    patch: bytes
    files_changed: tuple[str, ...]
    dropped: tuple[str, ...]


def derive(gitbox: Gitbox, *, repository: Path, solution: Path) -> bytes:
    """The whole patch from the base commit to the clean tree ``solution``, ignored files included.

    Args:
        repository: the host directory of the base workspace, with its one-commit ``.git``.
    """
    gitbox.engine.own(solution)
    base = Mount(source=repository, target=WORKSPACE)
    return gitbox.run("difference.sh", mounts=(base, Mount(source=solution, target=_TREE)), env={"ALL": "1"})


def take_patch(gitbox: Gitbox, workspace: Path, *, bounds: TreeBounds | None = None) -> TakenPatch:
    """The agent's patch, taken from the workspace that its dead sandbox left.

    Which files are ignored is decided by the base commit's own ignore files and ``info/exclude``: lines that the
    agent wrote hide nothing. Agent commits, branches, hooks, attributes and filters do not matter.

    Args:
        gitbox: its layers must include the task layer: the pristine repository is read from there.
        workspace: hostile; changed in place (see :func:`nanobench.sources.clean.clean`).

    Raises:
        Refused: ``NB_PATCH_BOUND`` when the workspace or its patch is larger than what is ever taken.
    """
    dropped = clean(workspace, where="workspace", bounds=bounds)
    gitbox.engine.own(workspace)
    patch = gitbox.run("difference.sh", mounts=(Mount(source=workspace, target=_TREE),), env={"ALL": "0"})
    parts = sections(patch, where="workspace")
    _check_size(workspace, parts)
    return TakenPatch(patch=patch, files_changed=paths_of(parts), dropped=dropped)


def respelled(gitbox: Gitbox, patch: bytes) -> bytes:
    """A patch to the base commit as git says it, which is the only spelling that is graded.

    Args:
        gitbox: its layers must include the task layer.

    Raises:
        Refused: ``NB_GIT`` when it does not apply.
    """
    return gitbox.run("respelled.sh", mounts=(), files={"patch": patch})


def _check_size(workspace: Path, parts: tuple[Section, ...]) -> None:
    """What is taken must be applicable: git holds every changed file in memory at once when it applies a patch."""
    size = 0
    for part in parts:
        path = os.path.join(os.fsencode(workspace), part.path)  # noqa: PTH118 (bytes)
        size += os.lstat(path).st_size if os.path.lexists(path) else 0
    for found, most, what in ((len(parts), MAX_CHANGED, "files"), (size, MAX_CHANGED_BYTES, "bytes of files")):
        if found > most:
            raise Refused("NB_PATCH_BOUND", f"{found} {what} changed; at most {most} are taken", where="workspace")
