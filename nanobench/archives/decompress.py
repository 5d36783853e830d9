"""Reading a compressed file that anybody may have made: metered before anybody sees what is in it."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from typing import BinaryIO

from nanobench.archives.bounds import Meter
from nanobench.archives.tar import Readable
from nanobench.errors import Refused

GZIP, ZSTD, XZ, BZIP2 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh"
LZMA = b"]\0\0"
"""How such files begin; the last is what came before xz."""

_MAX_WINDOW = 128 << 20
"""A decoder's memory: what zstd's own ``--long`` asks for, and more than xz does at its best."""

_PIECE = 1 << 18


class Decompressed:
    """The content of a compressed file: zstd, xz, lzma or bzip2 when it begins as one, else gzip."""

    def __init__(self, stream: BinaryIO, meter: Meter, where: str) -> None:
        self._meter, self._where = meter, where
        self._file, self._broken = _decoder(stream)

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end.

        Raises:
            Refused: ``NB_ARCHIVE_BROKEN``, or ``NB_ARCHIVE_BOMB`` from the meter.
        """
        try:
            data = self._file.read(size)
        except self._broken as error:
            raise Refused("NB_ARCHIVE_BROKEN", f"not a whole compressed file: {error}", where=self._where) from error
        self._meter.unpacked(len(data))
        return data


class _Streams:
    """One or more streams of xz or bzip2, one after the other."""

    def __init__(self, stream: BinaryIO, fresh: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor]) -> None:
        self._stream, self._fresh, self._decoder = stream, fresh, fresh()

    def read(self, size: int, /) -> bytes:
        while True:
            if self._decoder.eof:
                rest = (self._decoder.unused_data or self._stream.read(_PIECE)).lstrip(b"\0")  # xz pads with zeros
                if not rest:
                    return b""
                self._decoder = self._fresh()
            else:
                rest = self._stream.read(_PIECE) if self._decoder.needs_input else b""
                if self._decoder.needs_input and not rest:
                    raise EOFError("cut off")
            if data := self._decoder.decompress(rest, size):
                return data


class _Steps(gzip.GzipFile):
    """One that gives what it has before it says what is wrong with the rest."""

    def read(self, size: int | None = -1) -> bytes:
        """At most so many bytes."""
        return self.read1(-1 if size is None else size)


def _decoder(stream: BinaryIO) -> tuple[Readable, tuple[type[Exception], ...]]:
    magic = stream.read(len(XZ))
    stream.seek(0)
    if magic == XZ or magic.startswith(LZMA):
        return _Streams(stream, lambda: lzma.LZMADecompressor(memlimit=_MAX_WINDOW)), (lzma.LZMAError, EOFError)
    if magic.startswith(BZIP2):
        return _Streams(stream, bz2.BZ2Decompressor), (OSError, EOFError)
    if not magic.startswith(ZSTD):
        return _Steps(fileobj=stream, mode="rb"), (OSError, EOFError, zlib.error)
    import zstandard  # few need it

    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    return decoder.stream_reader(stream, read_across_frames=True), (zstandard.ZstdError,)
