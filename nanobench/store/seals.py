"""Seals: how a blob or a tree looked when it was last known to be right.

Nothing changes a file without changing its inode's ctime, and nothing sets a ctime. So as long as inode, size,
mode and times are those of the seal, the content needs no hashing. A seal is a shortcut, never a proof: when it
does not match, the content is hashed, and only that decides.

The kernel's clock ticks every few milliseconds, and two changes within one tick have the same ctime. So only what
has been still for a while is sealed (git calls the others racy).
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

TICK_NS = 20_000_000
"""Longer than the tick of any kernel's clock of files."""


@frozen(kw_only=True)
class Look:
    """How something looks, as one hash; ``still`` when any change from now on will show."""

    stamp: str
    still: bool


@frozen(kw_only=True)
class Contents:
    """Everything that a tree says, one record a path: path, then kind with mode and the sha256 or link."""

    records: dict[bytes, bytes]

    def dump(self) -> bytes:
        """The records as bytes."""
        return b"".join(b"%b\0%b\0" % (path, record) for path, record in self.records.items())

    @classmethod
    def parse(cls, data: bytes) -> Contents:
        """The inverse of :meth:`dump`."""
        parts = data.split(b"\0")
        return cls(records=dict(zip(parts[0:-1:2], parts[1::2], strict=True)))

    def difference(self, other: Contents) -> bytes | None:
        """The first path that differs; None when there is none."""
        if self.records == other.records:
            return None
        paths = sorted(self.records.keys() | other.records.keys())
        return next(path for path in paths if self.records.get(path) != other.records.get(path))


def look_at_file(path: Path) -> Look:
    """How the file at ``path`` looks."""
    now, status = time.time_ns(), path.lstat()
    return Look(stamp=hashlib.sha256(_seen(status)).hexdigest(), still=status.st_ctime_ns + TICK_NS < now)


def file_hash(path: Path, algorithm: str) -> str:
    """The hex digest of the regular file at ``path``; empty when something else is there."""
    return _hashed(os.fsencode(path), algorithm) if stat.S_ISREG(path.lstat().st_mode) else ""


def look_at_tree(root: Path) -> Look:
    """How the whole tree at ``root`` looks. About 5 µs a file: every run asks for every layer."""
    now, status = time.time_ns(), root.lstat()
    newest, looks = status.st_ctime_ns, hashlib.sha256(_seen(status))
    top = os.fsencode(root)
    pending = [top]
    while pending:
        folder = pending.pop()
        lines, folders, changed = _look_into(folder)
        looks.update(folder.removeprefix(top) + b"\0" + b"".join(sorted(lines)))
        pending += sorted(folders)
        newest = max(newest, changed)
    return Look(stamp=looks.hexdigest(), still=newest + TICK_NS < now)


def _look_into(folder: bytes) -> tuple[list[bytes], list[bytes], int]:
    """One line for everything in ``folder``, the directories in it, and the latest change of all."""
    lines, folders, newest = [], [], 0
    with os.scandir(folder) as listing:
        for entry in listing:
            status = entry.stat(follow_symlinks=False)
            lines.append(entry.name + b"\0" + _seen(status))
            newest = max(newest, status.st_ctime_ns)
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
    return lines, folders, newest


def tree_contents(root: Path) -> Contents:
    """What the whole tree at ``root`` says: kinds, modes, links and the hashes of all files."""
    records = {path: _record(entry) for path, entry in _walk(root)}
    records[b""] = b"%o " % root.lstat().st_mode
    return Contents(records=dict(sorted(records.items())))


def _walk(root: Path) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    pending = [(os.fsencode(root), b"")]
    while pending:
        folder, above = pending.pop()
        with os.scandir(folder) as listing:
            for entry in listing:
                path = above + entry.name
                yield path, entry
                if entry.is_dir(follow_symlinks=False):
                    pending.append((entry.path, path + b"/"))


def _seen(status: os.stat_result) -> bytes:
    return b"%o %d %d %d %d\n" % (
        status.st_mode,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _record(entry: os.DirEntry[bytes]) -> bytes:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISREG(mode):
        said = _hashed(entry.path, "sha256").encode()
    else:
        said = os.readlink(entry.path) if stat.S_ISLNK(mode) else b""  # noqa: PTH115
    return b"%o %b" % (mode, said)


def _hashed(path: bytes, algorithm: str) -> str:
    digest = hashlib.new(algorithm)  # hashlib.file_digest clears a large buffer for every small file
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:  # noqa: PTH123
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
