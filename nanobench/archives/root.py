"""The layers of an image that anybody may have made, applied one over the other, in memory, as engines do it on disk.

A path leads through the links of this root and never out of it. Contents stay where they are until they are asked
for.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO

from attrs import Factory, define, evolve

from nanobench.archives.entries import Entry
from nanobench.archives.names import MAX_DEPTH, MAX_PATH, plain, problem, shown
from nanobench.archives.tar import Header
from nanobench.errors import Refused

_HIDES, _HIDES_ALL = ".wh.", ".wh..wh..opq"
_MAX_HOPS = 40  # as the kernel
_MAX_ID = 2**32 - 1

Member = tuple[Header, Callable[[], BinaryIO]]
"""A member of a layer, and what opens its content."""


@define
class _Node:
    entry: Entry
    children: dict[str, _Node] = Factory(dict)


class Root:
    """An empty root. ``epoch`` is the time of what no layer ships; at most ``limit`` paths are held."""

    def __init__(self, *, epoch: int, limit: int, where: str) -> None:
        self._epoch, self._left, self._where = epoch, limit, where
        self._top = _Node(Entry(path="", kind="dir", mode=0o755, mtime=epoch))

    def apply(self, layer: Iterable[Member]) -> None:
        """Put a layer over what is there. Its whiteouts hide what lower layers have, never its own.

        Raises:
            Refused: ``NB_ARCHIVE_PATH``, ``NB_ARCHIVE_LINK``, ``NB_ARCHIVE_CLASH``, ``NB_ARCHIVE_BOMB``, each naming
                the member.
        """
        members = [(self._checked(header), header, content) for header, content in layer]
        for path, _, _ in members:
            above, _, name = path.rpartition("/")
            if name.startswith(_HIDES):
                self._hide(above, name)
        for path, header, content in members:
            if path and not path.rpartition("/")[2].startswith(_HIDES):
                self._add(path, header, content)

    def __iter__(self) -> Iterator[Entry]:
        """Every entry below the root; names of one file are hard links."""
        first: dict[int, str] = {}
        pending = [("", self._top)]
        while pending:
            above, folder = pending.pop()
            for name, node in folder.children.items():
                path = f"{above}{name}"
                yield _linked(evolve(node.entry, path=path), first)
                pending.append((f"{path}/", node))

    def find(self, path: str) -> Entry | None:
        """What is at ``path``, through links; None when there is nothing."""
        for _ in range(_MAX_HOPS):
            above, _, name = path.rpartition("/")
            folder = self._folder(above, make=False)
            node = folder.children.get(name) if folder else None
            if node is None or node.entry.kind != "symlink":
                return node.entry if node else None
            path = node.entry.link if node.entry.link.startswith("/") else f"{above}/{node.entry.link}"
        return None

    def children(self, path: str) -> tuple[str, ...]:
        """The names in the directory at ``path``; none when there is no directory."""
        folder = self._folder(path, make=False)
        return tuple(folder.children) if folder else ()

    def remove(self, path: str) -> None:
        """Take away what is at ``path``, if anything."""
        above, _, name = path.rpartition("/")
        folder = self._folder(above, make=False)
        if folder:
            folder.children.pop(name, None)

    def directory(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        """Make sure that ``path`` is a directory of ``mode`` and ``owner`` (uid and gid)."""
        self._put(path, Entry(path=path, kind="dir", mode=mode, mtime=self._epoch, uid=owner, gid=owner))

    def file(self, path: str, data: bytes) -> None:
        """Write a small file, replacing what is there."""
        content = partial(io.BytesIO, data)
        self._put(path, Entry(path=path, kind="file", mode=0o644, mtime=self._epoch, size=len(data), content=content))

    def _checked(self, header: Header) -> str:
        path = plain(header.path)
        wrong = problem(path) if path else None
        if wrong:
            raise Refused("NB_ARCHIVE_PATH", wrong, where=self._at(header.path))
        if len(header.link) > MAX_PATH:
            raise Refused("NB_ARCHIVE_LINK", f"a link of {len(header.link)} characters", where=self._at(path))
        if max(header.uid, header.gid) > _MAX_ID:
            raise Refused("NB_ARCHIVE_BROKEN", f"owner {header.uid}:{header.gid}", where=self._at(path))
        return path

    def _hide(self, above: str, name: str) -> None:
        folder = self._folder(above, make=False)
        if folder and name == _HIDES_ALL:
            folder.children.clear()
        elif folder:
            folder.children.pop(name.removeprefix(_HIDES), None)

    def _add(self, path: str, header: Header, content: Callable[[], BinaryIO]) -> None:
        if header.kind == "hardlink":
            entry = self._target(path, header)
        else:
            entry = Entry(
                path=path, kind=header.kind, mode=header.mode, mtime=header.mtime, uid=header.uid, gid=header.gid,
                size=header.size, link=header.link, content=content if header.kind == "file" else None,
            )  # fmt: skip
        self._put(path, entry)

    def _target(self, path: str, header: Header) -> Entry:
        above, _, name = plain(header.link.lstrip("/")).rpartition("/")
        folder = self._folder(above, make=False)
        node = folder.children.get(name) if folder else None
        if node is None or node.entry.kind != "file":
            message = f"a hard link to {shown(header.link)}, which is no file"
            raise Refused("NB_ARCHIVE_LINK", message, where=self._at(path))
        return node.entry

    def _put(self, path: str, entry: Entry) -> None:
        above, _, name = path.rpartition("/")
        folder = self._folder(above, make=True)
        assert folder is not None
        known = folder.children.get(name)
        if known and known.entry.kind == "dir" == entry.kind:
            known.entry = entry
        else:
            folder.children[name] = self._node(entry)

    def _folder(self, path: str, *, make: bool) -> _Node | None:
        """The directory at ``path``, each component through links; what is missing is made, or the answer is None."""
        trail, parts, hops = [self._top], path.split("/")[::-1], 0
        while parts:
            name = parts.pop()
            if name == "..":
                trail = trail[:-1] or trail
            elif name not in ("", "."):
                node = self._child(trail[-1], name, path, make=make)
                if node is None:
                    return None
                if node.entry.kind == "symlink":
                    hops += 1
                    trail = trail[:1] if node.entry.link.startswith("/") else trail
                    parts += node.entry.link.split("/")[::-1]
                else:
                    trail.append(node)
            if hops > _MAX_HOPS or len(trail) > MAX_DEPTH:
                raise Refused("NB_ARCHIVE_LINK", "links that lead nowhere", where=self._at(path))
        return trail[-1]

    def _child(self, folder: _Node, name: str, path: str, *, make: bool) -> _Node | None:
        node = folder.children.get(name)
        if node is None and make:
            node = folder.children[name] = self._node(Entry(path=name, kind="dir", mode=0o755, mtime=self._epoch))
        if node is not None and node.entry.kind == "file":
            if make:
                raise Refused("NB_ARCHIVE_CLASH", "lies below a file", where=self._at(path))
            return None
        return node

    def _node(self, entry: Entry) -> _Node:
        self._left -= 1
        if self._left < 0:
            raise Refused("NB_ARCHIVE_BOMB", "too many paths", where=self._where, hint="it is not unpacked at all")
        return _Node(entry)

    def _at(self, path: str) -> str:
        return f"{self._where}: {shown(path)}"


def _linked(entry: Entry, first: dict[int, str]) -> Entry:
    """The entry, or a hard link when another name of the same content came before."""
    if entry.kind != "file":
        return entry
    known = first.setdefault(id(entry.content), entry.path)
    return entry if known == entry.path else evolve(entry, kind="hardlink", size=0, link=known, content=None)
