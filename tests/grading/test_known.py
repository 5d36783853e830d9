from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.grading import known
from nanobench.grading.suites import Grading
from nanobench.grading.trial import Trial
from nanobench.image.workbench import Workbench
from nanobench.model.result import GradingRecord, Outcome, SuiteEnd
from nanobench.store.store import Store

END = SuiteEnd(name="python", exit_code=1, ended="exited", complete=True)
TRIAL = Trial(
    grading=Grading(
        record=GradingRecord(schema=1, suite=(END,), outcomes={"python|t": Outcome.FAILED}), failures={}, output=b"x"
    ),
    tree="a" * 40,
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    patches: list[bytes] = []

    def double(arena: Any, patch: bytes, *, said: str | None, scratch: Path) -> Trial:
        assert scratch.is_dir()
        patches.append(patch)
        return TRIAL

    monkeypatch.setattr(known, "try_patch", double)
    return patches


def test_what_no_lock_came_of_is_run_again(asked: list[bytes], place: Any, bench: Workbench, tmp_path: Path) -> None:
    small = evolve(bench, store=Store(tmp_path))
    for _ in range(2):
        assert known.known_trial(place.arena, place.image, b"p", name="x", bench=small) == TRIAL
    assert asked == [b"p", b"p"]


def test_what_is_remembered_is_not_run_again_and_says_the_same(
    asked: list[bytes], place: Any, bench: Workbench, tmp_path: Path
) -> None:
    small = evolve(bench, store=Store(tmp_path))
    known.remember_trial(place.arena, place.image, b"p", TRIAL, store=small.store)
    found = known.known_trial(place.arena, place.image, b"p", name="x", bench=small)
    assert asked == []
    assert (found.grading.record, found.tree) == (TRIAL.grading.record, TRIAL.tree)


@pytest.mark.parametrize("what", ["patch", "tests", "suites", "limits", "env", "rules", "image"])
def test_whatever_an_outcome_may_depend_on_makes_it_another_run(
    asked: list[bytes], place: Any, bench: Workbench, tmp_path: Path, what: str
) -> None:
    arena, image, patch = place.arena, place.image, b"p"
    small = evolve(bench, store=Store(tmp_path))
    known.remember_trial(arena, image, patch, TRIAL, store=small.store)
    (suite,) = arena.suites
    changed: dict[str, dict[str, Any]] = {
        "tests": {"tests": b"other"},
        "suites": {"suites": (evolve(suite, seconds=1),)},
        "limits": {"limits": evolve(arena.limits, cpus=1)},
        "env": {"env": {"A": "1"}},
        "rules": {"rules": evolve(arena.rules, test=("x/**",))},
    }
    if what == "image":
        image = evolve(image, image=evolve(image.image, manifest=b"other"))
    known.known_trial(
        evolve(arena, **changed.get(what, {})),
        image,
        b"other" if what == "patch" else patch,
        name="x",
        bench=small,
    )
    assert len(asked) == 1
