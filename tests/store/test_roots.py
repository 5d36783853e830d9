from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import MachineFailure, Refused
from nanobench.store.store import Store

Other = Callable[[str], subprocess.Popen[str]]


def _touch(tree: Path) -> None:
    (tree / "file").write_bytes(b"x" * 5000)


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "a.lock.toml"
    path.touch()
    return path


def test_what_a_living_root_names_is_kept_and_the_rest_goes(store: Store, lock: Path) -> None:
    kept, gone = store.put(b"kept"), store.put(b"gone" * 5000)
    for key in ("kept-tree", "gone-tree", kept.removeprefix("sha256:")):
        store.make_tree(key, _touch)
    store.register_root(lock, [kept, "kept-tree"])
    assert store.gc() >= 25000
    assert (store.has(kept), store.has(gone)) == (True, False)
    assert store.tree("kept-tree")
    assert store.tree(kept.removeprefix("sha256:"))
    assert store.tree("gone-tree") is None
    assert not any("gone" in name for name in os.listdir(store.root / "trees"))
    assert store.gc() == 0


def test_a_root_that_is_gone_keeps_nothing(store: Store, lock: Path) -> None:
    digest = store.put(b"data")
    store.register_root(lock, [digest])
    store.gc()
    assert store.has(digest)
    lock.unlink()
    store.gc()
    assert not store.has(digest)
    assert os.listdir(store.root / "roots") == []


def test_registering_again_replaces_the_list(store: Store, lock: Path) -> None:
    first, second = store.put(b"1"), store.put(b"2")
    store.register_root(lock, [first])
    store.register_root(lock, [second])
    store.gc()
    assert (store.has(first), store.has(second)) == (False, True)


def test_recipes_of_what_is_gone_go_too(store: Store, lock: Path) -> None:
    kept, gone = store.put(b"kept"), store.put(b"gone")
    store.remember("a" * 64, {"diff_id": kept})
    store.remember("b" * 64, {"diff_id": gone})
    store.register_root(lock, [kept])
    store.gc()
    assert store.recall("a" * 64) == {"diff_id": kept}
    assert store.recall("b" * 64) is None


def test_quarantine_and_the_scratch_of_the_dead_are_emptied(store: Store) -> None:
    (store.root / "quarantine" / "bad").write_bytes(b"x")
    (store.root / "scratch" / "agent-1").mkdir()
    store.gc()
    assert os.listdir(store.root / "quarantine") == os.listdir(store.root / "scratch") == []


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"file":3,"keep":[]}', b'{"file":"/","keep":3}'])
def test_nothing_is_removed_when_a_root_cannot_be_read(data: bytes, store: Store) -> None:
    digest = store.put(b"data")
    (store.root / "roots" / "bad").write_bytes(data)
    with pytest.raises(Refused) as refused:
        store.gc()
    assert (refused.value.code, refused.value.where) == ("NB_ROOT", str(store.root / "roots" / "bad"))
    assert store.has(digest)


def test_nothing_is_removed_while_another_process_uses_the_store(store: Store, said: list[str], other: Other) -> None:
    process = other("ready()")
    digest = store.put(b"fetched, not yet locked")
    with pytest.raises(MachineFailure) as failure:
        store.gc()
    assert failure.value.code == "NB_LOCK_TIMEOUT"
    assert said == ["waiting for every other nanobench that uses the store"]
    assert store.has(digest)
    process.kill()
    process.wait()
    store.gc()
    assert not store.has(digest)


def test_a_second_store_of_the_same_process_is_no_hindrance(store: Store) -> None:
    digest = Store(store.root).put(b"data")
    second = Store(store.root)
    store.gc()
    assert not second.has(digest)


def test_a_root_may_have_any_name(store: Store, tmp_path: Path) -> None:
    digest = store.put(b"data")
    lock = Path(os.fsdecode(os.fsencode(tmp_path) + b"/%41 \xff.lock"))
    lock.touch()
    store.register_root(lock, [digest])
    store.gc()
    assert store.has(digest)


def test_verify_finds_every_changed_byte(store: Store) -> None:
    good, bad = store.put(b"good"), store.put(b"bad")
    for key in ("good-tree", "bad-tree"):
        store.make_tree(key, _touch)
    assert store.verify() == ()
    place = store.blob(bad)
    place.chmod(0o644)
    place.write_bytes(b"bat")
    (store.root / "trees" / "bad-tree" / "file").write_bytes(b"x" * 4999 + b"y")
    assert [error.code for error in store.verify()] == ["NB_BLOB_CORRUPT", "NB_TREE_CHANGED"]
    assert store.verify() == ()
    assert (store.has(good), store.has(bad)) == (True, False)
