"""Debian as a base: resolve with apt, lock exact files, unpack them in pure Python. This is the room's front door.

``resolve`` needs apt and the network, once, to lock. ``assemble`` needs the locked files alone: no root, no engine,
no maintainer script. The same files give the same entries on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nanobench.ecosystems import deb_effects
from nanobench.ecosystems.base import Assembled
from nanobench.ecosystems.deb_dpkg import write_database
from nanobench.ecosystems.deb_resolve import resolve
from nanobench.ecosystems.deb_tree import Tree
from nanobench.ecosystems.deb_unpack import unpack_all
from nanobench.model.lock import Package
from nanobench.store.store import Store

__all__ = ["assemble", "resolve"]


def assemble(packages: Sequence[Package], store: Store, scratch: Path, *, epoch: int) -> Assembled:
    """The root file system of the locked Debian ``packages``, whose files the store holds.

    Args:
        scratch: an existing, empty directory with room for everything unpacked.
        epoch: seconds since 1970; the time of everything that no package ships.

    Raises:
        Refused: ``NB_DEB…`` and ``NB_ARCHIVE_…`` naming the package and the member, when one is not a plain .deb.
        CannotTell: ``NB_BLOB_MISSING`` when the store does not hold a file.
    """
    tree = Tree(epoch)
    installed = unpack_all(packages, store, scratch, tree)
    warnings = deb_effects.apply(tree, installed)
    write_database(tree, installed)
    return Assembled(entries=tuple(tree), warnings=tuple(sorted(set(warnings))))
