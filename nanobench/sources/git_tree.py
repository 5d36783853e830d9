"""What a commit's tree holds, straight from the object database: no checkout, no attributes, no filters, no links
followed. A tree may be hostile: its paths are checked here, whatever a server let pass."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import IO, BinaryIO, Literal, cast

from attrs import frozen
from pathspec import GitIgnoreSpec

from nanobench.archives.entries import Entry
from nanobench.archives.names import MAX_PATH, problem, shown, to_bytes, to_text
from nanobench.errors import Refused
from nanobench.sources.clean import TreeBounds
from nanobench.sources.git_run import Git, Running
from nanobench.sources.quoting import display

LeafKind = Literal["file", "symlink", "submodule"]
_MODES: dict[bytes, tuple[LeafKind, int]] = {
    b"100644": ("file", 0o644),
    b"100755": ("file", 0o755),
    b"120000": ("symlink", 0o777),
    b"160000": ("submodule", 0),
}
_CHUNK = 1 << 20


@frozen(kw_only=True)
class Leaf:
    """A file, symbolic link or submodule of a tree; ``object`` is its blob, or the submodule's commit."""

    path: str
    kind: LeafKind
    mode: int
    object: str

    @property
    def shown(self) -> str:
        """The path as documents hold it."""
        return display(to_bytes(self.path))


def leaves_of(git: Git, tree: str, *, where: str, bounds: TreeBounds | None = None) -> tuple[Leaf, ...]:
    """Everything in ``tree`` but its directories.

    Args:
        where: what the tree is, for messages.

    Raises:
        Refused: ``NB_GIT_TREE`` for a path that no tree of ours may hold or an odd mode, naming it; ``NB_GIT_BOUND``
            for a tree of more entries than ``bounds``.
    """
    bounds = bounds or TreeBounds()
    found: list[Leaf] = []
    with git.started("ls-tree", "-r", "-z", "--full-tree", tree) as running:
        for line in _records(running.output, where):
            if len(found) == bounds.entries:
                raise Refused("NB_GIT_BOUND", f"more than {bounds.entries} entries", where=where)
            found.append(_leaf(line, where))
        said = running.end()
    if said.code:
        raise Refused("NB_GIT", "git cannot list the tree", where=where, details=said.words)
    return tuple(found)


def without(leaves: Sequence[Leaf], globs: Sequence[str]) -> tuple[tuple[Leaf, ...], tuple[Leaf, ...]]:
    """The leaves that stay, and those that the task leaves out on purpose."""
    spec = GitIgnoreSpec.from_lines(globs)
    kept: list[Leaf] = []
    absent: list[Leaf] = []
    for leaf in leaves:
        (absent if spec.match_file(leaf.path) else kept).append(leaf)
    return tuple(kept), tuple(absent)


@contextmanager
def entries_from(
    git: Git, leaves: Sequence[Leaf], *, epoch: int, where: str, bounds: TreeBounds | None = None
) -> Iterator[Iterator[Entry]]:
    """The leaves as entries of a layer, their contents read from the database one after another.

    Raises:
        Refused: ``NB_GIT_BOUND`` for a file or a tree over ``bounds``, ``NB_GIT_TREE`` for an object that is no blob.
    """
    sizes = _sizes(git, leaves, where, bounds or TreeBounds())
    with git.started("cat-file", "--batch") as running:
        database = _Database(running, where)
        yield (_entry(leaf, sizes[leaf.object], database, epoch) for leaf in leaves)


def _records(stream: IO[bytes], where: str) -> Iterator[bytes]:
    held = b""
    while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
        *lines, held = (held + chunk).split(b"\0")
        yield from lines
        # Mode, kind and name stand before the path.
        if len(held) > MAX_PATH + 100:
            raise Refused("NB_GIT_TREE", f"a path of more than {MAX_PATH} bytes", where=where)


def _leaf(line: bytes, where: str) -> Leaf:
    facts, _, raw = line.partition(b"\t")
    mode, _, name = facts.split(b" ")
    path = to_text(raw)
    wrong = problem(path) or _forbidden(raw)
    if mode not in _MODES:
        wrong = wrong or f"an entry of mode {mode.decode()}"
    if wrong:
        raise Refused("NB_GIT_TREE", f"{wrong} is in the tree", where=f"{where}: {shown(path)}")
    kind, bits = _MODES[mode]
    return Leaf(path=path, kind=kind, mode=bits, object=name.decode())


def _forbidden(path: bytes) -> str | None:
    # Git itself never writes these; HFS and NTFS spellings mean nothing on the file systems that we unpack to.
    return "a .git" if b".git" in path.lower().split(b"/") else None


def _sizes(git: Git, leaves: Sequence[Leaf], where: str, bounds: TreeBounds) -> Mapping[str, int]:
    names = {leaf.object: leaf for leaf in leaves}
    lines = "".join(f"{name}\n" for name in names).encode()
    sizes = {}
    for answer in git.read("cat-file", "--batch-check", stdin=lines, limit=1 << 30).decode().splitlines():
        name, kind, *size = answer.split(" ")
        if kind != "blob":
            raise Refused("NB_GIT_TREE", f"{name} is {kind}, not a blob", where=f"{where}: {names[name].shown}")
        sizes[name] = int(size[0])
        if sizes[name] > bounds.file_bytes:
            raise Refused("NB_GIT_BOUND", f"over {bounds.file_bytes} bytes", where=f"{where}: {names[name].shown}")
    if sum(sizes[leaf.object] for leaf in leaves) > bounds.bytes:
        raise Refused("NB_GIT_BOUND", f"the tree is over {bounds.bytes} bytes", where=where)
    return sizes


def _entry(leaf: Leaf, size: int, database: _Database, epoch: int) -> Entry:
    if leaf.kind == "symlink":
        return Entry(path=leaf.path, kind="symlink", mode=leaf.mode, mtime=epoch, link=database.link(leaf, size))
    content = partial(database.open, leaf.object, size)
    return Entry(path=leaf.path, kind="file", mode=leaf.mode, mtime=epoch, size=size, content=content)


class _Database:
    """``git cat-file --batch``: one object is asked for, and read to its end before the next."""

    def __init__(self, running: Running, where: str) -> None:
        self._running, self._where = running, where

    def link(self, leaf: Leaf, size: int) -> str:
        """Where a symbolic link points; it is kept as it is and never followed."""
        if size > MAX_PATH:
            raise Refused("NB_GIT_TREE", f"a link of {size} bytes", where=f"{self._where}: {leaf.shown}")
        with self.open(leaf.object, size) as content:
            return to_text(content.read())

    def open(self, name: str, size: int) -> BinaryIO:
        """The content of a blob."""
        header = self._running.ask(name)
        if header != f"{name} blob {size}\n".encode():
            raise Refused("NB_GIT", f"git answers {header!r:.100} for {name}", where=self._where)
        return cast(BinaryIO, _Content(self._running.output, size))


class _Content(io.RawIOBase):
    """The next ``size`` bytes of a stream and the line end after them."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        super().__init__()
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._stream.read(wanted)
        self._left -= len(data)
        return data

    def close(self) -> None:
        if not self.closed:
            while self._left and self.read(_CHUNK):
                pass
            self._stream.read(1)
        super().close()
