"""From the committed locks to the image: the real one, out of the warm store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import CannotTell, Refused
from nanobench.image.realise import Locks, identity_differences, packages_of, realise
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.store.store import Store

OTHER = Digest("sha256:" + "5" * 64)


def test_what_is_built_from_a_committed_lock_is_what_it_names(place: Any, locks: Locks) -> None:
    assert identity_differences(locks.task, place.image) == ()


def test_every_digest_that_came_out_different_is_named_at_once(locks: Locks, bench: Workbench) -> None:
    image, source = locks.task.image, locks.task.source
    changed = evolve(
        locks.task,
        image=evolve(image, manifest_digest=OTHER, config_digest=OTHER, diff_ids=(OTHER, *image.diff_ids[1:])),
        source=evolve(source, commit="5" * 40, tree="5" * 40),
    )
    with pytest.raises(Refused) as refused:
        realise(evolve(locks, task=changed), online=None, bench=bench)
    assert refused.value.code == "NB_IMAGE_DIFFERS"
    assert refused.value.where == f"locks/{locks.task.task}.lock.toml"
    text = "\n".join(refused.value.details)
    for key in ("manifest_digest", "config_digest", "diff_ids[0]", "source.commit", "source.tree"):
        assert key in text
    assert f"built {image.manifest_digest}, locked {OTHER}" in text


def test_a_layer_that_came_out_different_is_named_with_both_digests(locks: Locks, bench: Workbench) -> None:
    first, *rest = locks.environment.layer
    changed = evolve(locks.environment, layer=(evolve(first, diff_id=OTHER), *rest))
    with pytest.raises(Refused) as refused:
        realise(evolve(locks, environment=changed), online=None, bench=bench)
    (reason,) = refused.value.details
    assert f"layer {first.role}: built {first.diff_id}" in reason
    assert f"locked {OTHER}" in reason


def test_a_lock_that_names_fewer_layers_is_refused(locks: Locks, bench: Workbench) -> None:
    changed = evolve(locks.environment, layer=locks.environment.layer[:-1])
    with pytest.raises(Refused) as refused:
        realise(evolve(locks, environment=changed), online=None, bench=bench)
    assert refused.value.code == "NB_IMAGE_DIFFERS"


def test_offline_with_an_empty_store_every_missing_file_is_listed(
    locks: Locks, bench: Workbench, tmp_path: Path
) -> None:
    with pytest.raises(CannotTell) as error:
        realise(locks, online=None, bench=evolve(bench, store=Store(tmp_path / "store")))
    assert error.value.code == "NB_OFFLINE"
    assert set(error.value.details) == {p.purl for p in locks.environment.package}
    assert len(error.value.details) < len(packages_of(locks))
