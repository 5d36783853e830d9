"""A published image as a base: pinned file by file at a registry, flattened without an engine. The front door.

``resolve`` needs the network, once, to lock. ``assemble`` needs the pinned files alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from nanobench.archives.bounds import Bounds, Meter
from nanobench.archives.decompress import GZIP, ZSTD, Decompressed
from nanobench.archives.names import plain, shown
from nanobench.archives.root import Member, Root
from nanobench.archives.slices import part_of
from nanobench.archives.untar import TarReader
from nanobench.ecosystems.base import EMPTY, Assembled, furnish
from nanobench.ecosystems.oci_documents import MANIFESTS, read_config, read_manifest
from nanobench.ecosystems.oci_registry import resolve
from nanobench.errors import Refused
from nanobench.model.lock import Package
from nanobench.store.seals import file_hash
from nanobench.store.store import Store

__all__ = ["BOUNDS", "assemble", "members", "resolve"]

BOUNDS = Bounds(members=500_000, total=32 << 30, member=8 << 30, free=1 << 30)
_CHUNK = 1 << 20


def assemble(packages: Sequence[Package], store: Store, scratch: Path, *, epoch: int) -> Assembled:
    """The root file system of the pinned image, whose files the store holds.

    Args:
        scratch: an existing, empty directory with room for everything unpacked.
        epoch: seconds since 1970; the time of everything that no layer ships.

    Raises:
        Refused: ``NB_IMAGE_…``, ``NB_ARCHIVE_…`` and ``NB_BASE``, naming the file and the member.
        CannotTell: ``NB_BLOB_MISSING`` when the store does not hold a file.
    """
    pinned = {p.digest: p for p in packages}
    top = next((p for p in packages if f"/{MANIFESTS}/" in p.path), None)
    if top is None:
        raise Refused("NB_IMAGE_MANIFEST", "no manifest is pinned", where="package")
    manifest = read_manifest(store.read(top.digest), where=top.purl)
    missing = [d.digest for d in (manifest.config, *manifest.layers) if d.digest not in pinned]
    if missing:
        raise Refused("NB_IMAGE_MANIFEST", f"{missing[0]} is not pinned", where=top.purl)
    config = read_config(store.read(manifest.config.digest), where=pinned[manifest.config.digest].purl)
    root = Root(epoch=epoch, limit=BOUNDS.members, where=top.purl)
    meter = Meter(BOUNDS, sum(layer.size for layer in manifest.layers), top.purl)
    for number, (layer, diff_id) in enumerate(zip(manifest.layers, config.diff_ids, strict=True)):
        where = pinned[layer.digest].purl
        tar = _unpacked(store.blob(layer.digest), scratch / f"{number}.tar", meter, where)
        _check(tar, diff_id, where)
        root.apply(members(tar, meter, where))
    furnish(root, where=top.purl)
    warnings = [f"the image sets {name}: not taken over, state it under [env]" for name in config.variables]
    return Assembled(entries=tuple(root), warnings=tuple(warnings))


def members(tar: Path, meter: Meter, where: str) -> Iterator[Member]:
    """The members of an uncompressed layer, their contents left where they are."""
    with tar.open("rb") as file:
        for header, body in TarReader(file, where, skips=_is_filled):
            meter.member(header.size, f"{where}: {shown(header.path)}")
            yield header, partial(part_of, tar, body.start, header.size)


def _is_filled(path: str) -> bool:
    """Whether an engine fills the place: devices there are left out, as all else is."""
    return plain(path).partition("/")[0] in EMPTY


def _unpacked(layer: Path, dest: Path, meter: Meter, where: str) -> Path:
    """The layer's tar: ``dest``, or the layer itself when it is not compressed."""
    with layer.open("rb") as packed:
        if not os.pread(packed.fileno(), len(ZSTD), 0).startswith((GZIP, ZSTD)):
            return layer
        content = Decompressed(packed, meter, where)
        with dest.open("xb") as out:
            while chunk := content.read(_CHUNK):
                out.write(chunk)
    return dest


def _check(tar: Path, diff_id: str, where: str) -> None:
    found = f"sha256:{file_hash(tar, 'sha256')}"
    if found != diff_id:
        raise Refused("NB_DIGEST", f"unpacks to {found}, not to {diff_id}", where=where)
