from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.store.store import Store

EPOCH = 1_700_000_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def entries() -> Callable[[], list[Entry]]:
    def make() -> list[Entry]:
        file = Entry(path="etc/os", kind="file", mode=0o644, mtime=5, size=4, content=lambda: io.BytesIO(b"nano"))
        return [file, Entry(path="bin", kind="symlink", mode=0o777, mtime=5, link="usr/bin")]

    return make
