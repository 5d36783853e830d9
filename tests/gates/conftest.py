"""One real case: the demo task, out of the warm store."""

from __future__ import annotations

from typing import Any

import pytest

from nanobench.ecosystems.online import Online
from nanobench.formats.converter import structure
from nanobench.gates.interface import Case
from nanobench.gates.tools import Tools, realise_tools
from nanobench.grading.known import known_trial
from nanobench.harness.realise import realise_closure
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import HarnessLock
from nanobench.project.files import Project


@pytest.fixture(scope="session")
def tools(bench: Workbench) -> Tools:
    """The gates' own tools; they are fetched once."""
    with Online() as online:
        return realise_tools(online=online, bench=bench)


@pytest.fixture(scope="session")
def case(place: Any, locks: Locks, bench: Workbench, repository: Project, demo: str, tools: Tools) -> Case:
    harness = repository.lock(HarnessLock, locks.task.harness.name).value
    patches = {"base": b"", "golden": place.change.golden}
    trials = {
        name: known_trial(place.arena, place.image, patch, name=name, bench=bench) for name, patch in patches.items()
    }
    return Case(
        task=locks.spec,
        environment=structure(locks.environment.original, Environment, where="lock"),
        documents={"task": locks.task.original, "environment": locks.environment.original},
        statement=repository.statement(demo),
        cutoff=None,
        pins=None,
        tokens=1000,
        tools=tools,
        harness=harness,
        closure=realise_closure(harness, online=None, bench=bench),
        image=place.image,
        change=place.change,
        arena=place.arena,
        base=trials["base"],
        golden=trials["golden"],
        bench=bench,
        rebuild=place.image.locked,
    )
