from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import CannotTell
from nanobench.formats.converter import structure
from nanobench.image.environment import BuiltEnvironment, build_environment
from nanobench.image.realise import Locks
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.fields import Digest
from nanobench.store.store import Store


@pytest.fixture
def spec(locks: Locks) -> Environment:
    return structure(locks.environment.original, Environment, where="lock")


@pytest.fixture
def build(locks: Locks, bench: Workbench) -> Any:
    def make(spec: Environment, *, bench: Workbench = bench, packages: Any = locks.environment.package) -> Any:
        said: list[str] = []
        built = build_environment(
            spec,
            packages,
            epoch=locks.environment.source_date_epoch,
            bench=evolve(bench, say=said.append),
            built=locks.environment.built,
        )
        return built, said

    return make


def test_what_is_known_by_its_digest_is_not_built_again(build: Any, spec: Environment, locks: Locks) -> None:
    built, said = build(spec)
    assert said == []
    assert built.layers == locks.environment.layer
    assert [tree.name for tree in built.trees] == [layer.diff_id[7:] for layer in built.layers]


def test_what_the_makers_found_out_is_known_too(build: Any, spec: Environment, locks: Locks) -> None:
    built: BuiltEnvironment = build(spec)[0]
    assert (built.warnings, built.built) == (locks.environment.warning, locks.environment.built)


def test_an_environment_without_python_is_its_debian_layer(build: Any, spec: Environment, locks: Locks) -> None:
    packages = tuple(p for p in locks.environment.package if p.role == "debian")
    built, said = build(evolve(spec, python=None), packages=packages)
    assert built.layers == locks.environment.layer[:1]
    assert said == []


def test_other_packages_are_another_layer_that_has_to_be_built(build: Any, spec: Environment, locks: Locks) -> None:
    first = locks.environment.package[0]
    missing = evolve(first, digest=Digest("sha256:" + "5" * 64))
    with pytest.raises(CannotTell) as error:
        build(spec, packages=(missing, *locks.environment.package[1:]))
    assert error.value.code == "NB_BLOB_MISSING"
    assert error.value.where == missing.digest


def test_limits_and_variables_of_a_spec_are_in_no_layer(build: Any, spec: Environment, locks: Locks) -> None:
    built, said = build(evolve(spec, limits=evolve(spec.limits, cpus=7), env={"A": "1"}))
    assert (built.layers, said) == (locks.environment.layer, [])


def test_an_empty_store_has_to_build_from_files_that_it_lacks(
    build: Any, spec: Environment, bench: Workbench, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    with pytest.raises(CannotTell):
        build(spec, bench=evolve(bench, store=store))
    assert store.leftovers() == ()
    assert not list((store.root / "scratch").iterdir())
