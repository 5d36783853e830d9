"""One file below a folder that anybody may have made, read or added to: links, pipes, devices and endless files are
none."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from nanobench.store.files import write_all

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ODD = re.compile("[\0\ud800-\udfff]")
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_APPENDED = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_below(folder: Path, path: str, *, limit: int) -> bytes:
    """The bytes of the regular file at ``path`` below ``folder``; no link below ``folder`` is followed.

    Raises:
        OSError: it is not there, the path leaves the folder, or it is no regular file of at most ``limit`` bytes;
            ``strerror`` says which.
    """
    descriptor = _open_below(folder, path, _FILE)
    facts = os.fstat(descriptor)
    if stat.S_ISREG(facts.st_mode) and facts.st_size <= limit:
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(limit + 1)
        if len(data) <= limit:  # it has not grown meanwhile
            return data
    else:
        os.close(descriptor)
    raise OSError(errno.EINVAL, f"not a regular file of at most {limit} bytes")


def append_below(folder: Path, path: str, data: bytes) -> bool:
    """Add ``data`` to the end of the regular file at ``path`` below ``folder``; False when there is none, or when a
    link is on the way."""
    try:
        descriptor = _open_below(folder, path, _APPENDED)
    except OSError:
        return False
    try:
        found = stat.S_ISREG(os.fstat(descriptor).st_mode)
        if found:
            write_all(descriptor, data)
        return found
    finally:
        os.close(descriptor)


def _open_below(folder: Path, path: str, flags: int) -> int:
    *folders, name = parts = path.split("/")
    if _ODD.search(path) or not {"", ".", ".."}.isdisjoint(parts):
        raise OSError(errno.EINVAL, "leads out of the folder, or is no path")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            at, above = os.open(part, _FOLDER, dir_fd=at), at
            os.close(above)
        return os.open(name, flags, dir_fd=at)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link") from None
        raise
    finally:
        os.close(at)
