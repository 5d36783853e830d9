"""Git objects wherever they lie: loose, in a pack, in a bundle. Read by us alone, in bounded memory.

Git itself reads packs only beside an index and in a repository that it trusts; here any file may be one, whole, thin
or cut off.
"""

from __future__ import annotations

import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha1

from attrs import define, field, frozen

from nanobench.archives.bounds import Meter
from nanobench.errors import Refused

PACK, BUNDLES = b"PACK", (b"# v2 git bundle\n", b"# v3 git bundle\n")
"""How such files begin."""

_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_OFFSET_DELTA, _NAMED_DELTA = 6, 7
_ID = 20
_LEAST_STEP, _STEP = 256, 1 << 16
_LARGEST = 256 << 20
_KEPT = 64 << 20
_LOOSE = tuple(kind.encode() + b" " for kind in _KINDS.values())


@frozen(kw_only=True)
class GitObject:
    """A commit, tree, blob or tag, with its 40-digit id."""

    id: str
    kind: str
    data: bytes


def loose_object(data: bytes, meter: Meter, where: str) -> GitObject | None:
    """The object in an inflated file; None when it is something else."""
    head, zero, content = data.partition(b"\0")
    if not zero or not head.startswith(_LOOSE) or len(head) > 32:
        return None
    meter.member(len(content), where)
    return _object(head.split()[0].decode(), content)


def packed_objects(data: bytes, meter: Meter, where: str) -> Iterator[GitObject]:
    """Every object of a pack, or of a bundle's; of a difference to an absent object what it adds, as a blob.

    Raises:
        Refused: ``NB_ARCHIVE_BROKEN`` for what is no pack, ``NB_ARCHIVE_BOMB`` from the meter.
    """
    start = data.find(b"\n\nPACK") + 2 if data.startswith(BUNDLES) else 0
    try:
        yield from _Pack(memoryview(data)[start:], meter, where).objects()
    except (zlib.error, struct.error, IndexError, ValueError) as error:
        raise Refused("NB_ARCHIVE_BROKEN", f"not a whole pack: {error}", where=where) from error


def links(found: GitObject) -> tuple[str, ...]:
    """The ids that an object names: a commit's tree and parents, a tree's entries, what a tag is for."""
    if found.kind == "tree":
        return tuple(_entries(found.data))
    if found.kind == "blob":
        return ()
    head = found.data.split(b"\n\n", 1)[0].split(b"\n")
    return tuple(line.split()[1].decode("ascii", "replace") for line in head if _names_another(line))


def _names_another(line: bytes) -> bool:
    return line.startswith((b"tree ", b"parent ", b"object ")) and len(line.split()) == 2


def _entries(tree: bytes) -> Iterator[str]:
    at = 0
    while (zero := tree.find(b"\0", at)) >= 0:
        if not tree.startswith(b"160000 ", at):  # a submodule's commit is no object of this repository
            yield tree[zero + 1 : zero + 1 + _ID].hex()
        at = zero + 1 + _ID


def _object(kind: str, data: bytes) -> GitObject:
    named = sha1(b"%b %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    named.update(data)
    return GitObject(id=named.hexdigest(), kind=kind, data=data)


@frozen
class _Entry:
    """Where an entry's deflated bytes begin, and what they are: an object's kind, or the place of a delta's base."""

    kind: str
    base: int | str | None
    size: int
    start: int


@define
class _Pack:
    data: memoryview
    meter: Meter
    where: str
    entries: dict[int, _Entry] = field(factory=dict, init=False)
    places: dict[str, int] = field(factory=dict, init=False)
    known: OrderedDict[int, tuple[str, bytes]] = field(factory=OrderedDict, init=False)
    held: int = field(default=0, init=False)

    def objects(self) -> Iterator[GitObject]:
        version, count = struct.unpack(">4xLL", self.data[:12])
        if version not in (2, 3):
            raise ValueError(f"version {version}")
        at, later = 12, []
        for _ in range(count):
            place, (entry, at) = at, self._entry(at)
            self.entries[place] = entry
            # A delta may stand before its base.
            if isinstance(entry.base, str) and entry.base not in self.places:
                later.append(place)
            else:
                yield self._named(place)
        for place in later:
            yield self._named(place)

    def _named(self, place: int) -> GitObject:
        kind, content = self._resolved(place)
        found = _object(kind, content)
        self.places[found.id] = place
        return found

    def _entry(self, place: int) -> tuple[_Entry, int]:
        """The entry at ``place``, and where the next one begins."""
        at, byte = place + 1, self.data[place]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.data[at]
            size, shift, at = size | (byte & 0x7F) << shift, shift + 7, at + 1
        base: int | str | None = None
        if kind == _NAMED_DELTA:
            base, at = bytes(self.data[at : at + _ID]).hex(), at + _ID
        elif kind == _OFFSET_DELTA:
            back, at = self._back(at)
            base = place - back
        elif kind not in _KINDS:
            raise ValueError(f"an entry of type {kind}")
        self.meter.member(size, self.where)
        entry = _Entry(_KINDS.get(kind, "delta"), base, size, at)
        content, end = self._inflate(entry)
        self._keep(place, entry.kind, content)
        return entry, end

    def _back(self, at: int) -> tuple[int, int]:
        byte = self.data[at]
        back, at = byte & 0x7F, at + 1
        while byte & 0x80:
            byte = self.data[at]
            back, at = (back + 1) << 7 | byte & 0x7F, at + 1
        return back, at

    def _inflate(self, entry: _Entry) -> tuple[bytes, int]:
        decoder, pieces, at, left = zlib.decompressobj(), [], entry.start, entry.size
        while not decoder.eof:
            step = bytes(self.data[at : at + min(left + _LEAST_STEP, _STEP)])
            if not step:
                raise ValueError("it ends in the middle")
            at += len(step)
            pieces.append(decoder.decompress(step, left + 1))
            left -= len(pieces[-1])
            if left < 0 or decoder.unconsumed_tail:
                raise ValueError("an entry is longer than it says")
        self.meter.unpacked(entry.size)
        return b"".join(pieces), at - len(decoder.unused_data)

    def _keep(self, place: int, kind: str, content: bytes) -> None:
        self.held += len(content) - len(self.known.pop(place, ("", b""))[1])
        self.known[place] = kind, content
        while self.held > _KEPT and len(self.known) > 1:
            self.held -= len(self.known.popitem(last=False)[1][1])

    def _content(self, place: int) -> tuple[str, bytes]:
        if place not in self.known:
            entry = self.entries[place]
            self._keep(place, entry.kind, self._inflate(entry)[0])
        return self.known[place]

    def _resolved(self, place: int) -> tuple[str, bytes]:
        """Kind and content of what stands at ``place``, every delta below it applied."""
        deltas: list[int] = []
        while (base := self.entries[place].base) is not None and self.known.get(place, ("delta",))[0] == "delta":
            deltas.append(place)
            found = self.places.get(base) if isinstance(base, str) else base
            if found is None:
                return "blob", b"".join(_added(self._content(deltas[0])[1]))
            if found not in self.entries or len(deltas) > len(self.entries):
                raise ValueError("a delta without a base")
            place = found
        kind, content = self._content(place)
        for delta in reversed(deltas):
            content = self._patched(content, self._content(delta)[1])
        if deltas:
            self._keep(deltas[0], kind, content)
        return kind, content

    def _patched(self, base: bytes, delta: bytes) -> bytes:
        _, at = _length(delta, 0)
        size, _ = _length(delta, at)
        self.meter.member(size, self.where)
        self.meter.unpacked(size)
        pieces, total = [], 0
        for start, count, text in _steps(delta):
            pieces.append(text if text else base[start : start + count])
            total += len(pieces[-1])
            if total > min(size, _LARGEST):
                raise ValueError("a delta makes more than it says")
        return b"".join(pieces)


def _length(delta: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[at]
        size, shift, at = size | (byte & 0x7F) << shift, shift + 7, at + 1
        if not byte & 0x80:
            return size, at


def _steps(delta: bytes) -> Iterator[tuple[int, int, bytes]]:
    """What a delta does, in order: copy so many bytes of the base from there on, or add a text."""
    at = _length(delta, _length(delta, 0)[1])[1]
    while at < len(delta):
        order, at = delta[at], at + 1
        if order & 0x80:
            numbers = bytearray(7)
            for bit in range(7):
                if order & 1 << bit:
                    numbers[bit], at = delta[at], at + 1
            count = int.from_bytes(numbers[4:], "little") or 0x10000
            yield int.from_bytes(numbers[:4], "little"), count, b""
        else:
            yield 0, 0, delta[at : at + order]
            at += order


def _added(delta: bytes) -> Iterator[bytes]:
    return (text for _, _, text in _steps(delta))
