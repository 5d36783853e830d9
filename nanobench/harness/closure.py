"""The agent's closure as a tree: Node in ``node/``, Nanocoder and its dependencies in ``app/node_modules/``.

It lies outside of every image, is mounted read-only for the agent alone, and is absent when grading. Every file
of every pinned tarball is in it and nothing else: no ``.bin`` links, since Nanocoder is started by its own file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nanobench.archives.entries import entries_of
from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.archives.reader import extract
from nanobench.errors import Refused
from nanobench.formats.digest import split
from nanobench.harness.build import NANOCODER
from nanobench.model.lock import HarnessLock, Package
from nanobench.store.files import make_folder
from nanobench.store.store import Store

MOUNT = "/nanobench/harness"
NODE = f"{MOUNT}/node/bin/node"
ENTRY = f"{MOUNT}/app/node_modules/{NANOCODER}/dist/cli.js"

EPOCH = 0
"""The time of every file and directory of the closure."""


def build_closure(lock: HarnessLock, store: Store) -> Path:
    """The closure's tree in the store, made from the pinned tarballs when it is not there yet.

    Raises:
        Refused: ``NB_CLOSURE`` when the tree is not the locked one; whatever a hostile tarball is refused for.
        CannotTell: ``NB_BLOB_MISSING`` when a tarball is not in the store.
    """

    def fill(tree: Path) -> None:
        assemble(lock.package, store, tree)
        found = measure(tree)
        if found.diff_id != lock.closure:
            raise Refused(
                "NB_CLOSURE",
                f"locked {lock.closure}, made {found.diff_id} from the locked files",
                where=f"{lock.name}: closure",
                hint="the recipe changed: lock the harness again, or use the nanobench that made this lock",
            )

    return store.make_tree(closure_key(lock), fill)


def closure_key(lock: HarnessLock) -> str:
    """The closure's key among the store's trees."""
    return split(lock.closure)[1]


def assemble(packages: Iterable[Package], store: Store, tree: Path) -> None:
    """Unpack every package that has a target; the same tree for every user, umask and moment.

    Raises:
        Refused: ``NB_CLOSURE_CLASH`` when a tarball holds what belongs to another package.
    """
    places = {_place(package): package for package in packages if package.target is not None}
    for place, package in sorted(places.items()):
        dest = tree / place
        if os.path.lexists(dest):
            raise Refused("NB_CLOSURE_CLASH", f"{place} is there already", where=package.purl)
        make_folder(dest)
        extract(store.blob(package.digest), dest, where=package.purl, strip=1)
    _set_times(tree)


def measure(tree: Path) -> LayerFacts:
    """The canonical tar of the tree: its digest (the lock's ``closure``) and its size."""
    return write_layer(entries_of(tree, epoch=EPOCH), _Nowhere(), epoch=EPOCH)


class _Nowhere:
    """The layer is only hashed."""

    def write(self, data: bytes, /) -> int:
        return len(data)


def _place(package: Package) -> str:
    return str(package.target) if package.role == "node" else f"app/{package.target}"


def _set_times(tree: Path) -> None:
    for folder, _, files in os.walk(tree, topdown=False):
        for name in files:
            os.utime(os.path.join(folder, name), (EPOCH, EPOCH))  # noqa: PTH118
        os.utime(folder, (EPOCH, EPOCH))
