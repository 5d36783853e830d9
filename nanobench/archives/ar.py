"""Reading an ar archive that anybody may have made: what a Debian package is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from nanobench.errors import Refused

AR = b"!<arch>\n"
"""How it begins."""

_HEADER = 60


def ar_members(file: BinaryIO, where: str) -> Iterator[tuple[str, int]]:
    """Name and size of each member; the file stands at its first byte when it is yielded.

    Who reads on leaves the file behind the member, at an even place.

    Raises:
        Refused: ``NB_DEB`` when it is no ar archive.
    """
    if file.read(len(AR)) != AR:
        raise Refused("NB_DEB", "not an ar archive", where=where)
    while header := file.read(_HEADER):
        digits = header[48:58].strip()
        if len(header) != _HEADER or header[58:] != b"`\n" or not digits.isdigit():
            raise Refused("NB_DEB", "a broken ar header", where=where)
        yield header[:16].decode("ascii", "replace").strip().rstrip("/"), int(digits)
