from __future__ import annotations

from pathlib import Path
from typing import Any

from nanobench.store.store import Store


def test_what_nobody_needs_is_collected_and_its_size_is_told(nanobench: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    kept, lost = store.put(b"kept"), store.put(b"x" * 100_000)
    root = tmp_path / "root"
    root.touch()
    store.register_root(root, [kept])
    done = nanobench("store", "gc", "--store", store.root, "--json")
    assert done.code == 0
    assert done.document["freed_bytes"] >= 100_000
    assert store.has(kept)
    assert not store.has(lost)
    assert nanobench("store", "gc", "--store", store.root).out == "freed 0.0 MiB\n"


def test_damage_is_exit_1_and_named(nanobench: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    digest = store.put(b"whole")
    assert nanobench("store", "verify", "--store", store.root).out == "every blob and tree is as it was stored\n"
    path = store.blob(digest)
    path.chmod(0o644)
    path.write_bytes(b"whale")
    done = nanobench("store", "verify", "--store", store.root, "--json")
    assert done.code == 1
    (damage,) = done.document["damaged"]
    assert (damage["code"], damage["where"]) == ("NB_BLOB_CORRUPT", digest)
    assert nanobench("store", "verify", "--store", store.root).code == 0


def test_where_there_can_be_no_store_the_machine_is_at_fault(nanobench: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = nanobench("store", "verify", "--store", tmp_path / "file/store", "--json")
    assert (done.code, done.document["error"]["code"]) == (4, "NB_STORE")
    assert "--store" in done.document["error"]["hint"]
