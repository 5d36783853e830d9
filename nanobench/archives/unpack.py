"""A layer's unpacked tree."""

from __future__ import annotations

from pathlib import Path

from attrs import Factory, define

from nanobench.archives.below import Below
from nanobench.archives.names import problem, shown, to_bytes
from nanobench.archives.tar import Header, Readable
from nanobench.archives.untar import TarReader
from nanobench.errors import Refused
from nanobench.store.files import full_disk, write_all

_CHUNK = 1 << 20
_MODE_BITS = 0o1777
_OWNER_READS, _OWNER_ENTERS = 0o400, 0o500


def unpack_layer(layer: Path, dest: Path) -> None:
    """Unpack the layer at ``layer`` into the existing empty directory ``dest``, with its modes and times.

    Nothing is written outside ``dest`` and no link is followed, whatever the layer says. Owners and set-id bits
    are not restored, and the owner may read everything: else an ordinary user could not verify the tree.

    Raises:
        Refused: ``NB_ARCHIVE_…`` naming the layer and the member.
        MachineFailure: ``NB_DISK_FULL``.
    """
    with layer.open("rb") as stream, Below(dest) as below:
        unpacking = _Unpacking(below=below, where=layer.name)
        try:
            for header, body in TarReader(stream, layer.name):
                unpacking.add(header, body)
            unpacking.finish()
        except OSError as error:
            raise full_disk(error) from error


@define(kw_only=True)
class _Unpacking:
    below: Below
    where: str
    kinds: dict[bytes, str] = Factory(dict)
    folders: list[tuple[bytes, Header]] = Factory(list)

    def add(self, header: Header, body: Readable) -> None:
        raw = self._place(header)
        self.kinds[raw] = header.kind
        if header.kind == "dir":
            self.below.make_folder(raw)
            self.folders.append((raw, header))
        elif header.kind == "symlink":
            self.below.make_symlink(raw, to_bytes(header.link), mtime=header.mtime)
        elif header.kind == "hardlink":
            self._hardlink(raw, header)
        else:
            mode = header.mode & _MODE_BITS | _OWNER_READS
            self.below.make_file(raw, mode=mode, mtime=header.mtime, fill=lambda to: _copy(body, to))

    def finish(self) -> None:
        """Directories last, deepest first: unpacking into one changes its time."""
        for raw, header in reversed(self.folders):
            self.below.finish_folder(raw, mode=header.mode & _MODE_BITS | _OWNER_ENTERS, mtime=header.mtime)

    def _place(self, header: Header) -> bytes:
        wrong = problem(header.path)
        if wrong:
            raise Refused("NB_ARCHIVE_PATH", wrong, where=self._at(header))
        raw = to_bytes(header.path)
        above = raw.rpartition(b"/")[0]
        if raw in self.kinds:
            raise Refused("NB_ARCHIVE_TWICE", "two members have the same path", where=self._at(header))
        if above and self.kinds.get(above) != "dir":
            found = self.kinds.get(above, "missing directory")
            raise Refused("NB_ARCHIVE_CLASH", f"lies below a {found}", where=self._at(header))
        return raw

    def _hardlink(self, raw: bytes, header: Header) -> None:
        target = to_bytes(header.link)
        if self.kinds.get(target) != "file":
            raise Refused("NB_ARCHIVE_LINK", "a hard link to no earlier file", where=self._at(header))
        self.below.make_hardlink(raw, target)

    def _at(self, header: Header) -> str:
        return f"{self.where}: {shown(header.path)}"


def _copy(body: Readable, descriptor: int) -> None:
    while chunk := body.read(_CHUNK):
        write_all(descriptor, chunk)
