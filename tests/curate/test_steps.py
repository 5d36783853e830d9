"""An environment with steps from spec to lock and image: inputs are pinned, and every way from the lock holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock
from nanobench.project.files import Spec
from nanobench.project.stale import environment_reasons

WHEEL, TARBALL = "pkg:pypi/iniconfig@2.3.0", "pkg:npm/ms@2.1.3"
STEP = {
    "name": "gather",
    "command": ["cp", "-R", "/nanobench/inputs/ms", "/nanobench/inputs/iniconfig", "built"],
    "inputs": [WHEEL, TARBALL],
    "outputs": ["built"],
}


@pytest.fixture
def with_steps(spec: Spec[Environment]) -> Callable[..., Spec[Environment]]:
    def make(*steps: dict[str, Any]) -> Spec[Environment]:
        document = {**spec.document, **({"step": list(steps)} if steps else {})}
        return evolve(spec, document=document, value=structure(document, Environment, where="e"))

    return make


@pytest.fixture
def lock(locks: Locks, bench: Workbench) -> Callable[..., EnvironmentLock]:
    def run(spec: Spec[Environment], *, old: EnvironmentLock | None = None, offline: bool = False) -> EnvironmentLock:
        with Online() as online:
            network = None if offline else online
            return lock_environment(spec, old or locks.environment, upgrade=(), online=network, bench=bench)[0]

    return run


def inputs_of(lock: EnvironmentLock) -> list[tuple[str, str]]:
    return [(p.purl, p.path) for p in lock.package if p.role == "step"]


@pytest.mark.network
def test_inputs_are_pinned_once_and_kept_and_from_the_lock_alone_the_task_has_what_the_step_made(
    with_steps: Any, lock: Any, locks: Locks, bench: Workbench, tmp_path: Path, folder_source: Any
) -> None:
    made: EnvironmentLock = lock(with_steps(STEP))
    assert inputs_of(made) == [
        (TARBALL, "ms/-/ms-2.1.3.tgz"),
        (WHEEL, "iniconfig/iniconfig-2.3.0-py3-none-any.whl"),
    ]
    assert (made.layer, environment_reasons(made, made.original)) == (locks.environment.layer, ())
    assert read_lock(dump_lock(made), EnvironmentLock, where="lock") == made
    assert dump_lock(lock(with_steps(STEP), old=made, offline=True)) == dump_lock(made)

    in_two = {**STEP, "command": ["sh", "-c", "mkdir built && cp -R /nanobench/inputs/* built"]}
    changed = lock(with_steps(in_two), old=made, offline=True)
    assert changed.package == made.package
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text("")
    environment = realise_environment(changed, online=None, bench=bench)
    image = build_task(folder_source(tmp_path / "project"), environment, bench=bench)
    assert (image.workspace / "built/ms/index.js").is_file()
    assert (image.workspace / "built/iniconfig/iniconfig/__init__.py").is_file()

    assert inputs_of(lock(with_steps(), old=made, offline=True)) == []


def test_a_new_input_needs_the_network(with_steps: Any, lock: Any) -> None:
    with pytest.raises(CannotTell, match="NB_OFFLINE"):
        lock(with_steps(STEP), offline=True)


def test_a_changed_step_is_named_as_the_reason_why_the_lock_is_stale(with_steps: Any, lock: Any) -> None:
    step = {"name": "one", "command": ["touch", "made"], "outputs": ["made"]}
    made = lock(with_steps(step), offline=True)
    now = with_steps({**step, "command": ["touch", "other"]}).document
    name = f"environments/{made.name}.toml"
    assert environment_reasons(made, now) == (f"{name}: step[0].command[1]: locked 'made', now 'other'",)
    assert environment_reasons(made, with_steps().document)[0].startswith(f"{name}: step: locked [{{")
