"""Bytes on their way into the store: counted and hashed while they are written, published only when right."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from nanobench.errors import MachineFailure, Refused
from nanobench.model.fields import Digest
from nanobench.store.files import full_disk, write_all


class Incoming:
    """One blob being written. ``digest`` is known after the with-block of :meth:`Store.incoming`."""

    def __init__(self, descriptor: int, expected: Digest | None, size: int | None) -> None:
        self._descriptor, self._expected, self._size = descriptor, expected, size
        self._hash = hashlib.new((expected or "sha256").partition(":")[0])
        self.written = 0

    @property
    def digest(self) -> Digest:
        """The digest of what was written so far, by the algorithm that was asked for."""
        return Digest(f"{self._hash.name}:{self._hash.hexdigest()}")

    def write(self, data: bytes, /) -> int:
        """Take ``data``.

        Raises:
            Refused: ``NB_DIGEST`` as soon as there are more bytes than expected.
            MachineFailure: ``NB_DISK_FULL``.
        """
        self.written += len(data)
        if self._size is not None and self.written > self._size:
            raise self._wrong(f"more than the expected {self._size} bytes came")
        self._hash.update(data)
        try:
            write_all(self._descriptor, data)
        except OSError as error:
            raise full_disk(error) from error
        return len(data)

    def finish(self) -> None:
        """Check length, then hash, then bring it to the disk."""
        if self._size is not None and self.written != self._size:
            raise self._wrong(f"{self._size} bytes were expected, {self.written} came")
        if self._expected is not None and self.digest != self._expected:
            raise self._wrong(f"expected {self._expected}, found {self.digest}")
        os.fchmod(self._descriptor, 0o444)
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise full_disk(error) from error

    def _wrong(self, message: str) -> Refused:
        return Refused(
            "NB_DIGEST", message, where=self._expected or "", hint="the source sent other bytes than locked"
        )


def check_space(folder: Path, size: int) -> None:
    """Refuse to begin what cannot end.

    Raises:
        MachineFailure: ``NB_DISK_FULL``, with both numbers.
    """
    free = shutil.disk_usage(folder).free
    if free < size:
        raise MachineFailure(
            "NB_DISK_FULL",
            f"{_mib(size)} are needed, {_mib(free)} are free",
            where=str(folder),
            hint="make room, e.g. with `nanobench store gc`, or choose another place with --store",
        )


def _mib(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
