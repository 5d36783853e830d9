"""The transcript on disk: JSON Lines, one canonical line an exchange, each written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from nanobench.errors import MachineFailure, Refused
from nanobench.formats import json
from nanobench.formats.converter import structure, unstructure
from nanobench.gateway.exchange import Exchange
from nanobench.store.files import write_all

MAX_LINE = json.MAX_BYTES


class Transcript:
    """Appends exchanges to a new file. After a failed write the file ends with the last whole line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.size = 0
        self.failure: OSError | None = None

    def append(self, exchange: Exchange) -> None:
        """Write one line. A full disk is kept in :attr:`failure`, because nobody can catch it where it happens."""
        line = json.dump(unstructure(exchange)) + b"\n"
        try:
            write_all(self._file, line)
            self.size += len(line)
        except OSError as error:
            os.ftruncate(self._file, self.size)
            self.failure = error

    def close(self) -> None:
        """Bring everything to the disk and close.

        Raises:
            MachineFailure: ``NB_TRANSCRIPT`` when a line could not be written: the record of the run has a hole.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            self.failure = self.failure or error
        finally:
            os.close(self._file)
        if self.failure is not None:
            raise MachineFailure(
                "NB_TRANSCRIPT",
                f"an exchange could not be recorded: {self.failure.strerror}",
                where=str(self.path),
                hint="make room on that disk and run again",
            )


def read_transcript(path: Path) -> Iterator[Exchange]:
    """Every exchange of a transcript, in the order of the file, one line in memory at a time.

    Raises:
        Refused: ``NB_TRANSCRIPT`` (or the codes of :mod:`nanobench.formats`), with the line: it is cut, not
            canonical, or names a usage that its own bytes do not show.
    """
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 2):
            number += 1
            yield _exchange(line, where=f"{path.name}:{number}")


def _exchange(line: bytes, *, where: str) -> Exchange:
    if not line.endswith(b"\n"):
        raise Refused("NB_TRANSCRIPT", "the line is cut off or too long", where=where)
    exchange = structure(json.parse(line, where=where), Exchange, where=where)
    shown = exchange.answer().usage
    older = shown and evolve(shown, written=None)  # of a transcript from before it was told what a cache took in
    if exchange.usage not in (shown, older):
        raise Refused("NB_TRANSCRIPT", f"usage is {exchange.usage}, its bytes say {shown}", where=where)
    if json.dump(unstructure(exchange)) + b"\n" != line:
        raise Refused("NB_TRANSCRIPT", "not the canonical JSON of what it says", where=where)
    return exchange
