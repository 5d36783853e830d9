"""A source that attacks whoever locks it: what is in its archive, or in its commit, and what comes of it."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from nanobench.archives.layer import write_layer
from nanobench.archives.reader import extract
from nanobench.errors import Refused
from nanobench.sources.clean import clean
from nanobench.sources.git_run import Git
from nanobench.sources.git_tree import entries_from, leaves_of

Members = list[tuple[str, bytes, str]]
FILE, LINK, HARD, DEVICE, FIFO = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE


def archive(members: Members, place: Path) -> Path:
    with tarfile.open(place, "w") as out:
        for name, kind, text in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, text if kind != FILE else ""
            member.size = len(text) if kind == FILE else 0
            out.addfile(member, io.BytesIO(text.encode()))
    return place


ARCHIVES: list[tuple[str, Members, str]] = [
    ("a path that leaves", [("p/../../x", FILE, "")], "NB_ARCHIVE_PATH"),
    ("an absolute path", [("/etc/x", FILE, "")], "NB_ARCHIVE_PATH"),
    ("a link and a file through it", [("p/l", LINK, "/etc"), ("p/l/x", FILE, "")], "NB_ARCHIVE_LINK"),
    ("a hard link out", [("p/l", HARD, "/etc/passwd")], "NB_ARCHIVE_LINK"),
    ("a device", [("p/d", DEVICE, "")], "NB_ARCHIVE_KIND"),
    ("a pipe", [("p/f", FIFO, "")], "NB_ARCHIVE_KIND"),
    ("one path twice", [("p/x", FILE, "1"), ("p/x", FILE, "2")], "NB_ARCHIVE_TWICE"),
    ("a file below a file", [("p/x", FILE, "1"), ("p/x/y", FILE, "2")], "NB_ARCHIVE_CLASH"),
    ("two top folders", [("p/x", FILE, "1"), ("q/x", FILE, "2")], "NB_ARCHIVE_TOP"),
    ("a name with a line end", [("p/a\nb", FILE, "")], "NB_ARCHIVE_PATH"),
    ("a name with an escape", [("p/\x1b[2J", FILE, "")], "NB_ARCHIVE_PATH"),
    ("a name of 256 bytes", [("p/" + "n" * 256, FILE, "")], "NB_ARCHIVE_PATH"),
    ("2000 folders in each other", [("p/" + "d/" * 2000 + "x", FILE, "")], "NB_ARCHIVE_PATH"),
]


@pytest.mark.parametrize(("members", "code"), [row[1:] for row in ARCHIVES], ids=[row[0] for row in ARCHIVES])
def test_a_hostile_archive_is_refused_and_nothing_leaves_its_folder(
    tmp_path: Path, members: Members, code: str
) -> None:
    with pytest.raises(Refused) as refusal:
        extract(archive(members, tmp_path / "a.tar"), tmp_path / "out/in", where="a.tar", strip=1)
    assert refusal.value.code == code
    assert sorted(os.listdir(tmp_path)) == ["a.tar", "out"] and os.listdir(tmp_path / "out") == ["in"]


def test_an_archive_brings_no_repository_and_no_notes_to_the_agent(tmp_path: Path) -> None:
    names = ("p/.git/config", "p/a/.GIT/hooks/pre-commit", "p/.nanocoder/x", "p/twin", "p/TWIN", "p/-rf", "p/x.py")
    extract(archive([(name, FILE, "x") for name in names], tmp_path / "a.tar"), tmp_path / "p", where="a", strip=1)
    assert clean(tmp_path / "p", where="a", mtime=0) == (".nanocoder", "a/.GIT")
    assert sorted(p.name for p in (tmp_path / "p").rglob("*")) == ["-rf", "TWIN", "a", "twin", "x.py"]


def made(place: Path, tree: str) -> tuple[Git, str]:
    """A repository whose tree git itself would not make (as ``mktree`` takes it); and the tree's id."""
    git = Git(place)
    command = ["git", "-C", str(place), "hash-object", "-w", "--stdin"]
    blob = subprocess.run(command, input=b"x", capture_output=True, check=True).stdout.decode().strip()
    raw = b""
    for line in tree.split("|"):
        mode, _, name = line.partition(" ")
        raw += f"{mode} {name}".encode("utf-8", "surrogateescape") + b"\0" + bytes.fromhex(blob)
    words = ["git", "-C", str(place), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    return git, subprocess.run(words, input=raw, capture_output=True, check=True).stdout.decode().strip()


TREES: list[tuple[str, str, str]] = [
    ("a .git", "100644 .git", "a .git is in the tree"),
    ("a .git in capitals", "100644 .GIT", "a .git is in the tree"),
    ("two dots", "100644 ..", "'..' is in the tree"),
    ("a slash in a name", "100644 a/../../x", "'..' is in the tree"),
    ("a line end in a name", "100644 a\nb", "a control character is in the tree"),
    ("one name twice", "100644 a|100644 a", "two entries have the same path"),
]


@pytest.mark.parametrize(("tree", "reason"), [row[1:] for row in TREES], ids=[row[0] for row in TREES])
def test_a_hostile_tree_of_git_is_refused(tmp_path: Path, tree: str, reason: str) -> None:
    git, name = made(tmp_path / "r", tree)
    with pytest.raises(Refused, match=reason):
        leaves = leaves_of(git, name, where="base")
        with entries_from(git, leaves, epoch=0, where="base") as entries:
            write_layer(entries, io.BytesIO(), epoch=0)
