"""Unpacking archives that anybody may have made: sdists, wheels, npm tarballs."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Literal

from attrs import Factory, define, frozen

from nanobench.archives.below import Below
from nanobench.archives.bounds import Bounds, Meter
from nanobench.archives.decompress import Decompressed
from nanobench.archives.names import problem, shown, to_bytes
from nanobench.archives.tar import Header, Readable
from nanobench.archives.untar import TarReader
from nanobench.archives.zips import zip_members
from nanobench.errors import NanobenchError, Refused
from nanobench.store.files import full_disk, make_folder, write_all

_CHUNK = 1 << 18
_DEFAULT = Bounds()


@frozen(kw_only=True)
class Member:
    """What was unpacked, by its path below the destination. Mode is 0644 or 0755, size in bytes."""

    path: str
    kind: Literal["file", "dir"]
    mode: int
    size: int


def extract(
    archive: Path, dest: Path, *, where: str, bounds: Bounds = _DEFAULT, strip: int = 0
) -> tuple[Member, ...]:
    """Unpack a ``.tar``, ``.tar.gz`` or zip (told by its content) into the directory ``dest``.

    Nothing is written outside ``dest``, no link is made or followed, no file is overwritten. Owners are not
    restored, modes become 0644 or 0755 by the owner's x bit, times are the archive's. After an error ``dest`` holds
    a part: unpack into scratch.

    Args:
        where: what the archive is, for messages, e.g. its purl.
        strip: how many leading components every path loses; all members must have the same.

    Returns:
        The members in the order of the archive.

    Raises:
        Refused: naming archive and member. ``NB_ARCHIVE_BROKEN``: not a whole, plain archive; ``…_BOMB``: over the
            bounds; ``…_PATH``: absolute, ``..`` or odd; ``…_LINK``; ``…_KIND``: a device, pipe …; ``…_TWICE``;
            ``…_CLASH``: a file where a directory must be; ``…_TOP``: not all below one top directory.
        MachineFailure: ``NB_DISK_FULL``.
    """
    make_folder(dest)
    with archive.open("rb") as stream, Below(dest) as below:
        meter = Meter(bounds, os.fstat(stream.fileno()).st_size, where)
        extraction = _Extraction(below=below, meter=meter, where=where, strip=strip)
        for header, body in _members(stream, Meter(bounds, meter.packed, where), where):
            extraction.add(header, body)
    return tuple(extraction.members)


def _members(stream: BinaryIO, meter: Meter, where: str) -> Iterable[tuple[Header, Readable]]:
    magic = stream.read(4)
    stream.seek(0)
    if magic[:2] == b"PK":
        return zip_members(stream, where)
    if magic[:2] == b"\x1f\x8b":
        return TarReader(Decompressed(stream, meter, where), where)
    return TarReader(stream, where)


@define(kw_only=True)
class _Extraction:
    below: Below
    meter: Meter
    where: str
    strip: int
    top: list[str] | None = None
    kinds: dict[bytes, str] = Factory(dict)
    members: list[Member] = Factory(list)

    def add(self, header: Header, body: Readable) -> None:
        at = f"{self.where}: {shown(header.path)}"
        self.meter.member(header.size, at)
        path = self._stripped(self._allowed(header, at), header.kind, at)
        if not path:
            return
        try:
            self._make(path, header, body, at)
        except OSError as error:
            raise _unwritable(error, at) from error

    def _allowed(self, header: Header, at: str) -> str:
        """The path, if the member is one to unpack."""
        path = header.path.removeprefix("./") if header.path != "." else ""
        wrong = problem(path) if path or header.kind != "dir" else None
        if wrong:
            raise Refused("NB_ARCHIVE_PATH", f"{wrong} is not unpacked", where=at)
        if header.kind in ("symlink", "hardlink"):
            raise Refused("NB_ARCHIVE_LINK", f"a {header.kind} to {shown(header.link)} is not unpacked", where=at)
        return path

    def _stripped(self, path: str, kind: str, at: str) -> str:
        if not path or not self.strip:
            return path
        parts = path.split("/")
        top, rest = parts[: self.strip], parts[self.strip :]
        self.top = self.top or top
        if top != self.top[: len(top)] or (not rest and kind != "dir"):
            raise Refused("NB_ARCHIVE_TOP", f"does not lie below {shown('/'.join(self.top))}", where=at)
        return "/".join(rest)

    def _make(self, path: str, header: Header, body: Readable, at: str) -> None:
        raw = to_bytes(path)
        if header.kind == "dir":
            self._folder(raw, at)
            self.members.append(Member(path=path, kind="dir", mode=0o755, size=0))
            return
        if b"/" in raw:
            self._folder(raw.rpartition(b"/")[0], at)
        self._claim(raw, "file", at)
        mode = 0o755 if header.mode & 0o100 else 0o644
        self.below.make_file(raw, mode=mode, mtime=header.mtime, fill=lambda to: self._copy(body, to))
        self.members.append(Member(path=path, kind="file", mode=mode, size=header.size))

    def _folder(self, raw: bytes, at: str) -> None:
        """Make the directory and its parents, as far as they are not there."""
        if self.kinds.get(raw) == "dir":
            return
        if b"/" in raw:
            self._folder(raw.rpartition(b"/")[0], at)
        self._claim(raw, "dir", at)
        self.below.make_folder(raw)

    def _claim(self, raw: bytes, kind: str, at: str) -> None:
        known = self.kinds.get(raw)
        if known == kind == "file":
            raise Refused("NB_ARCHIVE_TWICE", "two members have the same path", where=at)
        if known not in (None, kind):
            raise Refused("NB_ARCHIVE_CLASH", f"a {kind} where the archive has a {known}", where=at)
        self.kinds[raw] = kind

    def _copy(self, body: Readable, descriptor: int) -> None:
        while chunk := body.read(_CHUNK):
            self.meter.unpacked(len(chunk))
            write_all(descriptor, chunk)


def _unwritable(error: OSError, at: str) -> NanobenchError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full_disk(error)
    return Refused("NB_ARCHIVE_CLASH", f"cannot be written: {error.strerror}", where=at)
