"""Everything in the repository that could lead beyond the base, each on its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import CannotTell, Refused
from nanobench.leaks.repository import Repository

Git = Callable[..., str]


def kept_object(workspace: Path, git: Git, text: str = "nothing of the solution\n") -> str:
    """An object that nothing names, in a pack."""
    (workspace / "stray").write_text(text)
    name = git(workspace, "hash-object", "-w", "stray")
    (workspace / "stray").unlink()
    return name


def test_an_object_that_nothing_names_is_found_though_it_is_packed(toy: Any, image: Path, run_git: Git) -> None:
    workspace = image / "workspace"
    name = kept_object(workspace, run_git)
    subprocess.run(
        ["git", "pack-objects", "-q", workspace / ".git/objects/pack/pack"], input=f"{name}\n".encode(), check=True,
        cwd=workspace, capture_output=True,
    )  # fmt: skip
    run_git(workspace, "prune-packed")
    (stray,) = toy.survey(image)[0]
    assert (stray.place, stray.by) == ("/workspace/.git/objects", "blob")
    assert stray.what == f"blob {name} does not belong to the base"


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("refs/stash", "/workspace/.git/refs/stash"),
        ("refs/notes/commits", "/workspace/.git/refs/notes/commits"),
        ("refs/original/refs/heads/main", "/workspace/.git/refs/original/refs/heads/main"),
        ("FETCH_HEAD", "/workspace/.git/FETCH_HEAD"),
        ("ORIG_HEAD", "/workspace/.git/ORIG_HEAD"),
        ("packed-refs", "/workspace/.git/packed-refs"),
        ("logs/refs/stash", "/workspace/.git/logs/refs/stash"),
        ("worktrees/w/HEAD", "/workspace/.git/worktrees/w/HEAD"),
    ],
)
def test_whatever_names_a_later_commit_is_found_even_without_its_object(
    path: str, where: str, toy: Any, image: Path
) -> None:
    file = image / "workspace/.git" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{toy.fix} refs/heads/later\n")
    (stray,) = toy.survey(image)[0]
    assert (stray.place, stray.by, stray.what) == (where, "reference", f"names {toy.fix}")


def test_objects_borrowed_from_elsewhere_are_found(toy: Any, image: Path) -> None:
    (image / "workspace/.git/objects/info/alternates").write_text("/srv/upstream/objects\n")
    (stray,) = toy.survey(image)[0]
    assert stray.by == "alternates"


@pytest.mark.parametrize(
    "place", ["srv/upstream.git", "workspace/.git/modules/toy", "root/.cache/pre-commit/repo/.git"]
)
def test_a_repository_anywhere_is_looked_into(place: str, toy: Any, image: Path, run_git: Git) -> None:
    (image / place).parent.mkdir(parents=True, exist_ok=True)
    run_git(image, "clone", "--quiet", "--bare", str(toy.upstream), place)
    found = [f for f in toy.survey(image)[1].found if f.by == "file"]
    assert len(found) == 2  # the module and its test
    assert all(f.place.startswith(f"/{place}/objects/") for f in found)


@pytest.mark.parametrize("version", ["2", "3"])
def test_a_bundle_of_the_fix_alone_is_looked_into(version: str, toy: Any, image: Path, run_git: Git) -> None:
    bundle = image / "later.bundle"
    run_git(toy.upstream, "bundle", "create", f"--version={version}", str(bundle), f"{toy.base}..v1.1")
    found = toy.survey(image)[1]
    assert {f.by for f in found.found} >= {"lines"}
    assert all(f.place.startswith("/later.bundle!") for f in found.found)


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        Repository.read(tmp_path / ".git")
    assert caught.value.code == "NB_LEAK_REPOSITORY"


def test_a_pack_that_is_cut_off_is_refused(toy: Any, image: Path, run_git: Git) -> None:
    run_git(image / "workspace", "repack", "-adq")
    (pack,) = (image / "workspace/.git/objects/pack").glob("*.pack")
    data = pack.read_bytes()
    pack.chmod(0o644)
    pack.write_bytes(data[:-60])
    with pytest.raises(CannotTell) as caught:
        Repository.read(image / "workspace/.git")
    assert caught.value.code == "NB_LEAK_REPOSITORY"


def test_a_file_of_the_base_that_is_a_broken_archive_is_a_file_like_any_other(run_git: Git, tmp_path: Path) -> None:
    (tmp_path / "cut.tar.gz").write_bytes(b"\x1f\x8b\x08 and no more")
    run_git(tmp_path, "init", "--quiet")
    run_git(tmp_path, "add", "cut.tar.gz")
    run_git(tmp_path, "commit", "--quiet", "--message", "An archive that is cut off")
    for repack in (False, True):
        if repack:
            run_git(tmp_path, "repack", "-adq")
        assert len(Repository.read(tmp_path / ".git").objects) == 3


def test_the_objects_are_those_that_git_sees(toy: Any, run_git: Git) -> None:
    run_git(toy.upstream, "repack", "-adq", "--depth=50", "--window=50")
    said = run_git(toy.upstream, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    objects = Repository.read(toy.upstream / ".git").objects
    assert {name: kind for name, (kind, _) in objects.items()} == dict(line.split() for line in said.splitlines())
