from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.errors import CannotTell, Refused
from nanobench.formats.digest import sha256
from nanobench.image.layers import Packed, layer_tree, pack, pack_once
from nanobench.store.store import Store

Entries = Callable[[], list[Entry]]
EPOCH = 1_700_000_000


def _own(_: Path) -> None:
    return


def test_a_layer_is_a_blob_named_by_its_diff_id(store: Store, entries: Entries) -> None:
    packed = pack(store, entries(), epoch=EPOCH)
    data = store.read(packed.diff_id)
    assert (packed.diff_id, packed.size) == (sha256(data), len(data))
    assert pack(store, reversed(entries()), epoch=EPOCH) == packed


def test_nothing_is_packed_twice(store: Store, entries: Entries) -> None:
    made: list[Packed] = []

    def make() -> Packed:
        made.append(pack(store, entries(), epoch=EPOCH))
        return made[-1]

    first = pack_once(store, {"role": "debian", "epoch": EPOCH}, make)
    assert pack_once(store, {"epoch": EPOCH, "role": "debian"}, make) == first
    assert len(made) == 1
    pack_once(store, {"role": "debian", "epoch": EPOCH + 1}, make)
    assert len(made) == 2


def test_a_remembered_layer_that_is_no_longer_here_is_packed_again(store: Store, entries: Entries) -> None:
    def make() -> Packed:
        return pack(store, entries(), epoch=EPOCH)

    first = pack_once(store, {"role": "debian"}, make)
    store.gc()
    assert not store.has(first.diff_id)
    assert pack_once(store, {"role": "debian"}, make) == first
    assert store.has(first.diff_id)


def test_a_tree_is_unpacked_and_owned_once(store: Store, entries: Entries) -> None:
    packed, owned = pack(store, entries(), epoch=EPOCH), list[Path]()
    tree = layer_tree(store, packed.diff_id, owned.append)
    assert layer_tree(store, packed.diff_id, owned.append) == tree
    assert (tree / "etc" / "os").read_bytes() == b"nano"
    assert len(owned) == 1


def test_one_changed_byte_in_a_tree_is_refused_and_then_mended_from_the_blob(store: Store, entries: Entries) -> None:
    packed = pack(store, entries(), epoch=EPOCH)
    tree = layer_tree(store, packed.diff_id, _own)
    (tree / "etc" / "os").write_bytes(b"mano")
    with pytest.raises(Refused, match="etc/os") as refused:
        layer_tree(store, packed.diff_id, _own)
    assert refused.value.code == "NB_TREE_CHANGED"
    assert (layer_tree(store, packed.diff_id, _own) / "etc" / "os").read_bytes() == b"nano"


def test_one_changed_byte_in_a_layer_is_refused_before_it_is_unpacked(store: Store, entries: Entries) -> None:
    packed = pack(store, entries(), epoch=EPOCH)
    blob = store.root / "blobs" / "sha256" / packed.diff_id[7:9] / packed.diff_id[7:]
    data = blob.read_bytes().replace(b"nano", b"mano")
    blob.chmod(0o644)
    blob.write_bytes(data)
    with pytest.raises(Refused) as refused:
        layer_tree(store, packed.diff_id, _own)
    assert refused.value.code == "NB_BLOB_CORRUPT"
    assert store.tree(packed.diff_id[7:]) is None


def test_a_tree_without_its_blob_cannot_be_made(store: Store) -> None:
    with pytest.raises(CannotTell) as error:
        layer_tree(store, sha256(b"nowhere"), _own)
    assert error.value.code == "NB_BLOB_MISSING"
