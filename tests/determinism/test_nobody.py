"""A uid that the machine has no name and no home for, as containers start processes."""

from __future__ import annotations

import pwd
from pathlib import Path
from typing import NoReturn

import pytest

from nanobench.ecosystems.registries import Registries
from nanobench.errors import MachineFailure
from nanobench.store.store import default_root


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(uid: int) -> NoReturn:
        raise KeyError(uid)

    for name in ("HOME", "XDG_CACHE_HOME", "NANOBENCH_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_no_store_is_made_in_the_current_folder_for_want_of_a_home() -> None:
    with pytest.raises(MachineFailure) as failure:
        default_root()
    assert failure.value.code == "NB_STORE"
    assert "--store" in failure.value.hint


def test_a_chosen_store_needs_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOBENCH_STORE", "/a/store")
    assert default_root() == Path("/a/store")


def test_without_a_home_nothing_is_configured_there() -> None:
    assert not Registries().home.exists()
