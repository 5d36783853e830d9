"""Read a .deb: an ar archive of two compressed tars. Its bytes are hostile: every size is bounded before use.

A .deb's data goes to a scratch file once (decompressed); what is kept in memory is a list of members.
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from nanobench.archives.ar import ar_members
from nanobench.archives.names import plain
from nanobench.archives.slices import Slice
from nanobench.archives.tar import Header, Readable
from nanobench.archives.untar import Body, TarReader
from nanobench.errors import Refused

_PIECE = 1 << 18
_MAX_CONTROL = 16 << 20
_MAX_MEMBERS = 200_000
_MAX_DICTIONARY = 96 << 20
"""An xz decoder's memory; dpkg's largest preset needs 65 MiB."""

MAX_GROWTH = 256 << 20
"""Bytes that data may unpack to beyond a hundredfold of its packed size; real packages stay far below that."""


@frozen
class Deb:
    """A checked .deb: its control files by name, and its data tar in a scratch file."""

    control: dict[str, bytes]
    data: Path


def unpack(deb: Path, data: Path, *, where: str) -> Deb:
    """Read the control files of ``deb`` and write its data tar, decompressed, to the new file ``data``.

    Raises:
        Refused: ``NB_DEB`` when it is not a .deb, uses a compression that is not known, or exceeds a bound.
    """
    control: dict[str, bytes] | None = None
    with deb.open("rb") as file:
        for name, size in ar_members(file, where):
            start = file.tell()
            if name.startswith("control.tar"):
                control = _control(_decompressed(file, name, size, _MAX_CONTROL, where), where)
            elif name.startswith("data.tar"):
                if data.exists():
                    raise Refused("NB_DEB", "data stands in it twice", where=where)
                with data.open("xb") as out:
                    for piece in _decompressed(file, name, size, MAX_GROWTH + 100 * size, where):
                        out.write(piece)
            file.seek(start + size + size % 2)
    if control is None or "control" not in control or not data.exists():
        raise Refused("NB_DEB", "no control or no data in it", where=where)
    return Deb(control, data)


def members(tar: Path, *, where: str) -> Iterator[tuple[Header, int]]:
    """The members of a decompressed data tar, in its order, each with the place where its bytes begin.

    Raises:
        Refused: ``NB_ARCHIVE_…`` for a broken tar, oversized headers, sparse files, devices and pipes; ``NB_DEB``
            for too many members.
    """
    with tar.open("rb") as file:
        for header, body in _tar_members(file, where):
            yield header, body.start


def files_of(deb: bytes, *, where: str) -> dict[str, bytes]:
    """The regular files of a small .deb, whole, by path (for the keyring package)."""
    file = io.BytesIO(deb)
    for name, size in ar_members(file, where):
        start = file.tell()
        if name.startswith("data.tar"):
            return _files(_decompressed(file, name, size, _MAX_CONTROL, where), where)
        file.seek(start + size + size % 2)
    raise Refused("NB_DEB", "no data in it", where=where)


def _decompressed(file: BinaryIO, name: str, size: int, limit: int, where: str) -> Iterator[bytes]:
    decoders = {"": _plain_pieces, ".xz": _unxz, ".gz": _gunzip}
    suffix = name.partition(".tar")[2]
    if suffix not in decoders:
        raise Refused("NB_DEB", f"{name}: only xz, gzip and no compression are supported", where=where)
    total = 0
    try:
        for piece in decoders[suffix](Slice(file, size)):
            total += len(piece)
            if total > limit:
                raise Refused("NB_DEB", f"{name} unpacks to more than {limit} bytes", where=where)
            yield piece
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise Refused("NB_DEB", f"{name}: {error}", where=where) from None


def _plain_pieces(source: Slice) -> Iterator[bytes]:
    while piece := source.read(_PIECE):
        yield piece


def _gunzip(source: Slice) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=source) as unzipped:
        while piece := unzipped.read(_PIECE):
            yield piece


def _unxz(source: Slice) -> Iterator[bytes]:
    decoder = lzma.LZMADecompressor(memlimit=_MAX_DICTIONARY)
    while not decoder.eof:
        piece = source.read(_PIECE) if decoder.needs_input else b""
        if decoder.needs_input and not piece:
            raise EOFError("cut off")
        yield decoder.decompress(piece or b"", _PIECE)
    if decoder.unused_data:
        raise EOFError("bytes after the end of the xz stream")


def _tar_members(file: Readable, where: str) -> Iterator[tuple[Header, Body]]:
    for count, member in enumerate(TarReader(file, where)):
        if count >= _MAX_MEMBERS:
            raise Refused("NB_DEB", f"more than {_MAX_MEMBERS} members", where=where)
        yield member


def _control(pieces: Iterator[bytes], where: str) -> dict[str, bytes]:
    """The control files; a name with a slash is none."""
    return {name: data for name, data in _files(pieces, where).items() if "/" not in name}


def _files(pieces: Iterator[bytes], where: str) -> dict[str, bytes]:
    """The regular files of a small tar, whole, by path."""
    found = _tar_members(io.BytesIO(b"".join(pieces)), where)
    return {plain(header.path): body.read(header.size) for header, body in found if header.kind == "file"}
