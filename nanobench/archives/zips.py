"""Reading a zip that anybody may have made, in bounded memory: :mod:`zipfile` behind checks of what it trusts."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from calendar import timegm
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO, NoReturn

from attrs import define, field

from nanobench.archives.names import shown
from nanobench.archives.tar import Header, Kind, Readable
from nanobench.errors import Refused

_END = struct.Struct("<4s4H2LH")
_LOCATOR_SIZE = 20
_MAX_COMMENT = (1 << 16) - 1
_MAX_DIRECTORY = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_BEGIN_OF_DOS_TIME = 315_532_800
_KINDS: dict[int, Kind] = {0: "file", stat.S_IFREG: "file", stat.S_IFDIR: "dir", stat.S_IFLNK: "symlink"}
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def zip_members(stream: BinaryIO, where: str) -> Iterator[tuple[Header, Readable]]:
    """Every member of the zip, in the order of its directory, with its content.

    Raises:
        Refused: ``NB_ARCHIVE_BROKEN`` when it is not a whole zip, ``NB_ARCHIVE_METHOD`` for a zip64 directory,
            a huge one, a member that is encrypted, or neither stored nor deflated, ``NB_ARCHIVE_KIND`` for a device
            or the like.
    """
    with _plain(where):
        _check_end(stream, where)
        archive = zipfile.ZipFile(stream)
    for info in archive.infolist():
        place = f"{where}: {shown(info.orig_filename)}"
        yield _header(info, place), _Body(archive=archive, info=info, where=place)


@define(kw_only=True)
class _Body:
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    where: str
    _file: IO[bytes] | None = field(default=None, init=False)

    def read(self, size: int, /) -> bytes:
        with _plain(self.where):
            if self._file is None:
                self._file = self.archive.open(self.info)
            return self._file.read(size)


@contextmanager
def _plain(where: str) -> Iterator[None]:
    try:
        yield
    except _BROKEN as error:
        _refuse(f"{error}", where)


def _refuse(why: str, where: str) -> NoReturn:
    raise Refused("NB_ARCHIVE_BROKEN", f"not a whole, plain zip: {why}", where=where)


def _unsupported(why: str, where: str) -> NoReturn:
    raise Refused("NB_ARCHIVE_METHOD", f"a zip that is not read: {why}", where=where)


def _check_end(stream: BinaryIO, where: str) -> None:
    """The zip's end record is the one that zipfile will find, and its directory is small enough to be read."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _END.size - _MAX_COMMENT - _LOCATOR_SIZE))
    tail = stream.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        _refuse("it has no end record", where)
    *_, directory, _, comment = _END.unpack_from(tail, at)
    if len(tail) - at != _END.size + comment:
        _refuse("something follows its end", where)
    if tail[max(0, at - _LOCATOR_SIZE) : at].startswith(b"PK\6\7"):
        _unsupported("a zip64 directory", where)
    if directory > _MAX_DIRECTORY:
        _unsupported(f"a directory of {directory} bytes", where)


def _header(info: zipfile.ZipInfo, where: str) -> Header:
    mode = info.external_attr >> 16
    folder = info.orig_filename.endswith("/")
    kind = "dir" if folder else _KINDS.get(stat.S_IFMT(mode))
    if kind is None or (kind == "dir") != folder:
        raise Refused("NB_ARCHIVE_KIND", f"a member of mode {mode:o} is not unpacked", where=where)
    if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
        _unsupported("encrypted, or compressed by an unusual method", where)
    return Header(
        path=info.orig_filename.removesuffix("/"),
        kind=kind,
        mode=stat.S_IMODE(mode) or 0o644,
        uid=0,
        gid=0,
        size=0 if folder else info.file_size,
        mtime=_seconds(info),
    )


def _seconds(info: zipfile.ZipInfo) -> int:
    """The DOS time, read as UTC; a date that does not exist is as good as the first."""
    try:
        return timegm((*info.date_time, 0, 0, 0))
    except ValueError:
        return _BEGIN_OF_DOS_TIME
