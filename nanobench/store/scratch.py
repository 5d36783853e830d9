"""Scratch: private files and directories that are gone when their owner ends, however it ends.

An owner holds a kernel lock (flock) on the file, or on a ``.lock`` file beside the directory, as long as it
lives; what nobody holds is left over from a process that was killed, and may be removed by anybody.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nanobench.store.files import make_folder, remove_tree, spread

_LOCK, _PART = ".lock", ".part"


class Scratch:
    """The scratch room at ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_folder(folder)
        spread(folder)

    @contextmanager
    def file(self) -> Iterator[tuple[int, Path]]:
        """A private empty file and its descriptor; removed at the end unless it was renamed away."""
        descriptor, path = self._claim("file", _PART)
        try:
            yield descriptor, path
        finally:
            path.unlink(missing_ok=True)
            os.close(descriptor)

    @contextmanager
    def directory(self, purpose: str) -> Iterator[Path]:
        """A private empty directory of mode 0755, removed at the end whatever is in it by then."""
        descriptor, lock = self._claim(purpose, _LOCK)
        path = lock.with_suffix("")
        try:
            make_folder(path)
            yield path
        finally:
            try:
                if path.is_dir():
                    remove_tree(path)
                lock.unlink(missing_ok=True)
            finally:
                os.close(descriptor)

    def leftovers(self) -> tuple[Path, ...]:
        """What dead owners left behind."""
        return tuple(path for path in self._found() if self._dead(path, remove=False))

    def sweep(self) -> tuple[Path, ...]:
        """Remove what dead owners left behind; what was removed."""
        return tuple(path for path in self._found() if self._dead(path, remove=True))

    def _claim(self, purpose: str, suffix: str) -> tuple[int, Path]:
        while True:
            path = self.folder / f"{purpose}-{secrets.token_hex(8)}{suffix}"
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            if _lock(descriptor) and _names(path, descriptor):
                return descriptor, path
            os.close(descriptor)  # a sweep was quicker

    def _found(self) -> list[Path]:
        """Every claimed thing: ``.part`` files, directories, and locks without a directory."""
        names = sorted(path.name for path in self.folder.iterdir())
        return [self.folder / name for name in dict.fromkeys(name.removesuffix(_LOCK) for name in names)]

    def _dead(self, path: Path, *, remove: bool) -> bool:
        guard = path if path.suffix == _PART else path.with_name(path.name + _LOCK)
        try:
            descriptor = os.open(guard, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            descriptor = None
        try:
            dead = path.exists() if descriptor is None else _lock(descriptor) and _names(guard, descriptor)
            if dead and remove:
                _remove(path, guard)
        finally:
            if descriptor is not None:
                os.close(descriptor)
        return dead


def _remove(path: Path, guard: Path) -> None:
    with suppress(FileNotFoundError):  # two sweeps at once
        if path.is_dir():
            remove_tree(path)
        guard.unlink(missing_ok=True)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _names(path: Path, descriptor: int) -> bool:
    """Whether ``path`` is still the name of the open file."""
    try:
        return path.stat().st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False
