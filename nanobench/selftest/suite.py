"""Run the published attacks on the toys, each as an agent's patch is: taken, applied, graded, scored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from attrs import evolve, frozen

from nanobench.ecosystems.online import Online
from nanobench.errors import Refused
from nanobench.grading.locked import arena_of
from nanobench.grading.many import side_by_side
from nanobench.grading.trial import Arena, fresh_workspace, try_patch
from nanobench.image.realise import realise_environment
from nanobench.image.solution import solution_of
from nanobench.image.sources import bring, source_of
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Limits
from nanobench.model.lock import EnvironmentLock, LockedTests
from nanobench.project.files import Project
from nanobench.scoring.derive import derive_tests
from nanobench.scoring.score import score
from nanobench.selftest.attack import Attack, Class, attacks_on, bomb, carry_out
from nanobench.sources.difference import take_patch
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.patch import affected_paths
from nanobench.sources.vendored_files import locked_files

TOYS = Project(Path(__file__).parent)
"""The toys are fixtures, in the program's own folder."""

LIMITS = Limits(cpus=1, memory_mib=768, pids=64, disk_mib=256, test_seconds=15)


@frozen(kw_only=True)
class Toy:
    """A toy task, ready: where its patches are graded, and which tests tell right from wrong."""

    name: str
    arena: Arena
    tests: LockedTests
    module: str


@frozen(kw_only=True)
class Result:
    """What became of an attack."""

    toy: str
    attack: Attack
    got: Class
    detail: str = ""

    @property
    def held(self) -> bool:
        """Did the grader see it as it should?"""
        return self.got == self.attack.expected


def ready(name: str, project: Project, *, online: Online | None, bench: Workbench) -> Toy:
    """Build a toy from the project's lock of its environment.

    Raises:
        Refused: ``NB_SELFTEST`` when the grader's signals disagree without any attack.
    """
    task, folder = TOYS.task(name).value, TOYS.folder(name)
    lock = project.lock(EnvironmentLock, task.environment).value
    environment = realise_environment(lock, online=online, bench=bench)
    source = source_of(task, locked_files(folder, where=name), folder=folder)
    bring(source, bench.store, online=online, say=bench.say)
    image = build_task(source, environment, bench=bench)
    change = solution_of(task, source, image, bench=bench)
    arena = arena_of(task, image, change, limits=LIMITS, env=environment.spec.env, bench=bench)
    with bench.store.scratch("selftest") as scratch:
        for side in ("base", "golden"):
            (scratch / side).mkdir()
        base = try_patch(arena, b"", scratch=scratch / "base").grading
        golden = try_patch(arena, change.golden, scratch=scratch / "golden").grading
    if base.disagreements or golden.disagreements:
        details = base.disagreements + golden.disagreements
        raise Refused("NB_SELFTEST", "the signals disagree without an attack", where=name, details=details)
    tests = derive_tests(base.outcomes, golden.outcomes, where=name)
    return Toy(name=name, arena=arena, tests=tests, module=change.source_files[0])


def attack_all(toy: Toy, bench: Workbench) -> Iterator[Result]:
    """What becomes of every attack on the toy, in the order in which they are published."""
    attacks = attacks_on(toy.name)
    work = partial(result_of, toy=toy, bench=bench)
    yield from side_by_side(work, attacks, cpus=LIMITS.cpus, engine=toy.arena.engine)


def result_of(attack: Attack, toy: Toy, bench: Workbench) -> Result:
    """What becomes of an attack. That the signals agree without it was seen when the toy was made ready."""
    result = Result(toy=toy.name, attack=attack, got="failed")
    with bench.store.scratch("attack") as scratch:
        try:
            patch = bomb(attack.bomb_mib) if attack.bomb_mib else _left_by(attack, toy, scratch)
            (scratch / "grade").mkdir()
            grading = try_patch(toy.arena, patch, scratch=scratch / "grade").grading
        except Refused as error:
            return evolve(result, got="refused", detail=str(error))
    if grading.disagreements:
        return evolve(result, got="grader_tampered", detail="; ".join(grading.disagreements))
    found = score(
        outcomes=grading.outcomes,
        fail_to_pass=toy.tests.fail_to_pass,
        pass_to_pass=toy.tests.pass_to_pass,
        files_changed=affected_paths(patch),
        required_files=(toy.module,),
        mode="hinted",
    )
    passed = f"{found.targets_passed} of {found.targets} target tests passed"
    return evolve(result, got="resolved" if found.resolved else "failed", detail=passed)


def _left_by(attack: Attack, toy: Toy, scratch: Path) -> bytes:
    """The patch of an agent that carried out the attack."""
    workspace = fresh_workspace(toy.arena.workspace, scratch / "workspace")
    carry_out(attack, workspace, toy.module)
    (scratch / "git").mkdir()
    gitbox = Gitbox(engine=toy.arena.engine, layers=toy.arena.trees, scratch=scratch / "git")
    return take_patch(gitbox, workspace).patch
