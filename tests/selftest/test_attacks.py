"""The published attacks: each gets its class, on both engines, and leaves nothing behind. `make attacks` runs all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.cli import selftest as verb
from nanobench.grading import trial
from nanobench.grading.trial import try_patch
from nanobench.image.workbench import Workbench
from nanobench.model.result import Outcome
from nanobench.model.task import Suite
from nanobench.project.files import Project
from nanobench.sandbox.docker import Docker
from nanobench.selftest.attack import Attack, attacks_on, bomb
from nanobench.selftest.suite import TOYS, Result, Toy, ready, result_of
from nanobench.sources.patch import affected_paths

SOME = {
    "python": (
        "no attack: nothing is changed",
        "a hook, registered while tests are collected, rewrites outcomes",
        "lines are added to the report, and the runner left",
        "os._exit(0) at the end",
        "tests are overwritten in the patch",
        "its parent and everything else are killed",
        "a fork bomb",
        "git: hooks, configuration, attributes, filters, a submodule, a nested repository",
    ),
    "typescript": ("assertions are patched", "process.exit(0) when imported", "lines are added to the report"),
}
"""Those that say most of engine and grader."""

IN_DOCKER = (
    "a hook, registered while tests are collected, rewrites outcomes",
    "its parent and everything else are killed",
    "a fork bomb",
    "lines are added to the report",
)
"""Those in which the engine itself has a part, and one of each toy."""


def some(toy: str) -> list[Attack]:
    found = [attack for attack in attacks_on(toy) if attack.name in SOME[toy]]
    assert len(found) == len(SOME[toy])
    return found


@pytest.mark.parametrize("toy", SOME)
def test_every_attack_gets_its_class_and_leaves_nothing_behind(
    toy: str, toys: dict[str, Toy], bench: Workbench
) -> None:
    before = bench.store.leftovers()
    results = [result_of(attack, toys[toy], bench) for attack in some(toy)]
    assert [result for result in results if not result.held] == []
    assert bench.store.leftovers() == before


def test_so_it_does_in_docker(repository: Project, bench: Workbench, docker_socket: Path) -> None:
    there = evolve(bench, engine=Docker(bench.store, address=str(docker_socket)))
    for name in SOME:
        toy = ready(name, repository, online=None, bench=there)
        results = [result_of(attack, toy, there) for attack in some(name) if attack.name in IN_DOCKER]
        assert [result for result in results if not result.held] == []


def test_no_two_attacks_have_one_name_and_none_may_be_called_right() -> None:
    for toy in TOYS.task_ids():
        attacks = attacks_on(toy)
        assert len({attack.name for attack in attacks}) == len(attacks)
        assert "resolved" not in {attack.expected for attack in attacks}


def test_a_bomb_is_a_patch_as_git_writes_it() -> None:
    assert affected_paths(bomb(1)) == ("zeros",)
    assert len(bomb(8)) < 20_000


def test_a_suite_does_not_change_the_tests_of_another_since_each_has_its_own_tree(
    toys: dict[str, Toy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = toys["python"].arena
    spoil = ("sh", "-c", "for file in tests/*.py; do echo 'def test_two(): pass' >$file; done; exit 1")
    spoiler = Suite(name="spoiler", language="python", format="pytest", command=spoil, seconds=15)

    def outcome(place: str) -> Outcome:
        (tmp_path / place).mkdir()
        grading = try_patch(evolve(arena, suites=(spoiler, *arena.suites)), b"", scratch=tmp_path / place).grading
        return grading.outcomes["python|tests/test_double.py::test_two"]

    assert outcome("own") is Outcome.FAILED
    copied = trial.fresh_workspace
    monkeypatch.setattr(trial, "fresh_workspace", lambda of, at: of if at.name == "workspace" else copied(of, at))
    assert outcome("one") is Outcome.PASSED


def test_the_command_prints_a_table_and_fails_when_one_attack_does(
    nanobench: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, toys: dict[str, Toy], repository: Project
) -> None:
    won = Attack(name="won", expected="failed")
    monkeypatch.setattr(verb, "ready", lambda name, *_, **__: toys[name])
    monkeypatch.setattr(verb, "attack_all", lambda toy, _: [Result(toy=toy.name, attack=won, got="resolved")])
    done = nanobench("selftest", "--attacks", "--project", repository.root, "--json")
    assert done.code == 1
    assert [(row["suite"], row["expected"], row["got"]) for row in done.document["attacks"]] == [
        ("python", "failed", "resolved"),
        ("typescript", "failed", "resolved"),
    ]
    assert nanobench("selftest", "--project", repository.root).code == 2
