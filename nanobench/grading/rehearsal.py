"""The scene of a scripted behaviour: a locked task's solution, and what any change of it would be worth."""

from __future__ import annotations

from collections import Counter
from functools import partial

from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_lock
from nanobench.gateway.scripted.scene import Scene, Worth
from nanobench.grading.interface import grading_sha256
from nanobench.grading.locked import LockedArena
from nanobench.grading.trial import timely, try_patch
from nanobench.image.workbench import Workbench
from nanobench.model.lock import TaskLock
from nanobench.scoring.score import passes
from nanobench.sources.difference import respelled
from nanobench.sources.gitbox import Gitbox


def scene_of(place: LockedArena, lock: TaskLock, *, bench: Workbench) -> Scene:
    """What scripts are told of a locked task."""
    arena = place.arena
    languages = {suite.name: suite.language for suite in arena.suites}
    suites = (test.partition("|")[0] for test in lock.tests.fail_to_pass)
    return Scene(
        change=place.change,
        base=place.image.workspace,
        rules=arena.rules,
        required=lock.source.to_change,
        targets=Counter(languages[suite] for suite in suites if suite in languages),
        worth=partial(_worth, place, lock, bench),
    )


def _worth(place: LockedArena, lock: TaskLock, bench: Workbench, patch: bytes) -> Worth:
    """What came of the patch by these locks; where that is not known, grade it now."""
    rehearsal = {"rehearsal": sha256_hex(patch), "lock": sha256_hex(dump_lock(lock)), "grading": grading_sha256()}
    recipe = document_sha256(rehearsal)
    known = bench.store.recall(recipe)
    if known is None:
        bench.say(f"{lock.task}: rehearsing a change")
        known = unstructure(_graded(place, lock, bench, patch))
        bench.store.remember(recipe, known)
    return structure(known, Worth, where=f"recipe {recipe}")


def _graded(place: LockedArena, lock: TaskLock, bench: Workbench, patch: bytes) -> Worth:
    tests, arena = lock.tests, place.arena
    with bench.store.scratch("rehearsal") as scratch:
        gitbox = Gitbox(engine=arena.engine, layers=arena.trees, scratch=scratch)
        outcomes = timely(try_patch(arena, respelled(gitbox, patch), scratch=scratch)).grading.outcomes
    return Worth(
        passed=sum(passes(outcomes, test) for test in tests.fail_to_pass),
        targets=len(tests.fail_to_pass),
        broken=sum(not passes(outcomes, test) for test in tests.pass_to_pass),
    )
