"""Files that hold another file between bytes of their own: Debian packages, pip's cache, ``data:`` addresses."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator

from nanobench.archives.ar import AR, ar_members

DEB, PIP = AR + b"debian-binary", b"cc=4,"
"""How a Debian package begins, and an answer that pip kept before its version 23.3."""

_BODY = re.compile(rb"\xa4body(?:\xc4(?P<b1>.)|\xc5(?P<b2>..)|\xc6(?P<b4>.{4}))", re.DOTALL)
"""msgpack's key ``body``, and how many bytes it has."""

_FIRST = 200
_INLINE = re.compile(rb";base64,([A-Za-z0-9+/]{80,}={0,2})")


def parts_of(data: bytes, where: str) -> Iterator[tuple[str, bytes]]:
    """Name and content of what a file that begins as :data:`DEB` or :data:`PIP` holds.

    Raises:
        Refused: ``NB_DEB``, for a broken package.
    """
    if data.startswith(PIP):
        found = _BODY.search(data, 0, _FIRST)
        if found:
            size = int.from_bytes(found["b1"] or found["b2"] or found["b4"], "big")
            yield "body", data[found.end() : found.end() + size]
        return
    file = io.BytesIO(data)
    for name, size in ar_members(file, where):
        start = file.tell()
        yield name, file.read(size)
        file.seek(start + size + size % 2)


def inline(data: bytes) -> Iterator[bytes]:
    """The content of every address in it that holds its file in base64: a source map, for one."""
    for found in _INLINE.finditer(data):
        text = found[1].rstrip(b"=")
        whole = len(text) // 4 * 4  # what follows the last four letters is a byte or two
        yield base64.b64decode(text[:whole])
