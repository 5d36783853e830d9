"""What is resolved anew and what stays pinned; the resolvers are doubles, the packages the committed ones."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems import debian, python
from nanobench.ecosystems.base import Resolution
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.project.files import Spec


@pytest.fixture
def resolved(locks: Locks, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which resolvers were asked; each answers with what is locked."""
    asked: list[str] = []
    packages = locks.environment.package

    def of_debian(*_: Any, **__: Any) -> Resolution:
        asked.append("debian")
        return Resolution(
            packages=tuple(p for p in packages if p.role == "debian"),
            source_date_epoch=locks.environment.source_date_epoch,
        )

    def of_python(*_: Any, **__: Any) -> Any:
        asked.append("python")
        return tuple(p for p in packages if p.role != "debian")

    monkeypatch.setattr(debian, "resolve", of_debian)
    monkeypatch.setattr(python, "resolve", of_python)
    return asked


@pytest.fixture
def relock(spec: Spec[Environment], locks: Locks, bench: Workbench) -> Any:
    def lock(
        document: Any = None, *, old: Any = locks.environment, upgrade: tuple[str, ...] = (), online: Any = None
    ) -> Any:
        asked = spec if document is None else evolve(spec, document={**spec.document, **document})
        return lock_environment(asked, old, upgrade=upgrade, online=online, bench=bench)[0]

    return lock


def test_from_its_own_pins_a_lock_is_the_same_without_network(relock: Any, resolved: list[str], locks: Locks) -> None:
    assert relock() == locks.environment
    assert resolved == []


@pytest.mark.parametrize(
    ("change", "upgrade", "expected"),
    [
        ({}, ("python",), ["python"]),
        ({}, ("base",), ["debian"]),
        ({}, ("base", "python", "harness", "recipe"), ["debian", "python"]),
        ({"python": {"exclude_newer": "2026-10-01"}}, (), ["python"]),
        ({"base": {"debian": "bookworm", "packages": ["python3", "curl"]}}, (), ["debian"]),
        ({"limits": {"cpus": 1}}, (), []),
    ],
)
def test_only_what_changed_or_is_named_is_resolved_anew(
    relock: Any, resolved: list[str], change: Any, upgrade: tuple[str, ...], expected: list[str]
) -> None:
    with Online() as online:
        lock = relock(change, upgrade=upgrade, online=online)
        assert online.contacted == ()
    assert resolved == expected
    assert lock.original == {**lock.original, **change}


def test_another_suite_brings_other_python_packages_too(relock: Any, resolved: list[str], locks: Locks) -> None:
    old = evolve(locks.environment, original={**locks.environment.original, "base": {"debian": "trixie"}})
    with Online() as online:
        relock(old=old, online=online)
    assert resolved == ["debian", "python"]


def test_a_first_lock_resolves_everything_to_the_same_bytes(relock: Any, resolved: list[str], locks: Locks) -> None:
    with Online() as online:
        assert relock(old=None, online=online) == locks.environment
    assert resolved == ["debian", "python"]


def test_offline_a_changed_request_cannot_be_resolved_and_says_where(relock: Any) -> None:
    with pytest.raises(CannotTell) as error:
        relock({"python": {"requirements": ["pytest"]}})
    assert (error.value.code, error.value.where) == ("NB_OFFLINE", "environments/python-bookworm.toml")
