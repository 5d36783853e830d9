"""Files of a repository that would steer the agent: out of its sight while it runs, back before the patch is taken.

Nanocoder reads them from its working directory whatever its configuration says: other providers, servers that it
starts, environment variables, tools. Why moved aside and not covered by read-only mounts: over a mount `git status`
shows a change that nobody made, and `git stash`, `git reset --hard` and `git checkout` die of a busy file. Moved
aside and marked skip-worktree in the copy's index, git sees a clean tree, leaves the place alone, and nothing is
recorded as deleted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen

from nanobench.errors import MachineFailure, Refused
from nanobench.sandbox.interface import WORKSPACE, Mount
from nanobench.sources.gitbox import Gitbox

SHADOWED = (".env", ".mcp.json", ".nanocoder", "agents.config.json", "nanocoder-preferences.json")
"""Names at the top of a workspace that redirect or equip the agent."""

RECORDED = ("AGENTS.md",)
"""Names at the top that are the project's honest word to any agent: left, and recorded."""


@frozen(kw_only=True)
class Steering:
    """What of ``SHADOWED`` and ``RECORDED`` a workspace holds, sorted."""

    shadowed: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()


def steering(paths: Iterable[str]) -> Steering:
    """What steers among these paths, relative to the workspace. Only the top counts: Nanocoder looks nowhere else.

    A task whose required files are shadowed cannot be solved: ask this at lock time too.
    """
    top = {path.partition("/")[0] for path in paths}
    return Steering(
        shadowed=tuple(name for name in SHADOWED if name in top),
        recorded=tuple(name for name in RECORDED if name in top),
    )


@contextmanager
def unsteered(workspace: Path, *, gitbox: Gitbox, aside: Path) -> Iterator[Steering]:
    """Hold the steering files of a fresh workspace aside during the block, in which the agent runs.

    What the agent itself puts in such a place stays there: that is its change.

    Args:
        workspace: the copy that will be mounted, already owned by the sandbox's user, not yet used by anything.
        gitbox: the image's git marks the index.
        aside: a directory to be made, private, on the workspace's file system.

    Raises:
        MachineFailure: ``NB_SHADOW`` when git could not mark the index.
    """
    found = steering(os.listdir(workspace))  # noqa: PTH208
    aside.mkdir(0o700)
    if found.shadowed:
        _mark(workspace, found.shadowed, gitbox)
    try:
        for name in found.shadowed:
            (workspace / name).rename(aside / name)
        yield found
    finally:
        # The sandbox is dead. A rename onto a free name at the top follows no link that the agent made.
        for name in sorted(path.name for path in aside.iterdir()):
            if not os.path.lexists(workspace / name):
                (aside / name).rename(workspace / name)


def _mark(workspace: Path, names: Iterable[str], gitbox: Gitbox) -> None:
    """Let git not look at what it tracks there: however many files, and products of a build are not among them."""
    mounts = (Mount(source=workspace, target=WORKSPACE, writable=True),)
    try:
        gitbox.run("shadow.sh", mounts=mounts, files={"names": b"".join(name.encode() + b"\0" for name in names)})
    except Refused as error:
        raise MachineFailure("NB_SHADOW", error.message, where="workspace", details=error.details) from error
