"""Reads a fixture's files in a task's folder: bounded, and never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from nanobench.archives.names import problem, shown, to_text
from nanobench.errors import Refused
from nanobench.formats.digest import sha256
from nanobench.model.fixture import Mode, VendoredFile

FOLDERS = ("base", "solution", "tests")
"""Folders of a task's folder, each laid over those before it."""

ANSWER = "answer.txt"

MAX_ENTRIES, MAX_BYTES = 2000, 32 << 20
"""The largest fixture: files and folders, and bytes in all."""

Files = dict[str, tuple[VendoredFile, bytes]]
"""Path below the task's folder → the file and its content."""


def read_files(folder: Path, *, where: str) -> Files:
    """Every file of a fixture, sorted by path. Empty folders do not count, since git does not keep them.

    Args:
        folder: the task's folder; what else lies in it is not looked at.
        where: its name for messages.

    Raises:
        Refused: ``NB_VENDORED`` for a link or anything else that is no plain file or folder, a name that no document
            can hold, too much of it, or when there is no base.
    """
    files: Files = {}
    left = MAX_BYTES
    for number, (path, place) in enumerate(_places(folder), 1):
        at = f"{where}/{shown(path)}"
        if number > MAX_ENTRIES:
            raise Refused("NB_VENDORED", f"more than {MAX_ENTRIES} files and folders", where=where)
        if not place.is_dir() or place.is_symlink():
            files[path] = _read(place, path, left, at)
            left -= files[path][0].size
    if not any(path.startswith("base/") for path in files):
        raise Refused(
            "NB_VENDORED", "there is no file", where=f"{where}/base", hint="put the tree to start from there"
        )
    return dict(sorted(files.items()))


def _places(folder: Path) -> Iterator[tuple[str, Path]]:
    """Everything below the folders of a fixture, and its answer."""
    pending = [(name, folder / name) for name in (*FOLDERS, ANSWER) if os.path.lexists(folder / name)]
    while pending:
        path, place = pending.pop()
        yield path, place
        if place.is_dir() and not place.is_symlink():
            names = (to_text(os.fsencode(name)) for name in os.listdir(place))  # noqa: PTH208 (as bytes on disk)
            pending += [(f"{path}/{name}", place / name) for name in names]


def _read(place: Path, path: str, left: int, at: str) -> tuple[VendoredFile, bytes]:
    odd = problem(path) or ("a name that is not UTF-8" if not path.isprintable() else None)
    if odd:
        raise Refused("NB_VENDORED", odd, where=at)
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused("NB_VENDORED", f"no plain file: {error.strerror}", where=at) from None
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise Refused("NB_VENDORED", "no plain file", where=at)
        data = file.read(left + 1)
    if len(data) > left:
        raise Refused("NB_VENDORED", f"the fixture is over {MAX_BYTES} bytes", where=at)
    mode: Mode = "0755" if facts.st_mode & stat.S_IXUSR else "0644"
    return VendoredFile(path=path, mode=mode, digest=sha256(data), size=len(data)), data
