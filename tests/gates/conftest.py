"""One real case: the demo task, out of the warm store."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from nanobench.curate.source import lock_source
from nanobench.ecosystems.online import Online
from nanobench.formats.converter import structure
from nanobench.gates.interface import Case
from nanobench.gates.relock import Inputs, case_of
from nanobench.gates.tools import Tools, realise_tools
from nanobench.grading.known import known_trial
from nanobench.harness.realise import realise_closure
from nanobench.image.realise import Locks, realise_environment
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


Files = dict[str, str]
PATHS = {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n'}

TOY = """
schema = 1
id = "toy"
kind = "fixture"
environment = "python-bookworm"
harness = "nanocoder-1.30.0"
[source]
type = "vendored"
[statement]
origin = "curator"
[curation]
languages = ["python"]
domain = "toys"
complexity_tier = 1
task_type = "feature"
reasoning_category = "toys"
contributor = "NanoBench"
[[suite]]
name = "py"
language = "python"
format = "pytest"
command = ["python", "-P", "-m", "pytest", "tests"]
seconds = 60
"""


@pytest.fixture
def toy_case(repository: Project, locks: Locks, case: Case, bench: Workbench, tmp_path: Path) -> Any:
    """Makes a case of a small fixture: the tests run for real, in the demo task's environment.

    ``make(base, solution, tests, head)``: files by path; ``head`` are lines of TOML at the top of the task.
    """

    def make(base: Files, solution: Files, tests: Files, head: str = "") -> Case:
        place = tmp_path / "toys"
        shutil.rmtree(place, ignore_errors=True)
        folder = place / "tasks/toy"
        sides = (("base", base | PATHS), ("solution", solution), ("tests", tests))
        files = {f"{side}/{path}": text for side, texts in sides for path, text in texts.items()}
        for path, text in {**files, "task.toml": head + TOY, "statement.md": "Make it so.\n"}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        shutil.copytree(repository.root / "environments", place / "environments")
        spec = Project(place).task("toy")
        source, pins = lock_source(spec, None, upgrade=(), online=None, bench=bench)
        inputs = Inputs(
            task=spec.value,
            environment=case.environment,
            documents={"task": spec.document, "environment": case.documents["environment"]},
            statement=b"Make it so.\n",
            cutoff=None,
            source=source,
            pins=pins,
            layers=realise_environment(locks.environment, online=None, bench=bench),
            environment_lock=locks.environment,
            harness=case.harness,
            closure=case.closure,
            tools=case.tools,
        )
        return case_of(inputs, bench=bench)

    return make
