"""The tree that is graded: the base, the patch, and over it every test file as the lock has it.

*Restored* are all paths of the test patch, and every path of the agent's patch that the task's path rules call a
test: the same rule that split the solution. Restored, too, are the files that steer how tests are run
(``package.json``, ``pyproject.toml``: see ``steers_tests`` of :mod:`nanobench.sources.kinds`), except those that the
golden patch itself changes. So an agent's own tests and test configuration are not graded, and cannot replace ours.
All of it is decided on git's index before a file is written, so no symbolic link of the patch can redirect a write,
and where a restored path needs a folder that the patch made a file, the restored path wins.

A patch that git cannot apply, or that is not byte for byte what git says about the tree it makes, is refused
(``NB_PATCH_APPLY``). It cannot be the agent's doing: its patch was taken as such a difference against the same base.
So the runner must end the cell with ``Cause.GRADER``, never with a score, and ``verify`` must call the bundle
changed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from nanobench.errors import Refused
from nanobench.model.task import PathRules
from nanobench.sandbox.interface import WORKSPACE, Mount
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.kinds import kind_of, steers_tests
from nanobench.sources.patch import sections
from nanobench.sources.quoting import display

_TREE = re.compile(rb"[0-9a-f]{40}\n")
_REFUSALS = {3: "the patch", 4: "the test patch"}


def restored_paths(patch: bytes, tests: bytes, rules: PathRules, solution: Collection[str] = ()) -> tuple[bytes, ...]:
    """The paths that are as base and tests have them, whatever the patch does to them; sorted."""
    theirs = {part.path for part in sections(patch, where="patch")}
    ours = {part.path for part in sections(tests, where="test patch")}
    return tuple(sorted(ours | {path for path in theirs if _ours(path, rules, solution)}))


def _ours(path: bytes, rules: PathRules, solution: Collection[str]) -> bool:
    return kind_of(path, rules) == "test" or (steers_tests(path, rules) and display(path) not in solution)


def apply(
    gitbox: Gitbox,
    workspace: Path,
    *,
    patch: bytes,
    tests: bytes,
    rules: PathRules,
    solution: Collection[str] = (),
) -> str:
    """Bring a fresh workspace to the tree that is graded, and give git's id of it.

    Args:
        gitbox: its layers hold git.
        workspace: a fresh copy of the task layer's workspace, with its pristine ``.git``; changed in place.
        patch: what is graded: the agent's patch, the golden patch, or nothing (``b""``: the base).
        tests: the test patch of the lock.
        rules: the task's overrides of the path rules.
        solution: the files that the golden patch changes.

    Raises:
        Refused: ``NB_PATCH`` or ``NB_PATCH_APPLY`` (see the module).
    """
    restored = b"".join(path + b"\0" for path in restored_paths(patch, tests, rules, solution))
    gitbox.engine.own(workspace)
    said = gitbox.run(
        "final.sh",
        mounts=(Mount(source=workspace, target=WORKSPACE, writable=True),),
        files={"patch": patch, "tests": tests, "restored": restored},
        refusals={
            code: ("NB_PATCH_APPLY", f"{what} is no difference to this base") for code, what in _REFUSALS.items()
        },
    )
    if not _TREE.fullmatch(said):
        raise Refused("NB_GIT", f"git printed {said!r:.80} for a tree id", where=str(workspace))
    return said.decode().strip()
