"""An interpreter that no package of the suite brings: its archive as a pinned file, and the entries of its layer."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial

from packageurl import PackageURL

from nanobench.archives.entries import Entry
from nanobench.ecosystems.installed import stamped
from nanobench.ecosystems.py_target import PREFIX
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.model.environment import Interpreter
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.sandbox.interface import MOUNTS, Mount

_IN, _OUT = f"{MOUNTS}/in", f"{MOUNTS}/out"


def interpreter_package(asked: Interpreter) -> Package:
    """The archive as a lock names it."""
    purl = PackageURL("generic", None, "cpython", asked.version, {"download_url": asked.url})
    return Package(
        purl=purl.to_string(),
        role="interpreter",
        path=asked.url.rpartition("/")[2],
        digest=Digest(f"sha256:{asked.sha256}"),
        size=asked.size,
    )


def unpack_interpreter(packages: Sequence[Package], *, shop: Workshop) -> tuple[Entry, ...]:
    """The entries of ``/opt/python``; the image's own tar unpacks it, sealed, for such archives hold links.

    Raises:
        Refused: ``NB_INTERPRETER`` when that fails.
    """
    (package,) = (p for p in packages if p.role == "interpreter")
    place, out = shop.directory("archive"), shop.directory("interpreter")
    shutil.copyfile(shop.store.blob(package.digest), place / "archive")
    for folder in (place, out):
        shop.engine.own(folder)
    shop.command(
        *("tar", "--extract", "--gzip", "--no-same-owner", "--no-same-permissions", "--strip-components=1"),
        *(f"--file={_IN}/archive", f"--directory={_OUT}"),
        phase="interpreter",
        mounts=(Mount(source=place, target=_IN), Mount(source=out, target=_OUT, writable=True)),
        refusal=partial(Refused, "NB_INTERPRETER", "its archive could not be unpacked", where=package.purl),
    )
    return tuple(stamped(out, prefix=PREFIX[1:], epoch=shop.epoch))
