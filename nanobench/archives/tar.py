"""The tar format itself: one spelling when writing, and nothing but the plain subset when reading.

Not :mod:`tarfile`: its header bytes changed between Python versions, and its reader buffers extended headers of
any size, follows sparse maps and has looped on negative sizes. Here a header costs bounded memory.

The format is GNU's (``ustar  ``, long names by ``L`` and ``K`` members, base 256 for large numbers); when
reading, the pax records ``path``, ``linkpath``, ``size`` and ``mtime`` are understood too.
"""

from __future__ import annotations

import struct
from typing import Literal, Protocol

from attrs import frozen

from nanobench.archives.names import to_bytes

BLOCK = 512
END = bytes(2 * BLOCK)

Kind = Literal["file", "dir", "symlink", "hardlink"]
TYPES: dict[Kind, bytes] = {"file": b"0", "hardlink": b"1", "symlink": b"2", "dir": b"5"}

_HEADER = struct.Struct("100s8s8s8s12s12s8sc100s8s32s32s8s8s155s12x")
_MAGIC = b"ustar  \0"
_LONG = b"././@LongLink"


class Readable(Protocol):
    """What can be read in pieces."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""


class Writable(Protocol):
    """What takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Take all of ``data``."""


@frozen(kw_only=True)
class Header:
    """A member as its header says, long names resolved; directories without the final slash."""

    path: str
    kind: Kind
    mode: int
    uid: int
    gid: int
    size: int
    mtime: int
    link: str = ""


def encode(header: Header) -> bytes:
    """The blocks that stand before the member's content."""
    name = to_bytes(header.path) + (b"/" if header.kind == "dir" else b"")
    link = to_bytes(header.link)
    numbers = (header.mode, header.uid, header.gid, header.size, header.mtime)
    long = b"".join(_long(value, kind) for value, kind in ((link, b"K"), (name, b"L")) if len(value) > 100)
    return long + _block(name[:100], TYPES[header.kind], numbers, link[:100])


def padding(size: int) -> bytes:
    """The zeros that fill ``size`` bytes of content up to whole blocks."""
    return bytes(-size % BLOCK)


def _long(value: bytes, kind: bytes) -> bytes:
    content = value + b"\0"
    return _block(_LONG, kind, (0, 0, 0, len(content), 0), b"") + content + padding(len(content))


def _block(name: bytes, kind: bytes, numbers: tuple[int, int, int, int, int], link: bytes) -> bytes:
    mode, uid, gid, size, mtime = numbers
    fields = (_number(mode, 8), _number(uid, 8), _number(gid, 8), _number(size, 12), _number(mtime, 12))
    block = _HEADER.pack(name, *fields, b" " * 8, kind, link, _MAGIC, b"", b"", b"", b"", b"")
    return b"%b%06o\0 %b" % (block[:148], sum(block), block[156:])


def _number(value: int, width: int) -> bytes:
    """Octal with a final NUL, or base 256 with the highest bit set when that is too narrow."""
    if value < 8 ** (width - 1):
        return b"%0*o\0" % (width - 1, value)
    return b"\x80" + value.to_bytes(width - 1, "big")
