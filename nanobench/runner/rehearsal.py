"""The scene of a scripted behaviour: a locked task's solution, and what any change of it would be worth."""

from __future__ import annotations

from collections import Counter
from functools import partial

from nanobench.gateway.scripted.scene import Scene, Worth
from nanobench.grading.known import known_trial, remember_trial
from nanobench.image.workbench import Workbench
from nanobench.runner.stage import Stage
from nanobench.scoring.score import passes


def scene_of(stage: Stage, bench: Workbench) -> Scene:
    """What scripts are told of the task on this stage."""
    lock, arena = stage.locked.task.value, stage.place.arena
    languages = {suite.name: suite.language for suite in arena.suites}
    suites = (test.partition("|")[0] for test in lock.tests.fail_to_pass)
    return Scene(
        change=stage.place.change,
        base=stage.place.image.workspace,
        rules=arena.rules,
        required=lock.source.to_change,
        targets=Counter(languages[suite] for suite in suites if suite in languages),
        worth=partial(_worth, stage, bench),
    )


def _worth(stage: Stage, bench: Workbench, patch: bytes) -> Worth:
    """Grade a patch, as the agent's will be; what came of it is remembered."""
    tests, arena, image = stage.locked.task.value.tests, stage.place.arena, stage.place.image
    trial = known_trial(arena, image, patch, name="what a scripted change is worth", bench=bench)
    remember_trial(arena, image, patch, trial, store=bench.store)
    outcomes = trial.grading.outcomes
    return Worth(
        passed=sum(passes(outcomes, test) for test in tests.fail_to_pass),
        targets=len(tests.fail_to_pass),
        broken=sum(not passes(outcomes, test) for test in tests.pass_to_pass),
    )
