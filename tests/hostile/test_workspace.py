"""A workspace that an agent, or a task's own repository, filled with traps: what its patch holds.

Every patch is applied to a fresh workspace again, as grading and ``verify`` do, and gives the same tree.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import Refused
from nanobench.grading.apply import apply
from nanobench.model.task import PathRules
from nanobench.sources.difference import take_patch
from nanobench.sources.gitbox import Gitbox

Deed = Callable[[Path], object]
NAMES = (b"a\nb", b"\x1b[2J", b"-rf", b"--help", b":(top)x", b"n" * 255, b"\xff\xfe", b" ", b'"q"', b"\\", b"*", b"~")
TWINS = ("Twin", "twin", "TWIN", "e\u0301", "\u00e9", "\u212b", "\u00c5")


def put(path: str, data: str = "x\n") -> Deed:
    def do(tree: Path) -> None:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(data)

    return do


def all_of(*deeds: Deed) -> Deed:
    return lambda tree: [deed(tree) for deed in deeds]


def odd_names(tree: Path) -> None:
    for name in NAMES:
        with open(os.path.join(os.fsencode(tree), name), "wb") as file:
            file.write(name)


def nested(depth: int) -> Deed:
    def do(tree: Path) -> None:
        at = os.open(tree, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir("d", dir_fd=at)
            below = os.open("d", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = below
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        os.close(at)

    return do


def sparse(size: int) -> Deed:
    def do(tree: Path) -> None:
        with (tree / "huge").open("wb") as file:
            file.truncate(size)

    return do


def own_repository(tree: Path) -> None:
    """Everything in ``.git`` that could run a command or lead elsewhere."""
    trap = "touch /workspace/trapped /tmp/trapped; exit 1"
    (tree / ".git/config").write_text(
        f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\thooksPath = /workspace/hooks\n\tworktree = /\n"
        f'[filter "x"]\n\tclean = {trap}\n\tsmudge = {trap}\n[diff]\n\texternal = {trap}\n'
        "[include]\n\tpath = /etc/passwd\n"
    )
    put(".gitattributes", "* filter=x diff=x text eol=crlf ident working-tree-encoding=UTF-16\n")(tree)
    for hook in ("pre-commit", "post-checkout", "post-index-change", "reference-transaction"):
        put(f"hooks/{hook}", f"#!/bin/sh\n{trap}\n")(tree)
        (tree / "hooks" / hook).chmod(0o755)
    put(".git/objects/info/alternates", "/etc\n")(tree)
    put(
        ".gitmodules",
        '[submodule "x"]\n\tpath = x\n\turl = ext::touch /tmp/trapped\n\tupdate = !touch /tmp/trapped\n',
    )(tree)


LINKS: Deed = all_of(
    lambda tree: (tree / "loop").symlink_to("loop"),
    lambda tree: (tree / "out").symlink_to("../../../../etc"),
    lambda tree: (tree / "passwd").symlink_to("/etc/passwd"),
    lambda tree: (tree / "up").symlink_to("."),
)
SPECIAL: Deed = all_of(lambda tree: os.mkfifo(tree / "pipe"), put("vendored/.GIT/config"), put("vendored/x.py"))

ROWS: list[tuple[str, Deed, set[str]]] = [
    ("odd names", odd_names, {"n" * 255, "-rf", '"a\\nb"', '"\\033[2J"', '"\\377\\376"', ":(top)x", "*", "~", " "}),
    ("twins in case and Unicode", all_of(*(put(name, name) for name in TWINS)), set(TWINS)),
    ("an own repository of traps", own_repository, {".gitattributes", ".gitmodules", "hooks/pre-commit"}),
    ("links that loop and leave", LINKS, {"loop", "out", "passwd", "up"}),
    ("what no patch can hold", SPECIAL, {"vendored/x.py"}),
    ("100 folders in each other", nested(100), {"d/" * 100 + "file"}),
    ("a closed folder", all_of(put("closed/x"), lambda tree: (tree / "closed").chmod(0)), {"closed/x"}),
]
REFUSED: list[tuple[str, Deed, str]] = [
    ("2000 folders in each other", nested(2000), "deeper than"),
    ("a sparse terabyte", sparse(1 << 40), "over 268435456 bytes"),
]


def check(gitbox: Gitbox, workspace: Callable[[], Path], deed: Deed, paths: set[str]) -> None:
    tree, again = workspace(), workspace()
    deed(tree)
    taken = take_patch(gitbox, tree)
    assert paths <= set(taken.files_changed)
    assert not any("trapped" in path or ".git/" in path.lower() for path in taken.files_changed)
    apply(gitbox, again, patch=taken.patch, tests=b"", rules=PathRules(source=("*",)))
    assert take_patch(gitbox, again).patch == taken.patch
    assert not Path("/tmp/trapped").exists()


@pytest.mark.parametrize(("deed", "paths"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_the_patch_of_a_trapped_workspace_is_exact(
    gitbox: Gitbox, workspace: Callable[[], Path], deed: Deed, paths: set[str]
) -> None:
    check(gitbox, workspace, deed, paths)


@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_all_traps_at_once_on_docker(gitbox: Gitbox, workspace: Callable[[], Path]) -> None:
    check(gitbox, workspace, all_of(*(row[1] for row in ROWS)), set().union(*(row[2] for row in ROWS)))


@pytest.mark.parametrize(("deed", "reason"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_workspace_beyond_every_bound_is_refused(
    gitbox: Gitbox, workspace: Callable[[], Path], deed: Deed, reason: str
) -> None:
    tree = workspace()
    deed(tree)
    with pytest.raises(Refused, match=f"NB_PATCH_BOUND: .*{reason}"):
        take_patch(gitbox, tree)
