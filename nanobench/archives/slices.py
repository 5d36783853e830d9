"""A part of a file, as a file of its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO, cast


class Slice(io.RawIOBase):
    """The next ``size`` bytes of ``file``, as a file that only reads on; ``owned``: closes it too."""

    def __init__(self, file: BinaryIO, size: int, *, owned: bool = False) -> None:
        self._file, self._left, self._owned = file, size, owned

    def close(self) -> None:
        """Close this view, and the file below when it is owned."""
        if self._owned:
            self._file.close()
        super().close()

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes; EOFError when the file ends before its promised size."""
        piece = self._file.read(min(len(buffer), self._left))
        if not piece and self._left:
            raise EOFError("cut off")
        buffer[: len(piece)] = piece
        self._left -= len(piece)
        return len(piece)


def part_of(file: Path, offset: int, size: int) -> BinaryIO:
    """The ``size`` bytes at ``offset`` of ``file``, as a file that only reads on."""
    stream = file.open("rb", buffering=0)
    stream.seek(offset)
    return cast(BinaryIO, Slice(cast(BinaryIO, stream), size, owned=True))
