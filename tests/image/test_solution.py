from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import Refused
from nanobench.formats.digest import sha256_hex
from nanobench.image.realise import Locks
from nanobench.image.solution import locked_solution, solution_of
from nanobench.image.workbench import Workbench
from nanobench.sources.patch import affected_paths
from nanobench.store.store import Store


class Forbidden:
    """An engine that must not be asked."""

    name = "forbidden"

    def run(self, request: object) -> Any:
        raise AssertionError("nothing has to be derived")


def test_the_derived_patches_are_the_locked_ones_and_share_no_file(place: Any, locks: Locks) -> None:
    golden = affected_paths(place.change.golden, where="golden")
    tests = affected_paths(place.change.test, where="test")
    assert sha256_hex(place.change.golden) == locks.task.source.golden_patch_sha256
    assert set(locks.task.source.required_files) <= set(golden)
    assert tests == locks.task.source.test_files
    assert not set(golden) & set(tests)


def test_both_patches_that_differ_from_the_lock_are_named(place: Any, locks: Locks, bench: Workbench) -> None:
    source = evolve(locks.task.source, golden_patch_sha256="5" * 64, test_patch_sha256="6" * 64)
    with pytest.raises(Refused) as refused:
        locked_solution(evolve(locks.task, source=source), locks.spec, locks.source, place.image, bench=bench)
    assert refused.value.code == "NB_PATCH_DIFFERS"
    assert [d.partition(":")[0] for d in refused.value.details] == [
        "source.golden_patch_sha256",
        "source.test_patch_sha256",
    ]


def test_a_patch_is_derived_once(place: Any, locks: Locks, bench: Workbench) -> None:
    silent: Any = Forbidden()
    change = solution_of(locks.spec, locks.source, place.image, bench=evolve(bench, engine=silent))
    assert change == place.change


def test_derived_anew_it_is_the_same_to_the_byte(place: Any, locks: Locks, bench: Workbench, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for package in locks.source.packages():
        store.put(bench.store.read(package.digest))
    change = solution_of(locks.spec, locks.source, place.image, bench=evolve(bench, store=store))
    assert change == place.change
    assert not list((store.root / "scratch").iterdir())
