"""One file below a folder that anybody may have made."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.store.plain_file import read_below


def link_to_file(root: Path) -> None:
    (root / "elsewhere").write_bytes(b"secret")
    (root / "folder/file").symlink_to(root / "elsewhere")


def link_to_folder(root: Path) -> None:
    (root / "folder").rename(root / "other")
    (root / "other/file").write_bytes(b"x")
    (root / "folder").symlink_to("other")


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda root: None, "No such file"),
    "link": (link_to_file, "a symbolic link"),
    "link-on-the-way": (link_to_folder, "Not a directory"),
    "folder": (lambda root: (root / "folder/file").mkdir(), "not a regular file"),
    "pipe": (lambda root: os.mkfifo(root / "folder/file"), "not a regular file"),
    "too-large": (lambda root: (root / "folder/file").write_bytes(b"123456"), "at most 5 bytes"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_plain_file_is_not_read_and_says_why(name: str, tmp_path: Path) -> None:
    make, why = ODD[name]
    (tmp_path / "folder").mkdir()
    make(tmp_path)
    with pytest.raises(OSError, match=why):
        read_below(tmp_path, "folder/file", limit=5)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../file", "folder/../file", "./file", "a\0b", "\udc80"])
def test_no_path_leads_out(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(OSError, match="leads out of the folder, or is no path"):
        read_below(tmp_path, path, limit=5)


def test_a_plain_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_bytes(b"12345")
    assert read_below(tmp_path, "folder/file", limit=5) == b"12345"
