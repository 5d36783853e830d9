"""The second build of the image gate, in a store of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.formats.converter import unstructure
from nanobench.formats.digest import document_sha256
from nanobench.image.realise import Locks
from nanobench.image.rebuild import rebuild
from nanobench.image.workbench import Workbench
from nanobench.model.lock import RECIPE


@pytest.fixture
def environment(place: Any, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The demo task's environment, known to build the same twice."""
    recall = bench.store.recall
    rebuilt = document_sha256(
        {"rebuilt": [unstructure(layer) for layer in place.image.environment.layers], "recipe": RECIPE}
    )
    monkeypatch.setattr(
        type(bench.store), "recall", lambda _, recipe: {"same": True} if recipe == rebuilt else recall(recipe)
    )
    return place.image.environment


def test_the_task_layer_is_built_again_and_comes_out_the_same(
    environment: Any, locks: Locks, bench: Workbench
) -> None:
    said: list[str] = []
    umask = os.umask(0o077)
    try:
        found = rebuild(locks.source, environment, bench=evolve(bench, say=said.append))
    finally:
        os.umask(umask)
    assert found == locks.task.image
    assert said == ["building layer task"]


def test_nothing_of_the_second_build_stays(environment: Any, locks: Locks, bench: Workbench) -> None:
    before = {path.name for path in (bench.store.root / "trees").iterdir()}
    with pytest.raises(FileNotFoundError):
        rebuild(locks.source, evolve(environment, trees=(Path("/nowhere"),) * 3), bench=bench)
    assert {path.name for path in (bench.store.root / "trees").iterdir()} == before
    assert not list((bench.store.root / "scratch").glob("rebuild-*"))
