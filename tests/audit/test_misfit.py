"""A script that was kept from its part: an auditor finds the same refusal, or that there was none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.audit.retest import retest
from nanobench.bundle.read import open_bundle
from nanobench.errors import CannotTell, NanobenchError
from nanobench.image.workbench import Workbench
from nanobench.model.provider import Budgets
from nanobench.model.result import Cause, CellResult
from nanobench.project.files import Project

Tested = Callable[[Path], list[str | NanobenchError]]

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def root(nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One language is mended, in a task that has no second one."""
    out = tmp_path_factory.mktemp("misfit") / "run"
    asked = ("--provider", "scripted", "--model", "one-language", "--project", repository.root, "--out", out)
    done = nanobench("run", "--locked", "fixture-create-file", *asked)
    assert done.code == 3, done.err  # nothing is scored
    return out


@pytest.fixture
def tested(bench: Workbench, repository: Project) -> Tested:
    """The last step of verification."""
    return lambda root: list(retest(open_bundle(root), repository, online=None, bench=bench))


def saying(words: str) -> Callable[[CellResult], CellResult]:
    return lambda r: evolve(r, attempts=(evolve(r.attempts[0], detail=words),))


def test_a_part_that_does_not_fit_is_verified(root: Path, forge: Any, look: Any, tested: Tested) -> None:
    assert [result.cause for result in forge(root).results()] == [Cause.NOT_RUN]
    steps = look(root)
    assert [steps[name].verdict for name in ("bytes", "lock", "rescore")] == ["pass"] * 3
    assert tested(root) == []


def test_a_refusal_in_other_words_is_not_the_scripts(root: Path, forge: Any, tested: Tested) -> None:
    forger = forge(root)
    forger.each(saying("the weather"))
    (reason,) = tested(forger.root)
    assert "published as not run (the weather); here its target tests are not in two languages" in str(reason)


def test_a_part_that_fits_was_left_out_of_the_count(root: Path, forge: Any, tested: Tested) -> None:
    forger = forge(root)
    (result,) = forger.results()
    cell = evolve(result.cell, model="nop")
    forger.rename(result, evolve(result, cell=cell))
    forger.run(lambda run: evolve(run, cells=(cell,), provider=evolve(run.provider, models=("nop",))))
    (reason,) = tested(forger.root)
    assert str(reason).endswith("here the part nop fits")


def test_where_the_money_may_have_been_spent_other_words_are_an_open_question(
    root: Path, forge: Any, tested: Tested
) -> None:
    forger = forge(root)
    forger.each(saying("the run has spent 2 of 2 USD"))
    forger.run(lambda run: evolve(run, budgets=Budgets(max_cost="2")))
    assert [type(reason) for reason in tested(forger.root)] == [CannotTell]
