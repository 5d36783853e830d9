"""What npm tarballs may hold, looked at before the real tool unpacks them in the sandbox.

The tools themselves keep a tarball inside its folder; here one that tries to leave it is named and not used at all.
Links are not refused: npm and pnpm leave them out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nanobench.archives.bounds import Bounds, Meter
from nanobench.archives.decompress import Decompressed
from nanobench.archives.names import problem, shown
from nanobench.archives.untar import TarReader
from nanobench.errors import Refused
from nanobench.formats.digest import document_sha256
from nanobench.model.lock import Package
from nanobench.store.store import Store

BOUNDS = Bounds(members=100_000, total=2 << 30)
_VERSION = 1


def check_tarballs(packages: Iterable[Package], store: Store, *, bounds: Bounds = BOUNDS) -> None:
    """Look at every tarball once in a store's life.

    Raises:
        Refused: ``NB_ARCHIVE_PATH`` for a path that leaves the tarball's folder, ``NB_ARCHIVE_KIND`` for a device,
            ``NB_ARCHIVE_BOMB`` beyond the bounds, ``NB_ARCHIVE_BROKEN``.
    """
    for package in packages:
        recipe = document_sha256({"checked": package.digest, "version": _VERSION})
        if store.recall(recipe) is None:
            _check(store.blob(package.digest), package.purl, bounds)
            store.remember(recipe, {"checked": package.digest})


def _check(tarball: Path, where: str, bounds: Bounds) -> None:
    with tarball.open("rb") as stream:
        meter = Meter(bounds, os.fstat(stream.fileno()).st_size, where)
        for header, _ in TarReader(Decompressed(stream, meter, where), where):
            at = f"{where}: {shown(header.path)}"
            meter.member(header.size, at)
            wrong = problem(header.path.removeprefix("./")) if header.path != "." else None
            if wrong:
                raise Refused("NB_ARCHIVE_PATH", f"{wrong} is not unpacked", where=at)
