"""Reads a fixture's files in a task's folder: bounded, and never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from nanobench.archives.names import problem, shown, to_text
from nanobench.errors import Refused
from nanobench.formats.digest import sha256
from nanobench.model.fixture import FileMode, LockedFiles, VendoredFile
from nanobench.store.plain_file import read_below

FOLDERS = ("base", "solution", "tests")
"""Folders of a task's folder, each laid over those before it."""

ANSWER = "answer.txt"

MAX_ENTRIES, MAX_BYTES, MAX_PATH = 2000, 32 << 20, 500
"""The largest fixture: files and folders, bytes in all, characters of a path."""

Files = dict[str, tuple[VendoredFile, bytes]]
"""Path below the task's folder → the file and its content."""


def locked_files(folder: Path, *, where: str) -> LockedFiles:
    """What a lock pins of a fixture. Arguments and errors are those of :func:`read_files`."""
    return LockedFiles(file=tuple(file for file, _ in read_files(folder, where=where).values()))


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
        if odd := _odd(path):
            raise Refused("NB_VENDORED", odd, where=at)
        if not place.is_dir() or place.is_symlink():
            files[path] = _read(folder, path, left, at)
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
            with os.scandir(place) as found:
                names = [to_text(os.fsencode(entry.name)) for entry in islice(found, MAX_ENTRIES + 1)]
            pending += [(f"{path}/{name}", place / name) for name in names]


def _odd(path: str) -> str | None:
    if len(path) > MAX_PATH:
        return f"a path longer than {MAX_PATH} characters"
    return problem(path) or ("a name that is not UTF-8" if not path.isprintable() else None)


def _read(folder: Path, path: str, left: int, at: str) -> tuple[VendoredFile, bytes]:
    try:
        data = read_below(folder, path, limit=left)
        runs = os.lstat(folder / path).st_mode & stat.S_IXUSR
    except OSError as error:
        hint = f"a fixture has plain files of at most {MAX_BYTES} bytes in all"
        raise Refused("NB_VENDORED", error.strerror or "cannot be read", where=at, hint=hint) from None
    mode: FileMode = "0755" if runs else "0644"
    return VendoredFile(path=path, mode=mode, digest=sha256(data), size=len(data)), data
