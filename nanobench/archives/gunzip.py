"""Reading a gzip file that anybody may have made: metered before anybody sees what is in it."""

from __future__ import annotations

import gzip
import zlib
from typing import BinaryIO

from nanobench.archives.bounds import Meter
from nanobench.errors import Refused


class Unzipped:
    """The content of a gzip file."""

    def __init__(self, stream: BinaryIO, meter: Meter, where: str) -> None:
        self._file, self._meter, self._where = gzip.GzipFile(fileobj=stream, mode="rb"), meter, where

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end.

        Raises:
            Refused: ``NB_ARCHIVE_BROKEN``, or ``NB_ARCHIVE_BOMB`` from the meter.
        """
        try:
            data = self._file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise Refused("NB_ARCHIVE_BROKEN", f"not a whole gzip file: {error}", where=self._where) from error
        self._meter.unpacked(len(data))
        return data
