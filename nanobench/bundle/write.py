"""Publishes a bundle: everything is written into another folder, which then gets the bundle's name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from attrs import astuple

from nanobench.errors import Misuse
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import dump_json
from nanobench.model.result import Blobs, BundleManifest, CellResult, RunManifest
from nanobench.store.files import remove_tree

MANIFEST = "manifest.json"
RUN = "run.json"


def blob_name(sha256: str) -> str:
    """Where a blob lies in a bundle."""
    return f"blobs/sha256/{sha256}"


def cell_name(cell_id: str) -> str:
    """Where a cell's result lies in a bundle."""
    return f"cells/{cell_id}.json"


def blobs_of(blobs: Blobs) -> tuple[str, ...]:
    """The digests that a cell's result names."""
    return tuple(sorted({digest for digest in astuple(blobs) if digest is not None}))


def write_bundle(
    destination: Path,
    run: RunManifest,
    results: Iterable[CellResult],
    locks: Mapping[str, bytes],
    blobs: Mapping[str, Path],
    *,
    building: Path,
) -> Path:
    """Write a bundle folder, whole or not at all.

    Args:
        building: the folder to write in, on the destination's file system; what a killed run left there goes.
        locks: path below the bundle's ``locks/`` → bytes.
        blobs: sha256 → file that holds it.

    Raises:
        Misuse: ``NB_EXISTS`` when the destination exists.
    """
    if destination.exists():
        raise Misuse("NB_EXISTS", "already exists", where=str(destination), hint="choose another --out")
    if building.exists():
        remove_tree(building)
    building.mkdir(parents=True)
    try:
        files = {RUN: _put(building, RUN, dump_json(run))}
        for result in results:
            name = cell_name(result.cell.id)
            files[name] = _put(building, name, dump_json(result))
        for name, data in locks.items():
            files[f"locks/{name}"] = _put(building, f"locks/{name}", data)
        for digest, source in blobs.items():
            files[blob_name(digest)] = _put(building, blob_name(digest), source.read_bytes())
        manifest = BundleManifest(schema=1, files=dict(sorted(files.items())))
        _put(building, MANIFEST, dump_json(manifest))
        building.chmod(0o755)
        building.rename(destination)
    except BaseException:
        remove_tree(building)
        raise
    return destination


def _put(root: Path, name: str, data: bytes) -> str:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(0o644)
    return sha256_hex(data)
