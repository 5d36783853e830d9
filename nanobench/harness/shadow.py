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

from nanobench.errors import MachineFailure
from nanobench.sandbox.interface import WORKSPACE, Engine, Mount, Request, SandboxLimits

SHADOWED = (".env", ".mcp.json", ".nanocoder", "agents.config.json", "nanocoder-preferences.json")
"""Names at the top of a workspace that redirect or equip the agent."""

RECORDED = ("AGENTS.md",)
"""Names at the top that are the project's honest word to any agent: left, and recorded."""

_LIMITS = SandboxLimits(cpus=1, memory_mib=512, pids=16, disk_mib=256, seconds=60)


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
def unsteered(workspace: Path, *, engine: Engine, layers: tuple[Path, ...], scratch: Path) -> Iterator[Steering]:
    """Hold the steering files of a fresh workspace aside during the block, in which the agent runs.

    What the agent itself puts in such a place stays there: that is its change.

    Args:
        workspace: the copy that will be mounted, already owned by the sandbox's user, not yet used by anything.
        layers: the image, whose git marks the index.
        scratch: a private empty directory on the workspace's file system.

    Raises:
        MachineFailure: ``NB_SHADOW`` when git could not mark the index.
    """
    found = steering(os.listdir(workspace))  # noqa: PTH208
    aside = scratch / "aside"
    aside.mkdir(0o700)
    if found.shadowed:
        git = _Git(workspace=workspace, engine=engine, layers=layers, scratch=scratch)
        # Products of a build may lie there too, which git does not track.
        tracked = git.run("ls-files", "-z", "--", *(f":(top,literal){name}" for name in found.shadowed))
        if tracked:
            git.run("update-index", "--skip-worktree", "--", *tracked.rstrip("\0").split("\0"))
    try:
        for name in found.shadowed:
            (workspace / name).rename(aside / name)
        yield found
    finally:
        # The sandbox is dead. A rename onto a free name at the top follows no link that the agent made.
        for name in sorted(path.name for path in aside.iterdir()):
            if not os.path.lexists(workspace / name):
                (aside / name).rename(workspace / name)


@frozen(kw_only=True)
class _Git:
    """The image's git, on a repository that is still our own."""

    workspace: Path
    engine: Engine
    layers: tuple[Path, ...]
    scratch: Path

    def run(self, *arguments: str) -> str:
        request = Request(
            layers=self.layers,
            argv=("git", *arguments),
            limits=_LIMITS,
            stdout=self.scratch / "stdout",
            stderr=self.scratch / "stderr",
            cwd=WORKSPACE,
            env={"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"},
            mounts=(Mount(source=self.workspace, target=WORKSPACE, writable=True),),
            phase="shadow",
        )
        finished = self.engine.run(request)
        if finished.exit_code != 0:
            said = request.stderr.read_text("utf-8", "replace")[-2000:].splitlines()
            message = f"git {arguments[0]} in the image ended with {finished.exit_code}"
            raise MachineFailure("NB_SHADOW", message, where="workspace", details=tuple(said))
        return request.stdout.read_text("utf-8", "surrogateescape")
