"""Directories whose modes do not depend on the umask, whole writes, what a living process holds, full disks, and the
removal of any tree whatever is in it."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from nanobench.errors import MachineFailure

_GET_FLAGS, _SET_FLAGS, _TOP_DIRECTORY = 0x80086601, 0x40086602, 0x20000  # linux/fs.h; what chattr +T sets
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make_folder(path: Path) -> None:
    """The directory ``path`` with mode 0755, its parents too; one that is there is left as it is."""
    missing = list(itertools.takewhile(lambda folder: not folder.is_dir(), [path, *path.parents]))
    for folder in reversed(missing):
        folder.mkdir(0o755, exist_ok=True)
        folder.chmod(0o755)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: one call of the kernel may take less."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a file or directory during the block, or until this process is dead; False when another one holds it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def abandoned(path: Path) -> bool:
    """Whether it is there, no link, and held by nobody any more: the process that made and held it is dead."""
    try:
        with held(path) as free:
            return free
    except OSError:
        return False


def spread(folder: Path) -> None:
    """Ask the disk to put every directory of ``folder`` in another place, as it does with those at the very top.

    ext4 looks for a free inode near its directory and passes one by one over all that were freed in the last minutes:
    where large trees come and go in one place, each new file soon costs ten times as much. Other file systems do not
    know the flag and need none.
    """
    with suppress(OSError):
        descriptor = os.open(folder, _FOLDER)
        try:
            (flags,) = struct.unpack("q", fcntl.ioctl(descriptor, _GET_FLAGS, bytes(8)))
            if not flags & _TOP_DIRECTORY:
                fcntl.ioctl(descriptor, _SET_FLAGS, struct.pack("q", flags | _TOP_DIRECTORY))
        finally:
            os.close(descriptor)


def full_disk(error: OSError) -> MachineFailure:
    """The refusal for a write that the machine did not do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    code, message = ("NB_DISK_FULL", "the disk is full") if full else ("NB_STORE", f"cannot write: {error}")
    return MachineFailure(code, message, hint="make room, e.g. with `nanobench store gc`")


@contextmanager
def passing_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new private directory in ``parent``, removed at the end whatever a sandbox left in it."""
    path = Path(mkdtemp(prefix=prefix, dir=parent))
    try:
        yield path
    finally:
        remove_tree(path)


def remove_tree(path: Path) -> int:
    """Remove the directory ``path`` and return the bytes of disk that this freed.

    Works with read-only directories, and with trees deeper than any path may be long: every directory is
    emptied by moving its directories up to the top. No link is followed.
    """
    path.chmod(0o700)
    top = os.open(path, _FOLDER)
    names = (f".{secrets.token_hex(8)}-{number}" for number in itertools.count())
    try:
        freed, pending = _clear(top, top, names)
        while pending:
            name = pending.pop()
            os.chmod(name, 0o700, dir_fd=top)
            folder = os.open(name, _FOLDER, dir_fd=top)
            try:
                more, found = _clear(folder, top, names)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)
            freed += more
            pending += found
    finally:
        os.close(top)
    path.rmdir()
    return freed


def _clear(folder: int, top: int, names: Iterator[str]) -> tuple[int, list[str]]:
    """Unlink the files of ``folder``, move its directories to ``top``; bytes freed, directories now in ``top``."""
    freed, moved = 0, []
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            moved.append(entry.name if folder == top else _lift(entry.name, folder, top, next(names)))
        else:
            status = entry.stat(follow_symlinks=False)
            freed += status.st_blocks * 512 if status.st_nlink == 1 else 0
            os.unlink(entry.name, dir_fd=folder)
    return freed, moved


def _lift(name: str, folder: int, top: int, fresh: str) -> str:
    os.chmod(name, 0o700, dir_fd=folder)  # moving a directory writes into it
    os.rename(name, fresh, src_dir_fd=folder, dst_dir_fd=top)
    return fresh
