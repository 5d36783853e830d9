"""Hostile trees: measured without going astray, given away without following a link."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic

import pytest

from nanobench.sandbox.tree import BLOCK, DEEPEST, Walk, give, usage

LARGE = 1 << 40


def measure(top: Path, most: int = LARGE) -> tuple[int, bool]:
    found = usage(top, most=most, until=monotonic() + 60)
    return found.bytes, found.complete


def test_every_entry_counts_at_least_a_block(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "empty").touch()
    (tmp_path / "l").symlink_to("/")
    assert measure(tmp_path) == (3 * BLOCK, True)


def test_a_hard_link_counts_once_and_a_hole_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes([1]) * 10 * BLOCK)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert measure(tmp_path)[0] in range(11 * BLOCK, 13 * BLOCK)


def test_what_is_no_directory_counts_as_itself(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes([1]) * 3 * BLOCK)
    os.mkfifo(tmp_path / "pipe")
    assert measure(tmp_path / "file")[0] >= 3 * BLOCK
    assert measure(tmp_path / "pipe") == (0, True)


def test_the_walk_ends_as_soon_as_it_is_too_much(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert measure(tmp_path, most=9 * BLOCK) == (10 * BLOCK, False)


def test_a_link_to_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "up").symlink_to("..")
    (tmp_path / "root").symlink_to("/")
    assert [name for _, name, _ in sorted(Walk(tmp_path), key=lambda found: found[1])] == ["root", "up"]
    with pytest.raises(OSError, match="up"):
        list(Walk(tmp_path / "up"))


def test_a_tree_deeper_than_any_path_is_incomplete_and_closes_its_descriptors(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(DEEPEST + 1):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    before = len(os.listdir("/proc/self/fd"))
    assert measure(tmp_path)[1] is False
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_abandoned_walk_closes_its_descriptors(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    walk = iter(Walk(tmp_path))
    next(walk)
    del walk
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a tree away")
def test_give_changes_links_themselves_and_nothing_outside(tmp_path: Path) -> None:
    outside, top = tmp_path / "outside", tmp_path / "top"
    (top / "d").mkdir(parents=True)
    (top / "d" / "f").touch()
    outside.mkdir()
    (outside / "f").touch()
    (top / "l").symlink_to(outside)
    give(top, 61000)
    given = {path.lstat().st_uid for path in (top, *top.rglob("*"))}
    assert given == {61000}
    assert {path.stat().st_gid for path in (top, top / "d")} == {61000}
    assert {outside.stat().st_uid, (outside / "f").stat().st_uid} == {0}
    give(top / "l", 61001)
    assert (outside.stat().st_uid, (top / "l").lstat().st_uid) == (0, 61001)
