from __future__ import annotations

import pytest
from attrs import evolve

from nanobench.curate.harness import keep_or_lock_harness
from nanobench.errors import CannotTell, Refused
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock
from nanobench.project.files import Project

NAME = "nanocoder-1.30.0"


@pytest.fixture
def harness(repository: Project) -> HarnessLock:
    return repository.lock(HarnessLock, NAME).value


def test_a_lock_that_is_there_is_kept_and_its_closure_needs_no_network(
    harness: HarnessLock, bench: Workbench
) -> None:
    lock, tree = keep_or_lock_harness(NAME, harness, upgrade=("python",), online=None, bench=bench)
    assert lock == harness
    assert tree.name == harness.closure.partition(":")[2]


@pytest.mark.parametrize("old", [True, False])
def test_what_has_to_be_resolved_cannot_be_offline(harness: HarnessLock, bench: Workbench, old: bool) -> None:
    with pytest.raises(CannotTell) as error:
        keep_or_lock_harness(NAME, harness if old else None, upgrade=("harness",), online=None, bench=bench)
    assert error.value.where == f"locks/harness/{NAME}.lock.toml"


def test_a_name_that_this_program_cannot_lock_is_refused_with_the_one_it_can(bench: Workbench) -> None:
    for name in ("nanocoder-1.28.1", "other", "1.30.0", "nanocoder-1.31.0-01234567"):
        with pytest.raises(Refused) as refused:
            keep_or_lock_harness(name, None, upgrade=(), online=None, bench=bench)
        assert refused.value.code == "NB_HARNESS_VERSION"
        assert "1.30.0" in refused.value.hint


def test_a_lock_of_another_version_is_refused_even_when_its_closure_is_here(
    harness: HarnessLock, bench: Workbench
) -> None:
    with pytest.raises(Refused) as refused:
        keep_or_lock_harness(NAME, evolve(harness, nanocoder="1.29.0"), upgrade=(), online=None, bench=bench)
    assert refused.value.code == "NB_HARNESS_VERSION"
