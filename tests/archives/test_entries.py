from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry, entries_of
from nanobench.errors import Refused


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / "plain").write_bytes(b"12345")
    (root / "tool").write_bytes(b"")
    (root / "tool").chmod(0o700)
    (root / "sub").mkdir(mode=0o700)
    (root / "sub" / "again").hardlink_to(root / "plain")
    (root / "link").symlink_to("../outside")
    for path in root.rglob("*"):
        os.utime(path, (50, 50), follow_symlinks=False)
    return root


def test_a_tree_is_told_the_same_whoever_made_it_and_when(tree: Path) -> None:
    found = {entry.path: entry for entry in entries_of(tree, prefix="workspace", epoch=99)}
    assert {path: (e.kind, e.mode, e.mtime) for path, e in found.items()} == {
        "workspace": ("dir", 0o755, 99),
        "workspace/link": ("symlink", 0o777, 50),
        "workspace/plain": ("file", 0o644, 50),
        "workspace/sub": ("dir", 0o755, 99),
        "workspace/sub/again": ("hardlink", 0o644, 50),
        "workspace/tool": ("file", 0o755, 50),
    }
    assert {(entry.uid, entry.gid) for entry in found.values()} == {(0, 0)}
    assert found["workspace/sub/again"].link == "workspace/plain"
    assert found["workspace/link"].link == "../outside"


def test_the_content_is_opened_when_it_is_wanted(tree: Path) -> None:
    (entry,) = (e for e in entries_of(tree, epoch=99) if e.path == "plain")
    assert entry.size == 5
    assert entry.content is not None
    with entry.content() as stream:
        assert stream.read() == b"12345"


def test_a_file_that_became_a_link_after_it_was_listed_is_not_followed(tree: Path) -> None:
    entries: list[Entry] = list(entries_of(tree, epoch=99))
    (content,) = (e.content for e in entries if e.path == "plain")
    (tree / "plain").unlink()
    (tree / "plain").symlink_to("/etc/passwd")
    assert content is not None
    with pytest.raises(OSError, match="symbolic links"):
        content()


def test_a_pipe_is_refused_by_name(tree: Path) -> None:
    os.mkfifo(tree / "sub" / "pipe")
    with pytest.raises(Refused) as refused:
        list(entries_of(tree, epoch=99))
    assert (refused.value.code, refused.value.where) == ("NB_TREE_SPECIAL", "sub/pipe")


def test_a_name_that_is_not_utf8_keeps_its_bytes(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))).write_bytes(b"")
    (entry,) = entries_of(tmp_path, epoch=99)
    assert entry.path.encode("utf-8", "surrogateescape") == b"\xff\xfe"
    assert stat.S_IMODE(entry.mode) == 0o644
