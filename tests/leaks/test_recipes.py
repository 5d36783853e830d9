"""How nine benchmarks make the workspace of an image, replayed on a toy upstream: four of them leak the fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Recipe = Callable[[Any, Path, Callable[..., str]], None]


def clone(toy: Any, image: Path, git: Callable[..., str]) -> Path:
    git(image, "clone", "--quiet", str(toy.upstream), "workspace")
    return image / "workspace"


def forget_all(workspace: Path, git: Callable[..., str]) -> None:
    """Every branch, remote and reflog; what nothing names then is pruned."""
    git(workspace, "remote", "remove", "origin")
    for name in git(workspace, "for-each-ref", "--format=%(refname)").split():
        git(workspace, "update-ref", "-d", name)
    git(workspace, "reflog", "expire", "--expire=now", "--all")
    git(workspace, "gc", "--quiet", "--prune=now")


def a_reset(toy: Any, image: Path, git: Callable[..., str]) -> None:
    workspace = clone(toy, image, git)
    git(workspace, "reset", "--quiet", "--hard", toy.base)
    git(workspace, "remote", "remove", "origin")


def b_later_tags_dropped(toy: Any, image: Path, git: Callable[..., str]) -> None:
    workspace = clone(toy, image, git)
    git(workspace, "reset", "--quiet", "--hard", toy.base)
    git(workspace, "remote", "remove", "origin")
    git(workspace, "tag", "--delete", *git(workspace, "tag", "--no-merged", toy.base).split())
    (workspace / ".git/ORIG_HEAD").unlink()
    git(workspace, "reflog", "expire", "--expire=now", "--all")
    git(workspace, "gc", "--quiet", "--prune=now", "--aggressive")


def c_checkout(toy: Any, image: Path, git: Callable[..., str]) -> None:
    git(clone(toy, image, git), "checkout", "--quiet", toy.base)


def d_patches_copied(toy: Any, image: Path, git: Callable[..., str]) -> None:
    git(clone(toy, image, git), "checkout", "--quiet", toy.base)
    (image / "home").mkdir()
    (image / "home/fix.patch").write_bytes(toy.change.golden)
    (image / "home/test.patch").write_bytes(toy.change.test)


def e_shallow_reference(toy: Any, image: Path, git: Callable[..., str]) -> None:
    git(image, "clone", "--quiet", "--depth=1", f"file://{toy.upstream}", "workspace")
    workspace = image / "workspace"
    git(workspace, "fetch", "--quiet", "--depth=1", "origin", toy.fix, toy.base)
    git(workspace, "reset", "--quiet", "--hard", toy.fix)
    git(workspace, "reset", "--quiet", "--hard", toy.base)
    git(workspace, "remote", "remove", "origin")


def f_cleaned(toy: Any, image: Path, git: Callable[..., str]) -> None:
    workspace = clone(toy, image, git)
    git(workspace, "checkout", "--quiet", toy.base)
    forget_all(workspace, git)


def g_orphan_branch(toy: Any, image: Path, git: Callable[..., str]) -> None:
    workspace = clone(toy, image, git)
    git(workspace, "checkout", "--quiet", toy.base)
    git(workspace, "checkout", "--quiet", "--orphan", "work")
    git(workspace, "commit", "--quiet", "--message", "Base")
    commit = git(workspace, "rev-parse", "HEAD")
    git(workspace, "checkout", "--quiet", commit)
    forget_all(workspace, git)


def h_archive(toy: Any, image: Path, git: Callable[..., str]) -> None:
    toy.image(image)


def i_one_commit_fetched(toy: Any, image: Path, git: Callable[..., str]) -> None:
    workspace = image / "workspace"
    workspace.mkdir()
    git(workspace, "init", "--quiet")
    git(workspace, "fetch", "--quiet", "--depth=1", f"file://{toy.upstream}", toy.base)
    git(workspace, "checkout", "--quiet", "FETCH_HEAD")


@pytest.mark.parametrize(
    "recipe", [b_later_tags_dropped, f_cleaned, g_orphan_branch, h_archive, i_one_commit_fetched]
)
def test_a_repository_that_ends_with_the_base_passes(
    recipe: Recipe, toy: Any, tmp_path: Path, run_git: Callable[..., str]
) -> None:
    recipe(toy, tmp_path, run_git)
    strays, scanned = toy.survey(tmp_path)
    assert (strays, scanned.found, scanned.unread) == ((), (), ())


@pytest.mark.parametrize(
    ("recipe", "named", "kept"),
    [
        (a_reset, {"ORIG_HEAD", "logs/HEAD", "packed-refs"}, "commit"),
        (c_checkout, {"logs/HEAD", "packed-refs", "refs/heads/main"}, "commit"),
        (d_patches_copied, {"logs/HEAD", "packed-refs", "refs/heads/main"}, "commit"),
        (e_shallow_reference, {"FETCH_HEAD", "logs/HEAD", "ORIG_HEAD"}, "commit"),
    ],
)
def test_a_repository_that_knows_the_fix_fails_with_every_place(
    recipe: Recipe, named: set[str], kept: str, toy: Any, tmp_path: Path, run_git: Callable[..., str]
) -> None:
    recipe(toy, tmp_path, run_git)
    strays, scanned = toy.survey(tmp_path)
    places = {(found.place, found.by) for found in strays}
    assert {(f"/workspace/.git/{name}", "reference") for name in named} <= places
    assert ("/workspace/.git/objects", kept) in places
    by = {found.by for found in scanned.found if found.place.startswith("/workspace/.git/objects/")}
    assert {"file", "lines"} <= by  # the fix itself, in a pack


def test_the_copied_patches_are_named_too(toy: Any, tmp_path: Path, run_git: Callable[..., str]) -> None:
    d_patches_copied(toy, tmp_path, run_git)
    assert {("/home/fix.patch", "lines"), ("/home/test.patch", "lines")} <= toy.places(tmp_path)


def test_another_commit_than_the_base_fails(toy: Any, tmp_path: Path, run_git: Callable[..., str]) -> None:
    clone(toy, tmp_path, run_git)
    (stray,) = toy.survey(tmp_path)[0]
    assert (stray.place, stray.by) == ("/workspace/.git/HEAD", "reference")
    assert toy.tree in stray.what
