"""Entries: what a layer consists of, wherever it comes from."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from attrs import evolve, frozen

from nanobench.archives.names import shown, to_text
from nanobench.archives.tar import Kind
from nanobench.errors import Refused


@frozen(kw_only=True)
class Entry:
    """One member of a layer. ``path`` is relative to the layer's root; ``mtime`` is in seconds.

    ``size`` and ``content`` belong to files: ``content`` opens them and may be called later, once. ``link`` is a
    symlink's target as it is, or the path of the entry that a hard link shares its content with.
    """

    path: str
    kind: Kind
    mode: int
    mtime: int
    uid: int = 0
    gid: int = 0
    size: int = 0
    link: str = ""
    content: Callable[[], BinaryIO] | None = None


def entries_of(root: Path, *, prefix: str = "", epoch: int) -> Iterator[Entry]:
    """Everything below ``root``, and ``root`` itself when it gets a name by ``prefix``.

    Modes are normalised by the owner's x bit: 0755 or 0644, directories 0755. Directories get ``epoch`` as
    their time, since theirs is the moment of creation; later times of files are cut to it. Names that share an
    inode become hard links.

    Raises:
        Refused: ``NB_TREE_SPECIAL`` for a device, socket or pipe, naming it.
    """
    if prefix:
        yield Entry(path=prefix, kind="dir", mode=0o755, mtime=epoch)
    first: dict[tuple[int, int], str] = {}
    pending = [(os.fsencode(root), prefix)]
    while pending:
        folder, name = pending.pop()
        for found, path in _listed(folder, name):
            status = found.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                pending.append((found.path, path))
                yield Entry(path=path, kind="dir", mode=0o755, mtime=epoch)
            else:
                yield _leaf(found.path, path, status, first, min(int(status.st_mtime), epoch))


def dated(entries: Iterable[Entry], epoch: int) -> Iterator[Entry]:
    """All with the time ``epoch``: what was just written must not differ when the clock stands before it."""
    for entry in entries:
        yield evolve(entry, mtime=epoch)


def open_regular(path: bytes) -> BinaryIO:
    """The regular file at ``path`` for reading, unbuffered; a symlink there is an error."""
    return open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0)  # noqa: PTH123


def _listed(folder: bytes, name: str) -> list[tuple[os.DirEntry[bytes], str]]:
    above = f"{name}/" if name else ""
    with os.scandir(folder) as found:
        return sorted(((entry, above + to_text(entry.name)) for entry in found), key=lambda pair: pair[0].name)


def _leaf(place: bytes, path: str, status: os.stat_result, first: dict[tuple[int, int], str], mtime: int) -> Entry:
    if stat.S_ISLNK(status.st_mode):
        return Entry(path=path, kind="symlink", mode=0o777, mtime=mtime, link=to_text(os.readlink(place)))  # noqa: PTH115
    if not stat.S_ISREG(status.st_mode):
        raise Refused("NB_TREE_SPECIAL", "neither a file, a directory nor a symlink", where=shown(path))
    mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
    known = first.setdefault((status.st_dev, status.st_ino), path) if status.st_nlink > 1 else path
    if known != path:
        return Entry(path=path, kind="hardlink", mode=mode, mtime=mtime, link=known)
    content = partial(open_regular, place)
    return Entry(path=path, kind="file", mode=mode, mtime=mtime, size=status.st_size, content=content)
