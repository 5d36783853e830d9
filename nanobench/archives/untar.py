"""Reading a tar that anybody may have made, forward only, in bounded memory.

Understood: files, directories, links, GNU long names, the pax records ``path``, ``linkpath``, ``size`` and
``mtime``. Everything else (devices, pipes, sparse maps, global records that rename) is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NoReturn

from attrs import define, field

from nanobench.archives.names import shown, to_text
from nanobench.archives.tar import BLOCK, TYPES, Header, Kind, Readable
from nanobench.errors import Refused

_MAX_EXTENDED = 1 << 20
_KINDS: dict[bytes, Kind] = {raw: kind for kind, raw in TYPES.items()} | {b"\0": "file", b"7": "file"}
_SPECIAL = {b"3": "a character device", b"4": "a block device", b"6": "a pipe"}
_OTHER = _SPECIAL | {b"S": "a sparse file"}
_RECORD = re.compile(rb"(\d{1,8}) ([^=\n]+)=")
_SECONDS = re.compile(rb"(-?\d{1,18})(\.\d*)?")
_TAKEN = (b"path", b"linkpath", b"size", b"mtime")


class Body:
    """The content of the present member; gone as soon as the next one is asked for.

    ``start`` is where it begins in the stream.
    """

    def __init__(self, reader: TarReader, size: int, start: int) -> None:
        self._reader, self.left, self.start = reader, size, start

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end of the member."""
        if not self.left:
            return b""
        data = self._reader.take(min(size, self.left), exact=False)
        self.left -= len(data)
        return data


@define
class _Extended:
    """What extended headers said about the member that follows them."""

    name: bytes | None = None
    link: bytes | None = None
    size: int | None = None
    mtime: int | None = None


@define
class TarReader:
    """Iterates over (header, body).

    Args:
        where: what the archive is, for messages.
        skips: whether a device or pipe of that path is passed over instead of refused.

    Raises:
        Refused: ``NB_ARCHIVE_BROKEN`` when it is not a whole, plain tar, ``NB_ARCHIVE_KIND`` for a device.
    """

    stream: Readable
    where: str
    skips: Callable[[str], bool] = lambda _: False
    _at: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[tuple[Header, Body]]:
        extended = _Extended()
        while any(block := self.take(BLOCK)):
            kind, size = block[156:157], self._checked(block)
            if kind in b"LKxgX":
                self._extend(extended, kind, self._small(size))
                continue
            if kind in _SPECIAL and not size and self.skips(self._path(block, extended)):
                extended = _Extended()
                continue
            header = self._header(block, extended)
            body = Body(self, header.size, self._at)
            yield header, body
            while body.read(1 << 16):
                pass
            self.take(-header.size % BLOCK)
            extended = _Extended()
        self._end()

    def take(self, size: int, *, exact: bool = True) -> bytes:
        """The next ``size`` bytes; fewer, but some, when not ``exact``."""
        data = self.stream.read(size) if size else b""
        while len(data) < size and (exact or not data):
            more = self.stream.read(size - len(data))
            if not more:
                self._broken("it ends in the middle")
            data += more
        self._at += len(data)
        return data

    def _broken(self, why: str) -> NoReturn:
        raise Refused("NB_ARCHIVE_BROKEN", f"not a plain tar: {why}", where=f"{self.where}: byte {self._at}")

    def _end(self) -> None:
        while rest := self.stream.read(1 << 16):
            if rest.strip(b"\0"):
                self._broken("something follows its end")

    def _checked(self, block: bytes) -> int:
        """The size field of a header block whose checksum is right."""
        total = sum(block) - sum(block[148:156]) + 8 * 0x20
        if block[257:262] not in (b"ustar", bytes(5)) or self._number(block[148:156]) != total:
            self._broken("a header's checksum is wrong")
        return self._number(block[124:136])

    def _number(self, raw: bytes) -> int:
        if raw[0] == 0x80:
            return int.from_bytes(raw[1:], "big")
        digits = raw.strip(b" \0")
        if digits and (not digits.isdigit() or b"8" in digits or b"9" in digits):
            self._broken(f"the number {raw!r}")
        return int(digits or b"0", 8)

    def _small(self, size: int) -> bytes:
        if size > _MAX_EXTENDED:
            self._broken(f"an extended header of {size} bytes")
        data = self.take(size)
        self.take(-size % BLOCK)
        return data

    def _extend(self, extended: _Extended, kind: bytes, data: bytes) -> None:
        if kind == b"L":
            extended.name = data.rstrip(b"\0")
        elif kind == b"K":
            extended.link = data.rstrip(b"\0")
        else:
            records = self._records(data)
            if kind == b"g" and any(key in records for key in _TAKEN):
                self._broken("a global header that changes members")
            self._apply(extended, records)

    def _records(self, data: bytes) -> dict[bytes, bytes]:
        records, at = {}, 0
        while at < len(data):
            found = _RECORD.match(data, at)
            end = at + int(found[1]) if found else 0
            if not found or not found.end() < end <= len(data) or data[end - 1 : end] != b"\n":
                self._broken("an extended header that cannot be read")
            if found[2].startswith(b"GNU.sparse"):
                self._broken("a sparse file")
            records[found[2]] = data[found.end() : end - 1]
            at = end
        return records

    def _apply(self, extended: _Extended, records: dict[bytes, bytes]) -> None:
        extended.name = records.get(b"path", extended.name)
        extended.link = records.get(b"linkpath", extended.link)
        if b"size" in records:
            if not re.fullmatch(rb"\d{1,18}", records[b"size"]):
                self._broken(f"the size {records[b'size']!r:.40}")
            extended.size = int(records[b"size"])
        if b"mtime" in records:
            seconds = _SECONDS.fullmatch(records[b"mtime"])
            if not seconds:
                self._broken(f"the time {records[b'mtime']!r:.40}")
            extended.mtime = int(seconds[1])

    def _header(self, block: bytes, extended: _Extended) -> Header:
        name = self._name(block, extended)
        path = self._path(block, extended)
        kind = self._kind(block[156:157], path, folder=name.endswith(b"/"))
        size = extended.size if extended.size is not None else self._number(block[124:136])
        mtime = extended.mtime if extended.mtime is not None else self._time(block[136:148])
        if kind != "file" and size:
            self._broken(f"a {kind} of {size} bytes")
        return Header(
            path=path,
            kind=kind,
            mode=self._number(block[100:108]) & 0o7777,
            uid=self._number(block[108:116]),
            gid=self._number(block[116:124]),
            size=size,
            mtime=max(0, min(mtime, 2**40)),
            link=to_text(extended.link if extended.link is not None else _text(block[157:257])),
        )

    def _time(self, raw: bytes) -> int:
        """The time field; before 1970 is as good as 1970."""
        return 0 if raw[0] == 0xFF else self._number(raw)

    def _kind(self, raw: bytes, path: str, *, folder: bool) -> Kind:
        kind = _KINDS.get(raw)
        if kind is None:
            what = _OTHER.get(raw, f"a member of type {raw!r}")
            raise Refused("NB_ARCHIVE_KIND", f"{what} is not unpacked", where=f"{self.where}: {shown(path)}")
        return "dir" if kind == "file" and folder else kind

    def _path(self, block: bytes, extended: _Extended) -> str:
        name = self._name(block, extended)
        return to_text(name.rstrip(b"/") or name)

    def _name(self, block: bytes, extended: _Extended) -> bytes:
        if extended.name is not None:
            return extended.name
        name = _text(block[0:100])
        prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else b""
        return prefix + b"/" + name if prefix else name


def _text(raw: bytes) -> bytes:
    return raw.split(b"\0", 1)[0]
