from __future__ import annotations

import contextlib
import gzip
import io
import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.archives.bounds import Bounds
from nanobench.archives.reader import Member, extract
from nanobench.errors import NanobenchError, Refused

Named = tuple[str, bytes]
Extract = Callable[..., tuple[Member, ...]]


def _info(name: str, **fields: Any) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def _tar(members: Iterable[tarfile.TarInfo | Named], *, form: int = tarfile.GNU_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member, io.BytesIO(bytes(member.size)))
            else:
                archive.addfile(_info(member[0], size=len(member[1]), mtime=77), io.BytesIO(member[1]))
    return out.getvalue()


def _gzip(data: bytes, level: int = 9) -> bytes:
    return gzip.compress(data, level, mtime=0)  # no clock: these bytes name the tests


def _zip(members: Iterable[zipfile.ZipInfo | Named], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for member in members:
            if isinstance(member, zipfile.ZipInfo):
                archive.writestr(member, b"x")
            else:
                archive.writestr(zipfile.ZipInfo(member[0]), member[1], method)
    return out.getvalue()


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "inside" / "dest"


@pytest.fixture
def unpacked(tmp_path: Path, dest: Path) -> Extract:
    """Extract these bytes, and fail if anything but ``dest`` changed."""

    def run(data: bytes, **options: Any) -> tuple[Member, ...]:
        shutil.rmtree(tmp_path / "inside", ignore_errors=True)
        dest.parent.mkdir()
        archive = tmp_path / "archive"
        archive.write_bytes(data)
        try:
            return extract(archive, dest, where="pkg", **options)
        finally:
            assert sorted(os.listdir(tmp_path)) == ["archive", "inside"]
            assert os.listdir(dest.parent) == ["dest"]
            assert not any(path.is_symlink() for path in dest.rglob("*"))

    return run


@pytest.fixture
def refusal(unpacked: Extract) -> Callable[..., tuple[str, str]]:
    """Code and place of the refusal of these bytes."""

    def run(data: bytes, **options: Any) -> tuple[str, str]:
        with pytest.raises(Refused) as refused:
            unpacked(data, **options)
        return refused.value.code, refused.value.where

    return run


@pytest.mark.parametrize(
    "data",
    [
        _tar([("p/a", b"1"), ("p/d/b", b"22")]),
        _gzip(_tar([("p/a", b"1"), ("p/d/b", b"22")], form=tarfile.PAX_FORMAT)),
        _gzip(_tar([_info("./p", type=tarfile.DIRTYPE), ("./p/a", b"1"), ("./p/d/b", b"22")])),
        _zip([("p/a", b"1"), ("p/d/b", b"22")]),
    ],
    ids=["tar", "pax.tar.gz", "dotted.tar.gz", "zip"],
)
def test_an_archive_is_told_by_its_content_and_unpacked(data: bytes, unpacked: Extract, dest: Path) -> None:
    members = unpacked(data, strip=1)
    assert [(m.path, m.size, m.mode) for m in members if m.kind == "file"] == [("a", 1, 0o644), ("d/b", 2, 0o644)]
    assert (dest / "a").read_bytes() + (dest / "d" / "b").read_bytes() == b"122"


def test_modes_and_times_do_not_depend_on_umask_or_clock(unpacked: Extract, dest: Path) -> None:
    before = os.umask(0o077)
    try:
        unpacked(
            _tar([_info("d", type=tarfile.DIRTYPE, mode=0o000), _info("d/x", mode=0o4711, mtime=5), ("d/y", b"")])
        )
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in dest.rglob("*")}
    assert modes == {"d": 0o755, "x": 0o755, "y": 0o644}
    assert ((dest / "d" / "x").stat().st_mtime, (dest / "d" / "y").stat().st_mtime) == (5, 77)


def test_long_and_foreign_names_of_every_dialect_are_understood(unpacked: Extract, dest: Path) -> None:
    name = "d" * 90 + "/" + "ü" * 60
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        (member,) = unpacked(_tar([_info(name)], form=form))
        assert member.path == name
        assert (dest / name).is_file()
    (member,) = unpacked(_tar([_info("d" * 90 + "/" + "u" * 60)], form=tarfile.USTAR_FORMAT))
    assert member.path == "d" * 90 + "/" + "u" * 60


@pytest.mark.parametrize(
    "name", ["/abs", "../up", "a/../../up", "a/./b", "a//b", "tab\there", "n" * 256, "d/" * 101 + "x"]
)
@pytest.mark.parametrize("make", [_tar, _zip], ids=["tar", "zip"])
def test_a_path_out_of_the_archive_is_refused_by_name(
    name: str, make: Callable[[list[Named]], bytes], refusal: Callable[..., tuple[str, str]]
) -> None:
    code, where = refusal(make([("good", b""), (name, b"evil")]))
    assert code == "NB_ARCHIVE_PATH"
    assert where.startswith("pkg: " + name.replace("\t", "\\t")[:50])


@pytest.mark.parametrize(
    ("member", "code"),
    [
        (_info("m", type=tarfile.SYMTYPE, linkname="/etc/passwd"), "NB_ARCHIVE_LINK"),
        (_info("m", type=tarfile.SYMTYPE, linkname="good"), "NB_ARCHIVE_LINK"),
        (_info("m", type=tarfile.LNKTYPE, linkname="good"), "NB_ARCHIVE_LINK"),
        (_info("m", type=tarfile.CHRTYPE), "NB_ARCHIVE_KIND"),
        (_info("m", type=tarfile.BLKTYPE), "NB_ARCHIVE_KIND"),
        (_info("m", type=tarfile.FIFOTYPE), "NB_ARCHIVE_KIND"),
        (_info("m", type=tarfile.GNUTYPE_SPARSE), "NB_ARCHIVE_KIND"),
        (_info("m", type=b"V"), "NB_ARCHIVE_KIND"),
        (_info("good/m"), "NB_ARCHIVE_CLASH"),
        (_info("good", type=tarfile.DIRTYPE), "NB_ARCHIVE_CLASH"),
        (_info("good"), "NB_ARCHIVE_TWICE"),
    ],
)
def test_a_member_that_is_no_plain_new_file_is_refused_by_name(
    member: tarfile.TarInfo, code: str, refusal: Callable[..., tuple[str, str]]
) -> None:
    assert refusal(_gzip(_tar([("good", b""), member]))) == (code, f"pkg: {member.name}")


def test_a_file_in_the_place_of_a_directory_is_refused(refusal: Callable[..., tuple[str, str]]) -> None:
    assert refusal(_tar([("a/b", b""), ("a", b"")])) == ("NB_ARCHIVE_CLASH", "pkg: a")


def test_a_file_that_was_there_before_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(_tar([("f", b"new")]))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").symlink_to(tmp_path / "victim")
    with pytest.raises(Refused, match="exists") as refused:
        extract(tmp_path / "a", tmp_path / "d", where="pkg")
    assert refused.value.code == "NB_ARCHIVE_CLASH"
    assert not (tmp_path / "victim").exists()


def test_a_link_that_was_there_before_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(_tar([("sub/f", b"new")]))
    (tmp_path / "d").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "d" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        extract(tmp_path / "a", tmp_path / "d", where="pkg")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_two_directory_members_of_one_path_are_no_harm(unpacked: Extract) -> None:
    folder = _info("d", type=tarfile.DIRTYPE)
    assert len(unpacked(_tar([folder, folder, ("d/x", b"")]))) == 3


@pytest.mark.parametrize("second", ["other/x", "x"])
def test_with_strip_all_members_lie_below_one_directory(second: str, refusal: Callable[..., tuple[str, str]]) -> None:
    assert refusal(_tar([("top/x", b""), (second, b"")]), strip=1) == ("NB_ARCHIVE_TOP", f"pkg: {second}")


@pytest.mark.parametrize(
    ("bounds", "where"),
    [
        (Bounds(members=2), "pkg: c"),
        (Bounds(member=99), "pkg: a"),
        (Bounds(total=250), "pkg"),
        (Bounds(ratio=1, free=10), "pkg"),
    ],
)
@pytest.mark.parametrize("make", [lambda m: _gzip(_tar(m)), _zip], ids=["tar.gz", "zip"])
def test_a_bomb_is_refused_before_it_goes_off(
    bounds: Bounds, where: str, make: Callable[[list[Named]], bytes], refusal: Callable[..., tuple[str, str]]
) -> None:
    assert refusal(make([(name, bytes(1000)) for name in "abc"]), bounds=bounds) == ("NB_ARCHIVE_BOMB", where)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_early(refusal: Callable[..., tuple[str, str]]) -> None:
    head = _info("zeros", size=900 << 20).tobuf(tarfile.GNU_FORMAT)
    packed = _gzip(head + bytes(64 << 20))
    assert refusal(packed, bounds=Bounds(ratio=100))[0] == "NB_ARCHIVE_BOMB"


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (tarfile.GNUTYPE_LONGNAME, bytes(2 << 20)),
        (tarfile.XHDTYPE, b"30 GNU.sparse.major=1"),
        (tarfile.XHDTYPE, b"12 size=-1\n\n"),
        (tarfile.XHDTYPE, b"99 path=x\n"),
        (tarfile.XHDTYPE, b"no record"),
        (tarfile.XHDTYPE, b"22 GNU.sparse.major=1\n"),
        (tarfile.XHDTYPE, b"15 mtime=never\n"),
        (tarfile.XGLTYPE, b"10 path=x\n"),
    ],
)
def test_a_strange_extended_header_is_refused(
    kind: bytes, content: bytes, refusal: Callable[..., tuple[str, str]]
) -> None:
    head = _info("x", type=kind, size=len(content)).tobuf(tarfile.GNU_FORMAT)
    data = head + content + bytes(-len(content) % 512) + _tar([("f", b"")])
    assert refusal(data)[0] == "NB_ARCHIVE_BROKEN"


def _negative_size() -> bytes:
    block = bytearray(_info("x").tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\xff" * 11 + b"\x00"
    block[148:156] = b"%06o\0 " % (sum(block) - sum(block[148:156]) + 256)
    return bytes(block)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"\x1f\x8b",
        b"\x1f\x8b" + b"\0" * 100,
        b"BZh9" + b"x" * 600,
        _tar([("f", b"x" * 600)])[:1000],
        _tar([("f", b"")])[:512],
        _tar([("f", b"")]) + b"more",
        b"\xff" + _tar([("f", b"")])[1:],
        _gzip(_tar([("f", b"x" * 600)]))[:-9],
        _gzip(_tar([("f", b"x" * 600)]))[:-8] + bytes(8),
        _negative_size() + bytes(2048),
        _zip([("f", b"x" * 600)])[:-10],
        _zip([("f", b"x" * 600)]) + b"more",
        _zip([("f", b"x" * 600)]).replace(b"PK\1\2", b"PK\1\3"),
        _zip([("f", b"1234567")], zipfile.ZIP_STORED).replace(b"1234567", b"1234568"),
        _zip([("f", b"x")], zipfile.ZIP_BZIP2),
        _zip([("f?g", b"x")]).replace(b"f?g", b"f\0g"),
    ],
)
def test_what_is_not_a_whole_plain_archive_is_refused(data: bytes, refusal: Callable[..., tuple[str, str]]) -> None:
    code, where = refusal(data)
    assert code in ("NB_ARCHIVE_BROKEN", "NB_ARCHIVE_METHOD", "NB_ARCHIVE_PATH")
    assert where.startswith("pkg")


def test_a_link_in_a_zip_is_refused(refusal: Callable[..., tuple[str, str]]) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert refusal(_zip([link])) == ("NB_ARCHIVE_LINK", "pkg: link")


def test_a_pipe_in_a_zip_is_refused(refusal: Callable[..., tuple[str, str]]) -> None:
    pipe = zipfile.ZipInfo("pipe")
    pipe.external_attr = (stat.S_IFIFO | 0o777) << 16
    assert refusal(_zip([pipe])) == ("NB_ARCHIVE_KIND", "pkg: pipe")


def test_a_hidden_zip64_directory_is_refused(refusal: Callable[..., tuple[str, str]]) -> None:
    data = _zip([("f", b"x")])
    end = data.rindex(b"PK\5\6")
    assert refusal(data[:end] + b"PK\6\7" + bytes(16) + data[end:])[0] == "NB_ARCHIVE_METHOD"


def test_a_zip_whose_directory_would_fill_the_memory_is_refused_before_it_is_read(
    refusal: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bytearray(_zip([("f", b"x")]))
    end = data.rindex(b"PK\5\6")
    data[end + 12 : end + 16] = (16 << 20).to_bytes(4, "little")
    assert refusal(bytes(data))[0] == "NB_ARCHIVE_BROKEN"
    data[end + 12 : end + 16] = ((16 << 20) + 1).to_bytes(4, "little")
    monkeypatch.setattr(zipfile, "ZipFile", lambda *_: pytest.fail("it was read"))
    assert refusal(bytes(data))[0] == "NB_ARCHIVE_METHOD"


def test_the_x_bit_of_a_wheel_survives(unpacked: Extract) -> None:
    tool = zipfile.ZipInfo("bin/tool")
    tool.external_attr = (stat.S_IFREG | 0o775) << 16
    assert [m.mode for m in unpacked(_zip([tool]))] == [0o755]


_SEEDS = [
    _tar([("p/a", b"1" * 700), _info("p/d", type=tarfile.DIRTYPE), ("p/" + "n" * 150, b"2")]),
    _tar([("p/a", b"1" * 700), ("p/" + "é" * 150, b"2")], form=tarfile.PAX_FORMAT),
    _tar([("p/a", b"x"), _info("p/l", type=tarfile.SYMTYPE, linkname="../.."), ("p/l/evil", b"x")]),
    _zip([("p/a", b"1" * 700), ("p/d/b", b"2" * 9)]),
    _zip([("p/a", b"1" * 700), ("p/d/b", b"2" * 9)], zipfile.ZIP_STORED),
]


def _mutated(seed: bytes, edits: list[tuple[int, bytes]]) -> bytes:
    data = bytearray(seed)
    for at, new in edits:
        place = at % len(data)
        data[place : place + len(new)] = new
    return bytes(data)


def _with_sums(data: bytes) -> bytes:
    """Every block that looks like a tar header gets a right checksum, so that the mutation comes further."""
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    for number, block in enumerate(blocks):
        if block[257:262] == b"ustar":
            total = sum(block) - sum(block[148:156]) + 256
            blocks[number] = block[:148] + b"%06o\0 " % total + block[156:]
    return b"".join(blocks)


def test_no_archive_escapes_or_breaks_the_program(unpacked: Extract) -> None:
    nasty = st.sampled_from(
        [b"../", b"/", b"\0", b"\xff" * 8, b"\x80" + b"\xff" * 11, b"77777777777", b"2", b"K", b"x", b"PK"]
    )
    edit = st.tuples(st.integers(0, 10**6) | st.integers(0, 600), st.binary(min_size=1, max_size=12) | nasty)

    @settings(deadline=None, max_examples=400)
    @given(st.sampled_from(_SEEDS), st.lists(edit, min_size=1, max_size=6), st.integers(0, 2), st.booleans())
    def check(seed: bytes, edits: list[tuple[int, bytes]], strip: int, zipped: bool) -> None:
        data = _mutated(seed, edits)
        data = data if seed.startswith(b"PK") else _with_sums(data)
        data = _gzip(data, 0) if zipped and not seed.startswith(b"PK") else data
        with contextlib.suppress(NanobenchError):
            unpacked(data, strip=strip, bounds=Bounds(total=1 << 20))

    check()


def test_no_gzip_stream_breaks_the_program(unpacked: Extract) -> None:
    seed = _gzip(_SEEDS[0])

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.integers(0, len(seed)), st.binary(min_size=1, max_size=4)), min_size=1, max_size=4))
    def check(edits: list[tuple[int, bytes]]) -> None:
        with contextlib.suppress(NanobenchError):
            unpacked(_mutated(seed, edits), bounds=Bounds(total=1 << 20))

    check()
