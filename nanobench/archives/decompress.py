"""Reading a gzip or zstd file that anybody may have made: metered before anybody sees what is in it."""

from __future__ import annotations

import gzip
import zlib
from typing import BinaryIO

from nanobench.archives.bounds import Meter
from nanobench.errors import Refused

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""How such files begin."""

_MAX_WINDOW = 128 << 20
"""A zstd decoder's memory: what the tool's own ``--long`` asks for."""


class Decompressed:
    """The content of a gzip file, or of a zstd file when it begins as one."""

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


def _decoder(stream: BinaryIO) -> tuple[BinaryIO, tuple[type[Exception], ...]]:
    magic = stream.read(len(ZSTD))
    stream.seek(0)
    if magic != ZSTD:
        return gzip.GzipFile(fileobj=stream, mode="rb"), (OSError, EOFError, zlib.error)  # type: ignore[return-value]
    import zstandard  # few need it

    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    return decoder.stream_reader(stream, read_across_frames=True), (zstandard.ZstdError,)
