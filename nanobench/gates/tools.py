"""What gates need that is neither the task's nor the image's, pinned here: a vocabulary, and a clock to move.

* Tokens are counted with the vocabulary ``o200k_base``: it is that of open-weight models too, splits source code as
  today's models do, and the file has been the same wherever it was published. Its npm package is also one of
  Nanocoder's own, so most stores hold it already; tiktoken's wheel counts with it and fetches nothing.
* The clock is Debian's libfaketime. It is mounted beside the image, read-only, so every Debian image of either engine
  takes it from the dynamic loader, whatever language its tests are in.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from attrs import frozen

from nanobench.ecosystems.deb_archive import files_of
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.formats.digest import document_sha256
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.store.store import Store

VOCABULARY = Package(
    purl="pkg:npm/tiktoken@1.0.22",
    role="npm",
    path="tiktoken/-/tiktoken-1.0.22.tgz",
    digest=Digest(
        "sha512:3cabf2d6b545d5189b7c5dc99570523f426b730daeab7c977607045ed293627"
        "dd027f7014411c39eb2798c7932f8c10d67a0c83f0354196a64571fbb8e80a934"
    ),
    size=10611708,
)
CLOCK = Package(
    purl="pkg:deb/debian/libfaketime@0.9.10-2.1?arch=amd64&distro=bookworm",
    role="debian",
    path="pool/main/f/faketime/libfaketime_0.9.10-2.1_amd64.deb",
    digest=Digest("sha256:b09481e7690680966005330c3f907bba4b5eefc35e1faaea4783cc55655d1150"),
    size=47288,
)
TOOLS = (VOCABULARY, CLOCK)

LIBRARY = "libfaketimeMT.so.1"
"""The one that programs with threads need."""

_SLEEP = b"clock_nanosleep\0"
"""A name that the library exports and is made to export no more (of its dynamic names, the first place in the file):
its version refuses every sleep until a moment of the monotonic clock, as Python's ``time.sleep`` is one."""

_INSIDE_DEB = f"usr/lib/x86_64-linux-gnu/faketime/{LIBRARY}"


@frozen(kw_only=True)
class Tools:
    """Where they are: the archive with the vocabulary, and a folder that holds :data:`LIBRARY`."""

    vocabulary: Path
    clock: Path


def realise_tools(*, online: Online | None, bench: Workbench) -> Tools:
    """The tools, from their pinned files.

    Raises:
        CannotTell: a file is missing and may not or cannot be fetched.
    """
    fetch(TOOLS, bench.store, online=online, say=bench.say, progress=bench.fetched)
    key = document_sha256({"clock": CLOCK.digest, "hidden": _SLEEP.decode()})
    clock = bench.store.make_tree(key, partial(_unpack, bench.store))
    return Tools(vocabulary=bench.store.blob(VOCABULARY.digest), clock=clock)


def _unpack(store: Store, place: Path) -> None:
    files = files_of(store.read(CLOCK.digest), where=CLOCK.purl)
    (place / LIBRARY).write_bytes(files[_INSIDE_DEB].replace(b"\0" + _SLEEP, b"\0-" + _SLEEP[1:], 1))
