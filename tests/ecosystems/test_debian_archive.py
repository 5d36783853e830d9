from __future__ import annotations

import gzip
import lzma
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.archives.tar import Header
from nanobench.ecosystems import deb_archive
from nanobench.errors import Refused

CONTROL = {"./control": b"Package: x\n"}


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], list[tuple[Header, int]]]:
    """Unpack a .deb and list its data."""

    def unpack(deb: bytes) -> list[tuple[Header, int]]:
        (tmp_path / "x.deb").write_bytes(deb)
        opened = deb_archive.unpack(tmp_path / "x.deb", tmp_path / "data.tar", where="x")
        assert opened.control["control"] == b"Package: x\n"
        return list(deb_archive.members(opened.data, where="x"))

    return unpack


Tar = Callable[[dict[str, Any]], bytes]
Ar = Callable[[dict[str, bytes]], bytes]
Read = Callable[[bytes], list[tuple[Header, int]]]


@pytest.mark.parametrize("packed", ["", ".xz", ".gz"])
def test_control_and_data_are_read_whichever_of_the_known_compressions(
    read: Read, tar_of: Tar, ar_of: Ar, tmp_path: Path, packed: str
) -> None:
    packs: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".xz": lzma.compress, ".gz": gzip.compress}
    pack = packs[packed]
    data = b"data" * 200_000
    deb = ar_of(
        {
            "debian-binary": b"2.0\n",
            f"control.tar{packed}": pack(tar_of(CONTROL)),
            f"data.tar{packed}": pack(tar_of({"./a": data})),
        }
    )
    ((member, start),) = read(deb)
    assert (tmp_path / "data.tar").read_bytes()[start : start + member.size] == data


def test_a_compression_that_is_not_known_is_named(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    deb = ar_of({"debian-binary": b"2.0\n", "control.tar.zst": b"\x28\xb5\x2f\xfd", "data.tar.zst": b""})
    with pytest.raises(Refused, match=r"NB_DEB: x: control\.tar\.zst: only xz"):
        read(deb)


def test_a_bomb_ends_at_its_bound(
    read: Read, tar_of: Tar, ar_of: Ar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deb_archive, "MAX_GROWTH", 1 << 20)
    bomb = lzma.compress(bytes(64 << 20), preset=0)
    with pytest.raises(Refused, match=r"data\.tar\.xz unpacks to more than"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar.xz": bomb}))
    assert (tmp_path / "data.tar").stat().st_size < (8 << 20)


def test_a_dictionary_that_would_fill_the_memory_is_refused(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    packed = bytearray(lzma.compress(b"x" * 10, preset=0))
    # After the stream's 12 bytes comes the block header; its fifth byte is the size of the dictionary, 40: 4 GiB.
    assert packed[14:16] == b"\x21\x01"
    packed[16] = 40
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    with pytest.raises(Refused, match="Memory usage limit"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar.xz": bytes(packed)}))


def test_extended_headers_are_bounded(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2 << 20
    tar = long_name.tobuf(tarfile.GNU_FORMAT) + bytes(2 << 20) + tar_of({"./a": b""})
    with pytest.raises(Refused, match="an extended header of 2097152 bytes"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar}))


def test_a_sparse_file_is_refused(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    sparse = tarfile.TarInfo("./a")
    sparse.type = tarfile.GNUTYPE_SPARSE
    with pytest.raises(Refused, match="sparse"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar_of({"./a": sparse})}))


def test_members_are_counted(read: Read, tar_of: Tar, ar_of: Ar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deb_archive, "_MAX_MEMBERS", 2)
    assert len(read(ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar_of({"./a": b"", "./b": b""})}))) == 2


def test_too_many_members_are_refused(read: Read, tar_of: Tar, ar_of: Ar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deb_archive, "_MAX_MEMBERS", 2)
    with pytest.raises(Refused, match="NB_DEB: x: more than 2 members"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar_of({"./a": b"", "./b": b"", "./c": b""})}))


@pytest.mark.parametrize(
    ("cut", "message"),
    [(3, "not an ar archive"), (40, "broken ar header"), (-700, "cut off")],
)
def test_a_cut_off_file_is_refused(read: Read, tar_of: Tar, ar_of: Ar, cut: int, message: str) -> None:
    deb = ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar_of({"./a": b"x" * 20_000})})
    with pytest.raises(Refused, match=message):
        read(deb[:cut])


def test_a_deb_without_data_is_refused(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    with pytest.raises(Refused, match="no control or no data"):
        read(ar_of({"control.tar": tar_of(CONTROL)}))


def test_bytes_after_the_xz_stream_are_refused(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    data = lzma.compress(tar_of({"./a": b""})) + lzma.compress(tar_of({"./hidden": b""}))
    with pytest.raises(Refused, match="after the end"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar.xz": data}))


def test_two_data_members_are_refused(read: Read, tar_of: Tar, ar_of: Ar) -> None:
    with pytest.raises(Refused, match="twice"):
        read(ar_of({"control.tar": tar_of(CONTROL), "data.tar": tar_of({}), "data.tar.xz": b""}))


@settings(max_examples=200, deadline=None)
@given(place=st.integers(0, 2000), byte=st.integers(0, 255))
def test_a_changed_byte_never_raises_anything_but_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, place: int, byte: int
) -> None:
    base = tmp_path_factory.getbasetemp() / "changed"
    base.mkdir(exist_ok=True)
    tar = tarfile.TarInfo("./a").tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    control = tarfile.TarInfo("./control").tobuf(tarfile.GNU_FORMAT) + bytes(1024)
    deb = bytearray(b"!<arch>\n")
    for name, data in (("control.tar", control), ("data.tar.xz", lzma.compress(tar))):
        deb += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data
    deb[place % len(deb)] = byte
    (base / "x.deb").write_bytes(deb)
    (base / "data.tar").unlink(missing_ok=True)
    try:
        opened = deb_archive.unpack(base / "x.deb", base / "data.tar", where="x")
        list(deb_archive.members(opened.data, where="x"))
    except Refused:
        pass
