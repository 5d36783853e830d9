"""Writing below one directory without ever leaving it: every step is a descriptor, no link is followed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Below:
    """New files, directories and links below ``root``, by relative paths in bytes.

    The caller has checked the paths (:func:`nanobench.archives.names.problem`). A component that is a link or a
    file where a directory is needed is an :class:`OSError`.
    """

    def __init__(self, root: Path) -> None:
        self._open: list[tuple[bytes, int]] = [(b"", os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._leave(0)

    def make_folder(self, path: bytes) -> None:
        """A directory of mode 0755; one that is there already may stay, whatever mode it has."""
        above, name = self._enter(path)
        try:
            os.mkdir(name, 0o755, dir_fd=above)
        except FileExistsError:
            os.close(os.open(name, _FOLDER, dir_fd=above))
        else:
            os.chmod(name, 0o755, dir_fd=above)  # noqa: S103 (the umask took bits away)

    def make_file(self, path: bytes, *, mode: int, mtime: int, fill: Callable[[int], None]) -> None:
        """A new file; ``fill`` gets its descriptor."""
        above, name = self._enter(path)
        descriptor = os.open(name, _NEW_FILE, 0o600, dir_fd=above)
        try:
            fill(descriptor)
            os.fchmod(descriptor, mode)
            os.utime(descriptor, (mtime, mtime))
        finally:
            os.close(descriptor)

    def make_symlink(self, path: bytes, target: bytes, *, mtime: int) -> None:
        """A new symlink; its target is not looked at."""
        above, name = self._enter(path)
        os.symlink(target, name, dir_fd=above)
        os.utime(name, (mtime, mtime), dir_fd=above, follow_symlinks=False)

    def make_hardlink(self, path: bytes, existing: bytes) -> None:
        """One more name of a file below the root."""
        source, source_name = self._enter(existing)
        held = os.dup(source)
        try:
            above, name = self._enter(path)
            os.link(source_name, name, src_dir_fd=held, dst_dir_fd=above, follow_symlinks=False)
        finally:
            os.close(held)

    def finish_folder(self, path: bytes, *, mode: int, mtime: int) -> None:
        """Give a directory its mode and time, after everything in it is there."""
        above, name = self._enter(path)
        descriptor = os.open(name, _FOLDER, dir_fd=above)
        try:
            os.utime(descriptor, (mtime, mtime))
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)

    def _enter(self, path: bytes) -> tuple[int, bytes]:
        """The descriptor of the directory that ``path`` is in, and its last component."""
        *folders, name = path.split(b"/")
        same = 0
        while same < len(folders) and same + 1 < len(self._open) and self._open[same + 1][0] == folders[same]:
            same += 1
        self._leave(same + 1)
        for folder in folders[same:]:
            self._open.append((folder, os.open(folder, _FOLDER, dir_fd=self._open[-1][1])))
        return self._open[-1][1], name

    def _leave(self, depth: int) -> None:
        while len(self._open) > depth:
            os.close(self._open.pop()[1])
