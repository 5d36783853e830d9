"""The toys of the self test, built once from the committed locks of their environments."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nanobench.ecosystems.online import Online
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.selftest.attack import attacks_on
from nanobench.selftest.suite import Result, Toy, ready, result_of


@pytest.fixture(scope="session")
def toys(repository: Project, bench: Workbench) -> dict[str, Toy]:
    with Online() as online:
        return {name: ready(name, repository, online=online, bench=bench) for name in ("python", "typescript")}


@pytest.fixture
def attack(toys: dict[str, Toy], bench: Workbench) -> Callable[[str, str], Result]:
    """What becomes of a published attack on a toy."""

    def run(toy: str, name: str) -> Result:
        (found,) = (attack for attack in attacks_on(toy) if attack.name == name)
        return result_of(found, toys[toy], bench)

    return run
