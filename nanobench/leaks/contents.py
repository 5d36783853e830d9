"""Everything that is in a file: its bytes, and if it is compressed, an archive or a pack, what is in that, and so on.

Nothing is written, run or unmarshalled; a bomb is named and left. What is broken counts as what came out of it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, cast

from attrs import define, field, frozen

from nanobench.archives.bounds import Bounds, Meter
from nanobench.archives.decompress import BZIP2, GZIP, LZMA, XZ, ZSTD, Decompressed
from nanobench.archives.names import shown
from nanobench.archives.tar import Header, Readable
from nanobench.archives.untar import TarReader
from nanobench.archives.zips import zip_members
from nanobench.errors import Refused
from nanobench.leaks.git_objects import BUNDLES, PACK, GitObject, loose_object, packed_objects
from nanobench.leaks.wrapped import DEB, PIP, inline, parts_of

MAX_DEPTH = 8
"""How often something may be packed into something."""

PIECE, OVERLAP = 8 << 20, 64 << 10
"""A larger file is looked at in pieces that overlap. Of a piece there are several copies at a time."""

MOST_PACKED = 256 << 20
"""The largest zip or pack that is opened: they are not read forward."""

BOUNDS = Bounds(members=2_000_000, total=8 << 30, member=4 << 30, ratio=1000, free=64 << 20)
_ZIP, _ZIP_END, _END_SIZE, _END_SPACE = b"PK\3\4", b"PK\5\6", 22, 66_000
_DEFLATED = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
_COMPRESSED = (GZIP, ZSTD, XZ, LZMA, BZIP2)
_CLOSED = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x04\x22\x4d\x18", b"\xed\xab\xee\xdb", b"MSCF\0\0\0\0", b"hsqs")
"""How 7z, rar, lz4, rpm, cab and squashfs begin: packed, and not opened."""

_TAR = slice(257, 262), b"ustar"
_BOMB = "NB_ARCHIVE_BOMB"
_STOPPED = ("NB_ARCHIVE_METHOD", "NB_ARCHIVE_KIND")
"""Of archives that are what they seem, and were not read to their end."""


@frozen(kw_only=True)
class Piece:
    """``path`` leads through archives by ``!``. ``whole``: ``data`` is all of it; ``git``: which object it is."""

    path: str
    data: bytes
    whole: bool
    git: GitObject | None = None


@define
class Contents:
    """What is in files, one after the other. ``unread`` names what could not be looked into, with the reason."""

    bounds: Bounds = BOUNDS
    unread: list[str] = field(factory=list, init=False)

    def of(self, path: str, file: BinaryIO, size: int) -> Iterator[Piece]:
        """Every piece of a file of ``size`` bytes."""
        meter = Meter(self.bounds, size, path)
        try:
            yield from self._pieces(path, file, meter, 0)
            if _zip_behind(file, size):
                yield from self._opened(path, _Joined(b"", file), meter, 0)
        except Refused as error:
            self.unread.append(f"{path}: {error.message}")

    def _pieces(self, path: str, stream: Readable, meter: Meter, depth: int) -> Iterator[Piece]:
        head = upto(stream, PIECE)
        whole = len(head) < PIECE
        yield Piece(path=path, data=head, whole=whole)
        yield from self._inlined(path, head, meter, depth)
        if head.startswith(_CLOSED):
            self.unread.append(f"{path}: packed in a way that is not opened")
        elif _packed(head):
            yield from self._opened(path, _Joined(head, stream), meter, depth)
        elif not whole:
            yield from _rest(path, head, stream)

    def _inlined(self, path: str, head: bytes, meter: Meter, depth: int) -> Iterator[Piece]:
        """What addresses in a text hold."""
        for data in inline(head):
            if depth == MAX_DEPTH:
                self.unread.append(f"{path}: packed more than {MAX_DEPTH} times")
                return
            meter.unpacked(len(data))
            yield from self._pieces(f"{path}!base64", io.BytesIO(data), meter, depth + 1)

    def _opened(self, path: str, stream: _Joined, meter: Meter, depth: int) -> Iterator[Piece]:
        if depth == MAX_DEPTH:
            self.unread.append(f"{path}: packed more than {MAX_DEPTH} times")
            return
        try:
            yield from self._inside(path, stream, meter, depth + 1)
        except Refused as error:
            if error.code == _BOMB:
                raise
            if error.code in _STOPPED:
                self.unread.append(f"{path}: {error.message}")
            # It only looked like something packed, or was not whole: what came out of it was looked at.

    def _inside(self, path: str, stream: _Joined, meter: Meter, depth: int) -> Iterator[Piece]:
        head = stream.head
        if head.startswith(_COMPRESSED):
            unpacked = _Cut(Decompressed(cast(BinaryIO, stream), meter, path))
            yield from self._pieces(path, unpacked, meter, depth)
        elif head[_TAR[0]] == _TAR[1]:
            yield from self._members(path, TarReader(stream, path, skips=lambda _: True), meter, depth)
        elif head.startswith(_DEFLATED):
            yield from self._inflated(path, stream, meter, depth)
        else:
            data = upto(stream, MOST_PACKED + 1)
            meter.member(len(data), path)
            if len(data) > MOST_PACKED:
                self.unread.append(f"{path}: more than {MOST_PACKED} bytes packed")
            elif head.startswith((PACK, *BUNDLES)):
                yield from self._objects(path, packed_objects(data, meter, path), meter, depth)
            elif head.startswith((DEB, PIP)):
                for name, part in parts_of(data, path):
                    yield from self._pieces(f"{path}!{shown(name)}", io.BytesIO(part), meter, depth)
            else:
                yield from self._members(path, zip_members(io.BytesIO(_to_its_end(data)), path), meter, depth)

    def _members(
        self, path: str, members: Iterable[tuple[Header, Readable]], meter: Meter, depth: int
    ) -> Iterator[Piece]:
        for header, body in members:
            meter.member(header.size, path)
            if header.kind == "file":
                yield from self._pieces(f"{path}!{shown(header.path)}", _Metered(body, meter), meter, depth)

    def _inflated(self, path: str, stream: Readable, meter: Meter, depth: int) -> Iterator[Piece]:
        """A file of one deflated stream; git keeps loose objects so."""
        inflated = _Cut(Inflated(stream, meter, path))
        data = upto(inflated, PIECE)
        found = loose_object(data, meter, path) if len(data) < PIECE else None
        if found:
            yield from self._objects(path, iter([found]), meter, depth)
        else:
            yield from self._pieces(path, _Joined(data, inflated), meter, depth)

    def _objects(self, path: str, objects: Iterator[GitObject], meter: Meter, depth: int) -> Iterator[Piece]:
        for found in objects:
            place = f"{path}!{found.id}"
            yield Piece(path=place, data=found.data, whole=True, git=found)
            if found.kind == "blob" and _packed(found.data):
                yield from self._opened(place, _Joined(found.data, io.BytesIO()), meter, depth)


def _packed(head: bytes) -> bool:
    """Does it look like something that has something in it?"""
    if head.startswith((*_COMPRESSED, _ZIP, PACK, *BUNDLES, *_DEFLATED, DEB, PIP)):
        return True
    return head[_TAR[0]] == _TAR[1] or (len(head) < PIECE and _ZIP_END in head[-_END_SPACE:])


def _to_its_end(data: bytes) -> bytes:
    """A zip without what follows it."""
    at = data.rfind(_ZIP_END)
    comment = int.from_bytes(data[at + _END_SIZE - 2 : at + _END_SIZE], "little")
    return data[: at + _END_SIZE + comment] if at >= 0 else data


def _zip_behind(file: BinaryIO, size: int) -> bool:
    """Does a file, too large to be looked at at once, begin as something else and end as a zip? It then stands at its
    begin."""
    if size < PIECE:
        return False
    file.seek(max(0, size - _END_SPACE))
    end = file.read()
    file.seek(0)
    begins = file.read(len(_ZIP))
    file.seek(0)
    return _ZIP_END in end and begins != _ZIP


def upto(stream: Readable, size: int) -> bytes:
    """The next ``size`` bytes, fewer only at the end."""
    pieces, left = [], size
    while left and (piece := stream.read(min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _rest(path: str, head: bytes, stream: Readable) -> Iterator[Piece]:
    while more := upto(stream, PIECE):
        head = head[-OVERLAP:] + more
        yield Piece(path=path, data=head, whole=False)


class _Joined:
    """A stream of which the head was read before, as if it had not been."""

    def __init__(self, head: bytes, rest: Readable) -> None:
        self.head, self._read, self._rest = head, io.BytesIO(head), rest

    def read(self, size: int, /) -> bytes:
        return self._read.read(size) or self._rest.read(size)

    def seek(self, place: int, /) -> int:
        """Back to a place in the head; as long as nothing behind it was read."""
        return self._read.seek(place)


@frozen
class _Cut:
    """A stream that ends where it is broken."""

    stream: Readable

    def read(self, size: int, /) -> bytes:
        try:
            return self.stream.read(size)
        except Refused as error:
            if error.code == _BOMB:
                raise
            return b""


@frozen
class _Metered:
    """A member's content, counted."""

    body: Readable
    meter: Meter

    def read(self, size: int, /) -> bytes:
        data = self.body.read(size)
        self.meter.unpacked(len(data))
        return data


class Inflated:
    """The content of a file that is one zlib stream."""

    def __init__(self, stream: Readable, meter: Meter, where: str) -> None:
        self._stream, self._meter, self._where, self._decoder = stream, meter, where, zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        data = b""
        while not data and not self._decoder.eof:
            packed = self._decoder.unconsumed_tail or self._stream.read(1 << 16)
            try:
                data = self._decoder.decompress(packed, size)
            except zlib.error as error:
                raise Refused("NB_ARCHIVE_BROKEN", f"not deflated: {error}", where=self._where) from error
            if not packed and not data:
                raise Refused("NB_ARCHIVE_BROKEN", "it ends in the middle", where=self._where)
        self._meter.unpacked(len(data))
        return data
