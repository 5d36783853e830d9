from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nanobench.errors import Refused
from nanobench.sources.clean import clean
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.workspace import EPOCH, Repository, exclude_file, make_repository

Grow = Callable[[str, dict[str, str | bytes]], Path]
FILES: dict[str, str | bytes] = {
    "a.py": "print()\n",
    "crlf.txt": "a\r\nb\r\n",
    "ident.txt": "$Id$\n",
    "bytes.bin": b"\0\xff",
    ".gitignore": "ignored\nsub/\n",
    ".gitattributes": "* text=auto eol=lf ident working-tree-encoding=UTF-16 filter=evil diff=evil\n",
    "ignored": "kept all the same\n",
    "sub/x": "",
    "run.sh": "#!/bin/sh\n",
}


def git(root: Path, *argv: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/nonexistent"}
    command = ["git", "-c", "safe.directory=*", "-C", str(root), *argv]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def snapshot(root: Path) -> dict[str, tuple[int, str]]:
    """Every entry of ``.git``: its mode and content."""
    return {
        str(path.relative_to(root)): (
            stat.S_IMODE(path.stat().st_mode),
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted((root / ".git").rglob("*"))
    }


@contextmanager
def other_person() -> Iterator[None]:
    """Another umask, time zone and locale, and settings that would change what git makes."""
    before, umask = dict(os.environ), os.umask(0o077)
    os.environ |= {"TZ": "Pacific/Kiritimati", "LANG": "C", "GIT_AUTHOR_NAME": "Eve", "GIT_DIR": "/nowhere"}
    try:
        yield
    finally:
        os.umask(umask)
        os.environ.clear()
        os.environ.update(before)


def grown(grow: Grow, name: str) -> Path:
    root = grow(name, FILES)
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a.py")
    clean(root, where=name, mtime=EPOCH)
    return root


def test_the_commit_is_the_bytes_of_the_tree(gitbox: Gitbox, grow: Grow) -> None:
    root = grown(grow, "base")
    made = make_repository(gitbox, root)
    entries = git(root, "ls-tree", "-r", made.tree).splitlines()
    names = {line.split("\t")[1]: line.split()[:3] for line in entries}
    assert names.keys() == {*FILES, "link"}
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        assert names[name][2] == hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    assert (names["run.sh"][0], names["link"][0], names["a.py"][0]) == ("100755", "120000", "100644")


def test_the_ids_are_these_whoever_makes_it(gitbox: Gitbox, grow: Grow) -> None:
    root = grow("base", {"a": "b\n"})
    made = make_repository(gitbox, root)
    assert made == Repository(
        commit="21755a550603a77384abbd34f29b3746d3894555", tree="eebfed94e75e7760540d1485c740902590a00332"
    )
    fields = git(root, "cat-file", "commit", made.commit)
    who = "NanoBench <nanobench@localhost> 946684800 +0000"
    assert fields == f"tree {made.tree}\nauthor {who}\ncommitter {who}\n\nBase\n"


def test_there_is_one_commit_and_nothing_else(gitbox: Gitbox, grow: Grow) -> None:
    root = grown(grow, "base")
    made = make_repository(gitbox, root)
    assert git(root, "log", "--all", "--reflog", "--format=%H %D").strip() == f"{made.commit} HEAD -> main"
    reachable = {line.split()[0] for line in git(root, "rev-list", "--objects", "--all").splitlines()}
    every = set(git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())
    assert every == reachable
    assert git(root, "status", "--porcelain", "--ignored") == ""
    assert git(root, "fsck", "--strict") == ""
    assert not list((root / ".git").rglob("logs")) and not list((root / ".git").rglob("hooks"))


def test_all_objects_lie_in_one_pack(gitbox: Gitbox, grow: Grow) -> None:
    root = grown(grow, "base")
    make_repository(gitbox, root)
    files = sorted(path.suffix for path in (root / ".git/objects").rglob("*") if path.is_file())
    assert files == [".idx", ".pack"]


def test_the_repository_is_the_same_bytes_for_everyone(gitbox: Gitbox, grow: Grow) -> None:
    one, two = grown(grow, "one"), grown(grow, "two")
    made = make_repository(gitbox, one)
    with other_person():
        again = make_repository(gitbox, two)
    assert made == again
    assert snapshot(one) == snapshot(two)
    index = (one / ".git" / "index").read_bytes()
    assert index[12 : 12 + 40] == bytes(24) + index[36:40] + bytes(12), "no time, device, inode, owner or size"


def test_build_products_are_ignored_and_not_committed(gitbox: Gitbox, grow: Grow) -> None:
    root = grow("base", {"a.py": "", "pkg.egg-info/PKG-INFO": "x", "odd[1] *#/x": "y", "oddi/x": "kept"})
    make_repository(gitbox, root, products=("pkg.egg-info/", "odd[1] *#"))
    assert git(root, "ls-files").splitlines() == ["a.py", "oddi/x"]
    (root / ".nanocoder").mkdir()
    (root / ".nanocoder" / "x").touch()
    assert git(root, "status", "--porcelain") == ""


def test_a_tree_with_a_repository_is_refused(gitbox: Gitbox, grow: Grow) -> None:
    with pytest.raises(Refused, match=r"NB_GIT: .*has a \.git already"):
        make_repository(gitbox, grow("base", {"a": "", ".git": "gitdir: elsewhere"}))


def test_exclude_lines_mean_exactly_one_path() -> None:
    assert exclude_file(("a*b", "!x", "#y", "sp ")) == b"/.nanocoder/\n/\\!x\n/\\#y\n/a\\*b\n/sp\\ \n"
