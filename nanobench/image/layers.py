"""Layers in the store: packed once, unpacked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import field, frozen

from nanobench.archives.entries import Entry
from nanobench.archives.layer import write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import document_sha256, split
from nanobench.model.fields import DIGEST, Digest, Document, text, whole
from nanobench.model.lock import RECIPE
from nanobench.store.store import Store


@frozen(kw_only=True)
class Packed:
    """A layer that is in the store; ``notes`` is what else its maker found out (warnings, ids)."""

    diff_id: Digest = text(DIGEST)
    size: int = whole(0, 2**40)
    notes: Document = field(factory=dict)


def pack(store: Store, entries: Iterable[Entry], *, epoch: int, notes: Document | None = None) -> Packed:
    """Put the canonical layer of ``entries`` into the store; it is streamed, never held."""
    with store.incoming() as incoming:
        facts = write_layer(entries, incoming, epoch=epoch)
    return Packed(diff_id=facts.diff_id, size=facts.size, notes=notes or {})


def pack_once(store: Store, recipe: Document, make: Callable[[], Packed]) -> Packed:
    """The layer of ``recipe``: remembered, or made now and remembered.

    Args:
        recipe: everything that the layer's bytes depend on (inputs' digests, epoch, the layer's role …); the version
            of our canonicalisation is added.
        make: makes the layer, usually by :func:`pack`.
    """
    key = document_sha256({"layer": recipe, "recipe": RECIPE})
    known = _recalled(store, key)
    if known is None:
        known = make()
        store.remember(key, unstructure(known))
    return known


def layer_tree(store: Store, diff_id: Digest, own: Callable[[Path], None]) -> Path:
    """The unpacked tree of a layer, unchanged since it was unpacked from the verified blob.

    Args:
        own: makes a tree belong to the sandbox's user (:meth:`nanobench.sandbox.interface.Engine.own`).

    Raises:
        CannotTell: ``NB_BLOB_MISSING`` when neither the tree nor the blob is here.
        Refused: ``NB_TREE_CHANGED``, ``NB_BLOB_CORRUPT``, or what :func:`unpack_layer` raises.
    """

    def fill(dest: Path) -> None:
        unpack_layer(store.blob(diff_id), dest)
        own(dest)

    return store.make_tree(split(diff_id)[1], fill)


def _recalled(store: Store, key: str) -> Packed | None:
    document = store.recall(key)
    if document is None:
        return None
    packed = structure(document, Packed, where=f"recipe {key}")
    if not store.has(packed.diff_id):
        return None
    store.blob(packed.diff_id)  # a damaged one is refused even where its tree is whole
    return packed
