from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import Refused
from nanobench.sources.clean import TreeBounds, clean

Grow = Callable[[str, dict[str, str | bytes]], Path]


def listing(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_nested_repositories_are_dropped_and_named_and_the_top_one_is_not_named(grow: Grow) -> None:
    root = grow(
        "t", {".git/config": "x", "a/.git": "gitdir: ../..", "b/.Git/hooks/x": "", "b/git": "", "b/.gitignore": ""}
    )
    assert clean(root, where="t") == ("a/.git", "b/.Git")
    assert listing(root) == {"a", "b", "b/git", "b/.gitignore"}


def test_fifos_sockets_and_links_that_git_refuses_are_dropped_and_named(grow: Grow) -> None:
    root = grow("t", {"a": "", "sub/.gitmodules": "[x]"})
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(root)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
    (root / ".gitmodules").symlink_to("a")
    (root / ".git").symlink_to("/etc")
    assert clean(root, where="t") == (".gitmodules", "fifo", "socket")
    assert listing(root) == {"a", "sub", "sub/.gitmodules"}


def test_the_agents_folder_is_dropped_at_the_top_only(grow: Grow) -> None:
    root = grow("t", {".nanocoder/tasks.json": "", "pkg/.nanocoder/x": ""})
    assert clean(root, where="t") == (".nanocoder",)
    assert listing(root) == {"pkg", "pkg/.nanocoder", "pkg/.nanocoder/x"}


def test_a_link_is_kept_and_never_followed(grow: Grow, tmp_path: Path) -> None:
    outside = grow("outside", {".git/x": "", "file": "keep"})
    outside.chmod(0o700)
    (outside / "file").chmod(0o600)
    root = grow("t", {})
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "file")
    assert clean(root, where="t", mtime=1) == ()
    assert (outside / ".git" / "x").exists()
    assert stat.S_IMODE((outside / "file").stat().st_mode) == 0o600
    assert (outside / "file").stat().st_mtime != 1
    assert os.lstat(root / "file").st_mtime == 1


def test_modes_and_times_become_the_canonical_ones(grow: Grow) -> None:
    root = grow("t", {"d/plain": "", "d/run": "", "d/closed": ""})
    (root / "d/run").chmod(0o4711)
    (root / "d/closed").chmod(0)
    (root / "d").chmod(0)
    clean(root, where="t", mtime=946_684_800)
    modes = {p.name: oct(stat.S_IMODE(p.stat().st_mode)) for p in root.rglob("*")}
    assert modes == {"d": "0o755", "plain": "0o644", "run": "0o755", "closed": "0o644"}
    assert {p.stat().st_mtime for p in (root, *root.rglob("*"))} == {946_684_800}


def test_a_closed_folder_does_not_save_a_nested_repository(grow: Grow) -> None:
    root = grow("t", {"a/.git/objects/x": ""})
    (root / "a/.git/objects").chmod(0)
    (root / "a/.git").chmod(0)
    assert clean(root, where="t") == ("a/.git",)
    assert listing(root) == {"a"}


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (TreeBounds(entries=2), "more than 2 entries"),
        (TreeBounds(bytes=9), "the tree is over 9 bytes"),
        (TreeBounds(file_bytes=5), "over 5 bytes"),
        (TreeBounds(path=4), "a path over 4 bytes"),
        (TreeBounds(depth=1), "deeper than 1 directories"),
    ],
)
def test_an_absurd_tree_is_refused_with_the_place(grow: Grow, bounds: TreeBounds, reason: str) -> None:
    root = grow("t", {"a/b/c": "123456", "a/d": "12345"})
    with pytest.raises(Refused, match=rf"NB_PATCH_BOUND: agent: a.*: {reason}"):
        clean(root, where="agent", bounds=bounds)


def test_a_huge_sparse_file_is_refused_without_being_read(grow: Grow) -> None:
    root = grow("t", {"sparse": ""})
    os.truncate(root / "sparse", 1 << 40)
    with pytest.raises(Refused, match="NB_PATCH_BOUND: agent: sparse"):
        clean(root, where="agent")


def test_a_tree_deeper_than_a_stack_is_refused(grow: Grow) -> None:
    root = grow("t", {})
    top = os.open(root, os.O_RDONLY)
    try:
        for _ in range(300):
            os.mkdir("d", dir_fd=top)
            inner = os.open("d", os.O_RDONLY, dir_fd=top)
            os.close(top)
            top = inner
    finally:
        os.close(top)
    with pytest.raises(Refused, match="deeper than 128"):
        clean(root, where="agent")


def test_names_that_are_no_text_are_named_too(grow: Grow) -> None:
    root = grow("t", {})
    os.mkfifo(bytes(root) + b"/\xff\n")
    assert clean(root, where="t") == ('"\\377\\n"',)


def test_a_root_that_was_closed_is_opened_again(grow: Grow) -> None:
    root = grow("closed", {"a/b": b"x"})
    root.chmod(0)
    assert clean(root, where="tree") == ()
    assert (root / "a" / "b").read_bytes() == b"x"


def test_of_very_many_dropped_paths_the_first_are_named_and_the_others_counted(grow: Grow) -> None:
    root = grow("many", {"a": b"x"})
    for number in range(1005):
        os.mkfifo(root / f"{number:05}")
    dropped = clean(root, where="tree")
    assert dropped[:2] == ("00000", "00001")
    assert (len(dropped), dropped[-1]) == (1001, "(and 5 more)")
    assert listing(root) == {"a"}
