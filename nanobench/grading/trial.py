"""One patch, graded: a fresh workspace from the image, the patch, the test files over it, then the suites."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from nanobench.errors import MachineFailure, Refused
from nanobench.grading.apply import apply
from nanobench.grading.assertions import Claim, assert_all
from nanobench.grading.canary import place
from nanobench.grading.interface import ReportFormat
from nanobench.grading.suites import FORMATS, NOTHING, Grader, Grading
from nanobench.model.environment import Limits
from nanobench.model.fixture import Assertion
from nanobench.model.task import PathRules, Suite
from nanobench.sandbox.interface import Engine, Mount
from nanobench.sources.gitbox import Gitbox
from nanobench.store.files import passing_folder


@frozen(kw_only=True)
class Arena:
    """Everything that grading a task's patches needs and that stays the same from patch to patch.

    ``workspace`` is the pristine one of the task layer; ``tests`` the test patch; ``trees`` the image's layers;
    ``solution_files`` what the golden patch changes; ``answer`` the right answer, if the task asks for one;
    ``formats`` read the suites' reports, and ``mounts`` are there while tests run.
    """

    engine: Engine
    trees: tuple[Path, ...]
    workspace: Path
    tests: bytes
    rules: PathRules
    solution_files: frozenset[str] = frozenset()
    suites: tuple[Suite, ...]
    assertions: tuple[Assertion, ...] = ()
    answer: str | None = None
    limits: Limits
    env: Mapping[str, str]
    formats: Mapping[str, ReportFormat] = field(default=FORMATS)
    mounts: tuple[Mount, ...] = ()


@frozen(kw_only=True)
class Trial:
    """What became of the tests, and git's id of the tree that was graded."""

    grading: Grading
    tree: str


def try_patch(arena: Arena, patch: bytes, *, said: str | None = None, scratch: Path) -> Trial:
    """Grade a patch (``b""``: the base) in a fresh workspace below the private directory ``scratch``.

    Args:
        said: the agent's final text, if it came to one.

    Raises:
        Refused: ``NB_PATCH`` or ``NB_PATCH_APPLY`` when it is no difference to this base.
        MachineFailure: the sandbox could not be started.
    """
    workspace = fresh_workspace(arena.workspace, scratch / "graded")
    gitbox = Gitbox(engine=arena.engine, layers=arena.trees, scratch=scratch)
    tree = apply(gitbox, workspace, patch=patch, tests=arena.tests, rules=arena.rules, solution=arena.solution_files)
    grader = Grader(
        engine=arena.engine,
        layers=arena.trees,
        limits=arena.limits,
        env=arena.env,
        formats=arena.formats,
        mounts=arena.mounts,
        scratch=scratch,
    )
    grading = NOTHING
    for suite in arena.suites:
        with passing_folder(scratch, "suite-") as room:  # what one suite does to its files is not seen by another
            own = fresh_workspace(workspace, room / "workspace")
            arena.engine.own(own)
            canaries = place(own, suite, arena.rules)
            grading = grading.joined(grader.grade(own, suite, canaries))
    claim = Claim(patch=patch, said=said, answer=arena.answer)
    return Trial(grading=grading.joined(assert_all(arena.assertions, claim, grader, workspace)), tree=tree)


def fair_trial(arena: Arena, patch: bytes, *, said: str | None = None, scratch: Path) -> Trial:
    """Grade a patch; where the signals disagree, see that it is the patch's doing.

    Raises:
        Refused: ``NB_GRADER`` when they disagree at base too; and as :func:`try_patch`.
        MachineFailure: the sandbox could not be started.
    """
    trial = try_patch(arena, patch, said=said, scratch=scratch)
    if trial.grading.disagreements:
        with passing_folder(scratch, "base-") as place:
            base = try_patch(arena, b"", scratch=place)
        if base.grading.disagreements:
            message = "the signals of the tests disagree without the patch too"
            raise Refused("NB_GRADER", message, where="tests", details=base.grading.disagreements)
    return trial


def timely(trial: Trial) -> Trial:
    """The same trial, if what came of it is the patch's doing.

    Raises:
        MachineFailure: ``NB_STARVED`` when a suite's time was up because the machine was busy.
    """
    if trial.grading.starved:
        message = "; ".join(trial.grading.starved)
        raise MachineFailure("NB_STARVED", message, where="tests", hint="try again when the machine has less to do")
    return trial


def fresh_workspace(pristine: Path, destination: Path) -> Path:
    """A copy of the pristine workspace, owners, times and links as they are; sharing blocks where the disk can.

    A copy and not an overlay: renaming a lower directory, hard links and inode numbers behave differently on
    overlayfs, and so every engine sees the same plain file system.
    """
    copying = ["cp", "--archive", "--reflink=auto", "--no-target-directory", "--", str(pristine), str(destination)]
    done = subprocess.run(copying, capture_output=True, check=False, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace")[-500:]
        raise MachineFailure("NB_COPY", f"the workspace cannot be copied: {said}", where=str(destination))
    return destination
