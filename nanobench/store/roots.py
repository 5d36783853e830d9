"""Roots: locks and states of runs, which need something of the store, and the removal of what none needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.formats.digest import sha256_hex
from nanobench.model.fields import DIGEST, Digest
from nanobench.store.files import remove_tree

_HEX = re.compile(r"[0-9a-f]+")
_MENTIONED = re.compile(DIGEST)


def record(file: Path, keep: Iterable[str]) -> tuple[str, bytes]:
    """Name and bytes of the record that ``file`` (percent-encoded: a path may be any bytes) needs ``keep``."""
    path = os.fsencode(file.absolute())
    return sha256_hex(path), json.dump({"file": quote(path), "keep": sorted(set(keep))})


def blobs(root: Path) -> Iterator[Digest]:
    """Every blob that is there."""
    for path in sorted(root.glob("blobs/*/*/*")):
        if _HEX.fullmatch(path.name):
            yield Digest(f"{path.parent.parent.name}:{path.name}")


def trees(root: Path) -> Iterator[str]:
    """Every tree that is there."""
    for path in sorted(root.glob("trees/*")):
        if path.is_dir():
            yield path.name


def collect(root: Path) -> int:
    """Remove what no live root names; bytes freed. Only unlinks, so a full disk is no obstacle.

    The caller holds the store alone.
    """
    keep = _kept(root)
    freed = 0
    for path in root.glob("blobs/*/*/*"):
        if f"{path.parent.parent.name}:{path.name.removesuffix('.seal')}" not in keep:
            freed += _unlink(path)
    kept_trees = keep | {name.partition(":")[2] for name in keep}
    for path in root.glob("trees/*"):
        if path.name.partition(".")[0] not in kept_trees:
            freed += _unlink(path)
    for path in [*root.glob("quarantine/*"), *root.glob("locks/*")]:
        freed += _unlink(path)
    return freed + _forget_recipes(root, keep)


def _kept(root: Path) -> set[str]:
    """What the live roots name; the records of files that are gone are removed, once all could be read."""
    keep: set[str] = set()
    gone = []
    for path in root.glob("roots/*"):
        try:
            document = json.parse(path.read_bytes(), where=str(path))
            file, named = (
                Path(os.fsdecode(unquote_to_bytes(document["file"]))),
                {str(item) for item in document["keep"]},
            )
        except (Refused, KeyError, TypeError, AttributeError) as error:
            hint = "remove that file if nothing needs what it kept"
            raise Refused("NB_ROOT", f"cannot be read: {error}", where=str(path), hint=hint) from None
        if file.exists():
            keep |= named
        else:
            gone.append(path)
    for path in gone:
        path.unlink()
    return keep


def _forget_recipes(root: Path, keep: set[str]) -> int:
    """Remove the recipes whose output names a blob that is not kept."""
    freed = 0
    for path in root.glob("recipes/*/*"):
        text = path.read_text("utf-8", errors="replace")
        if not keep.issuperset(found[0] for found in _MENTIONED.finditer(text)):
            freed += _unlink(path)
    return freed


def _unlink(path: Path) -> int:
    if path.is_dir() and not path.is_symlink():
        return remove_tree(path)
    size = path.lstat().st_blocks * 512
    path.unlink()
    return size
