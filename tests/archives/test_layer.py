from __future__ import annotations

import hashlib
import io
import random
import shutil
import subprocess
import tarfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanobench.archives.entries import Entry, entries_of
from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.archives.unpack import unpack_layer
from nanobench.errors import Refused

Pack = Callable[[Iterable[Entry]], tuple[bytes, LayerFacts]]
AFile = Callable[..., Entry]


def _read(data: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape") as archive:
        return {member.name: member for member in archive.getmembers()}


def test_the_bytes_of_a_layer_are_these_for_ever(packed: Pack, a_file: AFile) -> None:
    entries = [
        a_file("usr/bin/tool", b"#!/bin/sh\n", mode=0o4755),
        a_file("n" * 120 + "/é\udcff", b"", mtime=2**40),
        Entry(path="usr/bin/also", kind="hardlink", mode=0, mtime=0, link="usr/bin/tool"),
        Entry(path="bin", kind="symlink", mode=0o777, mtime=5, link="usr/bin"),
        Entry(path="tmp", kind="dir", mode=0o1777, mtime=-5, uid=1000, gid=2**22),
    ]
    data, facts = packed(entries)
    assert facts.diff_id == "sha256:236177393b55edd9ed032955402bcd0f546281fad32760941c5a7df9dd706ef1"
    assert facts.size == len(data)
    assert len(_read(data)) == 8
    assert hashlib.sha256(data).hexdigest() == facts.diff_id.removeprefix("sha256:")


def test_any_order_of_the_same_entries_gives_the_same_bytes(
    packed: Pack, trees: st.SearchStrategy[list[Entry]]
) -> None:
    @settings(deadline=None)
    @given(trees, st.randoms(use_true_random=False))
    def check(entries: list[Entry], chance: random.Random) -> None:
        shuffled = list(entries)
        chance.shuffle(shuffled)
        assert packed(shuffled) == packed(entries)

    check()


def test_a_layer_survives_being_unpacked_and_packed_again(
    tmp_path: Path, packed: Pack, epoch: int, trees: st.SearchStrategy[list[Entry]]
) -> None:
    @settings(deadline=None)
    @given(trees)
    def check(entries: list[Entry]) -> None:
        # What a tree cannot say: the times of its directories are not kept by entries_of.
        timed = [Entry(path=e.path, kind="dir", mode=0o755, mtime=epoch) if e.kind == "dir" else e for e in entries]
        data, facts = packed(timed)
        layer, dest = tmp_path / "layer", tmp_path / "tree"
        layer.write_bytes(data)
        dest.mkdir()
        unpack_layer(layer, dest)
        again = packed(entries_of(dest, epoch=epoch))
        shutil.rmtree(dest)
        assert again == (data, facts)

    check()


def test_other_readers_see_what_was_written(packed: Pack, trees: st.SearchStrategy[list[Entry]]) -> None:
    @settings(deadline=None)
    @given(trees)
    def check(entries: list[Entry]) -> None:
        data, _ = packed(entries)
        members = _read(data)
        for entry in entries:
            member = members[entry.path]
            assert member.uname == member.gname == ""
            if entry.kind == "symlink":
                assert member.issym()
                assert member.linkname == entry.link

    check()


def test_gnu_tar_finds_no_difference_to_the_unpacked_tree(
    tmp_path: Path, packed: Pack, a_file: AFile, layer_file: Callable[..., Path]
) -> None:
    layer = layer_file(
        a_file("a/" + "x" * 99, b"1" * 5000),
        a_file("a/" + "y" * 240, b"2", mode=0o755),
        Entry(path="l", kind="symlink", mode=0o777, mtime=7, link="z" * 300),
        Entry(path="h", kind="hardlink", mode=0, mtime=0, link="a/" + "x" * 99),
    )
    dest = tmp_path / "tree"
    dest.mkdir()
    unpack_layer(layer, dest)
    command = ["tar", "--compare", "--file", str(layer), "--directory", str(dest)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    differences = [line for line in said.stdout.splitlines() if "id differs" not in line]
    assert (differences, said.stderr) == ([], "")


def test_the_lowest_path_of_hard_links_carries_the_content(packed: Pack, a_file: AFile) -> None:
    entries = [
        Entry(path="a", kind="hardlink", mode=0o777, mtime=1, link="b"),
        Entry(path="b", kind="hardlink", mode=0o777, mtime=2, link="z"),
        a_file("z", b"content", mode=0o755, mtime=3, uid=4),
    ]
    members = _read(packed(entries)[0])
    assert members["a"].isreg()
    assert [members[name].linkname for name in ("b", "z")] == ["a", "a"]
    assert {(m.mode, m.mtime, m.uid) for m in members.values()} == {(0o755, 3, 4)}


def test_a_directory_stands_before_its_content_and_missing_parents_are_added(packed: Pack, a_file: AFile) -> None:
    names = list(_read(packed([a_file("a/b/c"), a_file("a-b"), a_file("a/b.txt")])[0]))
    assert names == ["a", "a-b", "a/b", "a/b.txt", "a/b/c"]


def test_times_are_cut_to_the_epoch_and_never_raised(packed: Pack, a_file: AFile, epoch: int) -> None:
    entries = [a_file("future", mtime=2**40), a_file("past", mtime=5), a_file("before", mtime=-(2**40))]
    times = {name: member.mtime for name, member in _read(packed(entries)[0]).items()}
    assert times == {"future": epoch, "past": 5, "before": 0}


def test_a_file_over_eight_gib_has_a_size_that_others_can_read() -> None:
    class Zeros(io.RawIOBase):
        def __init__(self, left: int) -> None:
            self.left = left

        def read(self, size: int = -1) -> bytes:
            taken = min(size, self.left)
            self.left -= taken
            return zeros if taken == size else bytes(taken)

    class Head:
        data = b""

        def write(self, data: bytes, /) -> int:
            self.data = self.data or data
            raise StopIteration

    zeros, size, head = bytes(1 << 20), 9 << 30, Head()
    entry = Entry(path="big", kind="file", mode=0o644, mtime=0, size=size, content=lambda: Zeros(size))  # type: ignore[arg-type, return-value]
    with pytest.raises(StopIteration):
        write_layer([entry], head, epoch=0)
    assert tarfile.TarInfo.frombuf(head.data[:512], "utf-8", "strict").size == size


def test_the_content_is_streamed(a_file: AFile) -> None:
    class Null:
        def write(self, data: bytes, /) -> int:
            return len(data)

    data = bytes(64 << 20)
    tracemalloc.start()
    write_layer([a_file("big", data)], Null(), epoch=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../x", "a//x", "./x", "", "a/", "x\0y", "a\nb", "n" * 256]
)
def test_a_path_that_is_not_below_the_root_is_refused(path: str, packed: Pack, a_file: AFile) -> None:
    with pytest.raises(Refused) as refused:
        packed([a_file(path)])
    assert refused.value.code == "NB_LAYER_PATH"


def test_two_entries_of_one_path_are_refused(packed: Pack, a_file: AFile) -> None:
    with pytest.raises(Refused, match="same path") as refused:
        packed([a_file("a/b"), a_file("a/b")])
    assert (refused.value.code, refused.value.where) == ("NB_LAYER_TWICE", "a/b")


def test_an_entry_below_a_file_is_refused(packed: Pack, a_file: AFile) -> None:
    with pytest.raises(Refused, match="below a file") as refused:
        packed([a_file("a/b/c"), a_file("a")])
    assert refused.value.code == "NB_LAYER_PARENT"


@pytest.mark.parametrize("targets", [{"a": "b", "b": "a"}, {"a": "missing"}, {"a": "folder"}])
def test_a_hard_link_that_leads_to_no_file_is_refused(targets: dict[str, str], packed: Pack) -> None:
    links = [Entry(path=path, kind="hardlink", mode=0, mtime=0, link=link) for path, link in targets.items()]
    with pytest.raises(Refused) as refused:
        packed([*links, Entry(path="folder", kind="dir", mode=0o755, mtime=0)])
    assert refused.value.code == "NB_LAYER_LINK"


@pytest.mark.parametrize(("claimed", "found"), [(3, "more"), (5, "only 4")])
def test_a_file_that_changed_while_it_was_packed_is_refused(claimed: int, found: str, packed: Pack) -> None:
    entry = Entry(path="f", kind="file", mode=0o644, mtime=0, size=claimed, content=lambda: io.BytesIO(b"data"))
    with pytest.raises(Refused, match=found) as refused:
        packed([entry])
    assert refused.value.code == "NB_LAYER_CHANGED"
