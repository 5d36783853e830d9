"""Directories that a sandbox wrote → layer entries that carry nothing of the machine or the moment."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve

from nanobench.archives.entries import Entry, dated, entries_of, open_regular
from nanobench.archives.names import to_bytes
from nanobench.errors import Refused

_STAMPS = ("uv_cache.json",)
"""What uv writes into every ``dist-info`` about when it was installed: the wheel file's time stamp."""

_LOCK = ".lock"
_MAX_RECORD = 64 << 20


def stamped(root: Path, *, prefix: str = "", epoch: int) -> Iterator[Entry]:
    """The entries of ``root`` below ``prefix``; every time is ``epoch``, also when the clock stands before it."""
    return dated(entries_of(root, prefix=prefix, epoch=epoch), epoch)


def tidied(root: Path, *, prefix: str, epoch: int) -> Iterator[Entry]:
    """The entries of the virtual environment at ``root``, like :func:`stamped`, without uv's time stamps and lock."""
    for entry in stamped(root, prefix=prefix, epoch=epoch):
        inside = entry.path.removeprefix(f"{prefix}/")
        parent, name = os.path.split(inside)
        if (name in _STAMPS and parent.endswith(".dist-info")) or inside == _LOCK:
            continue
        yield _record(entry) if name == "RECORD" and parent.endswith(".dist-info") else entry


def _record(entry: Entry) -> Entry:
    if entry.kind != "file" or entry.content is None or entry.size > _MAX_RECORD:
        raise Refused("NB_RECORD", f"not a RECORD of at most {_MAX_RECORD} bytes", where=entry.path)
    with entry.content() as file:
        lines = file.read().splitlines(keepends=True)
    stamps = tuple(f".dist-info/{name},".encode() for name in _STAMPS)
    data = b"".join(line for line in lines if not any(stamp in line for stamp in stamps))
    return evolve(entry, size=len(data), content=lambda: io.BytesIO(data))


def snapshot(root: Path) -> dict[str, str]:
    """Path → what stands there, for everything below ``root`` but directories."""
    return {entry.path: _state(entry, root) for entry in entries_of(root, epoch=0) if entry.kind != "dir"}


def lost(before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """The paths of one snapshot that are no longer, or something else, in a later one; sorted."""
    return tuple(sorted(path for path, state in before.items() if after.get(path) != state))


def _state(entry: Entry, root: Path) -> str:
    if entry.kind == "symlink":
        return f"link {entry.link}"
    with open_regular(os.path.join(os.fsencode(root), to_bytes(entry.path))) as file:  # noqa: PTH118 (bytes)
        digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    return f"file {bool(entry.mode & 0o100)} {digest}"
