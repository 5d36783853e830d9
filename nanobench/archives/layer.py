"""Layers: the canonical uncompressed tar of a set of entries, and its unpacked tree.

Canonical means: the same entries give the same bytes, whatever their order and whoever packs them. Members are
sorted by the bytes of their paths, so that a directory stands before what is in it; owners are numbers; times
are cut to the epoch; hard links point to the lowest path, which carries the content; missing parents are added.
Set-id bits are left out: no sandbox of ours may gain a privilege, and engines that keep them would differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from attrs import evolve, frozen

from nanobench.archives import tar
from nanobench.archives.entries import Entry
from nanobench.archives.names import problem, shown, to_bytes
from nanobench.archives.tar import Writable
from nanobench.errors import Refused
from nanobench.model.fields import Digest

_CHUNK = 1 << 20
_MODE_BITS = 0o1777


@frozen(kw_only=True)
class LayerFacts:
    """A layer's identity: sha256 of the uncompressed tar, and its size in bytes."""

    diff_id: Digest
    size: int


def write_layer(entries: Iterable[Entry], out: Writable, *, epoch: int) -> LayerFacts:
    """Write the canonical layer of ``entries`` to ``out``. Contents are streamed, only the entries are held.

    Raises:
        Refused: ``NB_LAYER_PATH`` for a path that does not stay below the root, ``NB_LAYER_TWICE`` for two entries
            of one path, ``NB_LAYER_PARENT`` when something lies below a file, ``NB_LAYER_LINK`` for a hard link
            without a file, ``NB_LAYER_CHANGED`` when a file is not as long as its entry says.
    """
    table = _with_parents(_unique(entries), epoch)
    _share(table)
    sink = _Sink(out)
    for _, entry in sorted(table.items()):
        sink.write(tar.encode(_header(entry, epoch)))
        if entry.kind == "file":
            _copy(entry, sink)
            sink.write(tar.padding(entry.size))
    sink.write(tar.END)
    return sink.facts()


class _Sink:
    """Collects small writes, hashes and counts."""

    def __init__(self, out: Writable) -> None:
        self._out, self._held, self._hash, self._size = out, bytearray(), hashlib.sha256(), 0

    def write(self, data: bytes) -> None:
        self._held += data
        if len(self._held) >= _CHUNK:
            self._flush()

    def _flush(self) -> None:
        data = bytes(self._held)
        self._held.clear()
        self._hash.update(data)
        self._size += len(data)
        self._out.write(data)

    def facts(self) -> LayerFacts:
        self._flush()
        return LayerFacts(diff_id=Digest(f"sha256:{self._hash.hexdigest()}"), size=self._size)


def _unique(entries: Iterable[Entry]) -> dict[bytes, Entry]:
    table: dict[bytes, Entry] = {}
    for entry in entries:
        wrong = problem(entry.path)
        if wrong:
            raise Refused("NB_LAYER_PATH", f"{wrong} cannot be in a layer", where=shown(entry.path))
        raw = to_bytes(entry.path)
        if raw in table:
            raise Refused("NB_LAYER_TWICE", "two entries have the same path", where=shown(entry.path))
        if entry.kind == "symlink" and (not entry.link or "\0" in entry.link):
            raise Refused("NB_LAYER_LINK", f"a symlink to {entry.link!r}", where=shown(entry.path))
        table[raw] = entry
    return table


def _with_parents(table: dict[bytes, Entry], epoch: int) -> dict[bytes, Entry]:
    complete = dict(table)
    for raw, entry in table.items():
        path = entry.path
        while b"/" in raw:
            raw, path = raw.rpartition(b"/")[0], path.rpartition("/")[0]
            parent = complete.get(raw)
            if parent is None:
                complete[raw] = Entry(path=path, kind="dir", mode=0o755, mtime=epoch)
            elif parent.kind != "dir":
                raise Refused("NB_LAYER_PARENT", f"lies below a {parent.kind}", where=shown(entry.path))
            else:
                break
    return complete


def _share(table: dict[bytes, Entry]) -> None:
    """Let the lowest path of every group of hard links carry the file, in place."""
    groups: dict[bytes, list[bytes]] = {}
    for raw, entry in table.items():
        if entry.kind == "hardlink":
            groups.setdefault(_target(table, raw), []).append(raw)
    for target, links in groups.items():
        names, file = sorted([target, *links]), table[target]
        first = evolve(file, path=table[names[0]].path)
        for raw in names[1:]:
            table[raw] = evolve(first, path=table[raw].path, kind="hardlink", size=0, link=first.path, content=None)
        table[names[0]] = first


def _target(table: dict[bytes, Entry], raw: bytes) -> bytes:
    seen = {raw}
    while table[raw].kind == "hardlink":
        following = to_bytes(table[raw].link)
        if following in seen or following not in table:
            raise Refused("NB_LAYER_LINK", "a hard link that leads to no file", where=shown(table[raw].path))
        seen.add(following)
        raw = following
    if table[raw].kind != "file":
        raise Refused("NB_LAYER_LINK", f"a hard link to a {table[raw].kind}", where=shown(table[raw].path))
    return raw


def _header(entry: Entry, epoch: int) -> tar.Header:
    return tar.Header(
        path=entry.path,
        kind=entry.kind,
        mode=0o777 if entry.kind == "symlink" else entry.mode & _MODE_BITS,
        uid=entry.uid,
        gid=entry.gid,
        size=entry.size if entry.kind == "file" else 0,
        mtime=max(0, min(entry.mtime, epoch)),
        link=entry.link,
    )


def _copy(entry: Entry, sink: _Sink) -> None:
    written = 0
    if entry.content is not None:
        with entry.content() as stream:
            for chunk in _chunks(stream):
                written += len(chunk)
                if written > entry.size:
                    break
                sink.write(chunk)
    if written != entry.size:
        found = "more" if written > entry.size else f"only {written}"
        raise Refused("NB_LAYER_CHANGED", f"{entry.size} bytes were expected, {found} found", where=shown(entry.path))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk
