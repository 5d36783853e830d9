"""Make a hostile tree safe to look at: by directory descriptors, never through a link.

Works on a tree that nothing uses any more: an extracted archive, or a workspace whose sandbox is dead.
"""

from __future__ import annotations

import os
import stat

from attrs import define, field, frozen

from nanobench.errors import Refused
from nanobench.sources.quoting import display

AGENT_FOLDER = b".nanocoder"
"""The agent's own notes at the top of a workspace: neither part of a base tree nor of a patch."""

_FOLDER = stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH
_NAMED = 1000
"""How many removed paths are named; a tree may hold more than a document should."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen(kw_only=True)
class TreeBounds:
    """The largest tree that is looked at. Bytes are apparent sizes; a path counts in bytes."""

    entries: int = 400_000
    bytes: int = 8 << 30
    file_bytes: int = 256 << 20
    path: int = 2048
    depth: int = 128


def clean(
    root: os.PathLike[str], *, where: str, bounds: TreeBounds | None = None, mtime: int | None = None
) -> tuple[str, ...]:
    """Remove what no tree of ours holds, make modes 0644 and 0755; what was removed, as documents show paths.

    Removed: every ``.git`` below (in any case), FIFOs, sockets, devices, ``.nanocoder`` at the top, and a symbolic
    link named ``.gitmodules`` (git refuses it). The repository at the top is removed without being named.

    Args:
        where: what the tree is, for messages.
        mtime: seconds since 1970 for every entry; as they are when not given.

    Raises:
        Refused: ``NB_PATCH_BOUND`` when the tree exceeds ``bounds``.
    """
    walk = _Walk(bounds=bounds or TreeBounds(), where=where, mtime=mtime)
    os.chmod(root, _FOLDER)  # noqa: PTH101 (who worked in it may have closed it)
    fd = os.open(root, _OPEN)
    try:
        walk.directory(fd, b"", 0)
        if mtime is not None:
            os.utime(fd, (mtime, mtime))
    finally:
        os.close(fd)
    return walk.named()


@define
class _Walk:
    bounds: TreeBounds
    where: str
    mtime: int | None
    dropped: list[str] = field(factory=list)
    entries: int = 0
    total: int = 0

    def named(self) -> tuple[str, ...]:
        """What was removed; of very many the first and the number of the others."""
        names = sorted(set(self.dropped))
        more = len(names) - _NAMED
        return (*names[:_NAMED], *((f"(and {more} more)",) if more > 0 else ()))

    def directory(self, fd: int, path: bytes, depth: int) -> None:
        """Clean everything in the directory open as ``fd``, which is at ``path`` below the root."""
        self._bound(depth <= self.bounds.depth, path, f"deeper than {self.bounds.depth} directories")
        for name in sorted(os.fsencode(n) for n in os.listdir(fd)):
            below = path + b"/" + name if path else name
            self._count(below)
            facts = os.lstat(name, dir_fd=fd)
            if _unwanted(name, facts, top=not path):
                self._drop(fd, name, below, depth)
            else:
                self._keep(fd, name, below, facts, depth)

    def _keep(self, fd: int, name: bytes, path: bytes, facts: os.stat_result, depth: int) -> None:
        if stat.S_ISDIR(facts.st_mode):
            os.chmod(name, _FOLDER, dir_fd=fd)
            self._descend(fd, name, path, depth)
        elif stat.S_ISREG(facts.st_mode):
            self.total += facts.st_size
            self._bound(facts.st_size <= self.bounds.file_bytes, path, f"over {self.bounds.file_bytes} bytes")
            self._bound(self.total <= self.bounds.bytes, path, f"the tree is over {self.bounds.bytes} bytes")
            os.chmod(name, 0o755 if facts.st_mode & stat.S_IXUSR else 0o644, dir_fd=fd)
        if self.mtime is not None:
            os.utime(name, (self.mtime, self.mtime), dir_fd=fd, follow_symlinks=False)

    def _descend(self, fd: int, name: bytes, path: bytes, depth: int) -> None:
        inner = os.open(name, _OPEN, dir_fd=fd)
        try:
            self.directory(inner, path, depth + 1)
        finally:
            os.close(inner)

    def _drop(self, fd: int, name: bytes, path: bytes, depth: int) -> None:
        if path != b".git":
            self.dropped.append(display(path))
        self._remove(fd, name, path, depth)

    def _remove(self, fd: int, name: bytes, path: bytes, depth: int) -> None:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=fd).st_mode):
            os.unlink(name, dir_fd=fd)
            return
        self._bound(depth <= self.bounds.depth, path, f"deeper than {self.bounds.depth} directories")
        os.chmod(name, 0o700, dir_fd=fd)
        inner = os.open(name, _OPEN, dir_fd=fd)
        try:
            for child in sorted(os.listdir(inner)):  # noqa: PTH208 (a descriptor)
                self._remove(inner, os.fsencode(child), path, depth + 1)
        finally:
            os.close(inner)
        os.rmdir(name, dir_fd=fd)

    def _count(self, path: bytes) -> None:
        self.entries += 1
        self._bound(self.entries <= self.bounds.entries, path, f"more than {self.bounds.entries} entries")
        self._bound(len(path) <= self.bounds.path, path, f"a path over {self.bounds.path} bytes")

    def _bound(self, held: bool, path: bytes, message: str) -> None:
        if not held:
            raise Refused("NB_PATCH_BOUND", message, where=f"{self.where}: {display(path)[:200]}")


def _unwanted(name: bytes, facts: os.stat_result, *, top: bool) -> bool:
    lower = name.lower()
    if stat.S_ISLNK(facts.st_mode):
        return lower in (b".git", b".gitmodules") or (top and name == AGENT_FOLDER)
    if not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
        return True
    return lower == b".git" or (top and name == AGENT_FOLDER)
