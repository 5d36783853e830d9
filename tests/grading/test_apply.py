"""The graded tree, made in the sandbox from a real one-commit repository."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.errors import Refused
from nanobench.grading.apply import apply, restored_paths
from nanobench.model.task import PathRules
from nanobench.sources.clean import clean
from nanobench.sources.difference import derive
from nanobench.sources.gitbox import Gitbox
from nanobench.sources.workspace import make_repository

Files = dict[str, str]
Grow = Callable[[Files], Path]
Change = Callable[[Path], None]

BASE = {
    "a.py": "one\n",
    "pkg/mod.py": "mod\n",
    "tests/test_a.py": "base test\n",
    "tests/data/x.txt": "base data\n",
    "conftest.py": "base\n",
    ".gitignore": "*.so\n",
}
TESTS = {**BASE, "tests/test_a.py": "our test\n", "tests/test_new.py": "our new test\n"}
del TESTS["tests/data/x.txt"]
RULES = PathRules()


class Game:
    """A base workspace and the test patch of a lock; patches are made of what an agent does to the base."""

    def __init__(self, gitbox: Gitbox, grow: Grow, ground: Path) -> None:
        self.gitbox, self.ground, self.number = gitbox, ground, 0
        self.base = grow(BASE)
        make_repository(gitbox, self.base, products=("built.so",))
        tests = grow(TESTS)
        clean(tests, where="tests")
        self.tests = derive(gitbox, repository=self.base, solution=tests)

    def copy(self) -> Path:
        self.number += 1
        workspace = self.ground / f"copy-{self.number}"
        shutil.copytree(self.base, workspace, symlinks=True)
        self.gitbox.engine.own(workspace)
        return workspace

    def patch(self, change: Change) -> bytes:
        workspace = self.copy()
        change(workspace)
        clean(workspace, where="agent")
        return derive(self.gitbox, repository=self.base, solution=workspace)

    def play(self, patch: bytes, rules: PathRules = RULES) -> tuple[str, Path]:
        workspace = self.copy()
        (workspace / "built.so").write_text("product")
        return apply(self.gitbox, workspace, patch=patch, tests=self.tests, rules=rules), workspace


@pytest.fixture(scope="module")
def game(gitbox: Gitbox, grow: Grow, ground: Path) -> Game:
    return Game(gitbox, grow, ground)


def tree(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): f"-> {path.readlink()}" if path.is_symlink() else path.read_text()
        for path in sorted(root.rglob("*"))
        if ".git" not in path.relative_to(root).parts and (path.is_symlink() or path.is_file())
    }


FINAL = {**TESTS, "built.so": "product"}


def test_no_patch_gives_the_base_with_the_tests(game: Game) -> None:
    _, workspace = game.play(b"")
    assert tree(workspace) == FINAL


def test_the_patch_and_the_tests_meet(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "a.py").write_text("two\n")
        (root / "new").mkdir()
        (root / "new/mod.py").write_text("new\n")
        (root / "pkg/mod.py").unlink()
        (root / "link").symlink_to("a.py")

    _, workspace = game.play(game.patch(change))
    expected = {**FINAL, "a.py": "two\n", "new/mod.py": "new\n", "link": "-> a.py"}
    del expected["pkg/mod.py"]
    assert tree(workspace) == expected


def test_a_patch_over_our_tests_is_replaced(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "tests/test_a.py").write_text("def test_a(): pass\n")
        (root / "tests/test_new.py").write_text("theirs\n")
        (root / "tests/data/x.txt").write_text("theirs\n")
        (root / "tests/own_test.py").write_text("theirs\n")
        (root / "conftest.py").unlink()
        (root / "pkg/conftest.py").write_text("import os; os._exit(0)\n")
        (root / "pytest.ini").write_text("[pytest]\naddopts = --co\n")

    _, workspace = game.play(game.patch(change))
    assert tree(workspace) == FINAL


def test_the_tasks_own_rules_decide_what_is_a_test(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "pkg/mod.py").write_text("helper\n")
        (root / "conftest.py").write_text("product\n")

    rules = PathRules(test=("pkg/mod.py",), source=("conftest.py",))
    _, workspace = game.play(game.patch(change), rules)
    assert tree(workspace) == {**FINAL, "conftest.py": "product\n"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_or_link_in_place_of_the_test_folder_gives_way(game: Game, kind: str) -> None:
    def change(root: Path) -> None:
        shutil.rmtree(root / "tests")
        if kind == "file":
            (root / "tests").write_text("blocked")
        else:
            (root / "tests").symlink_to("/tmp")

    _, workspace = game.play(game.patch(change))
    assert tree(workspace) == FINAL


def test_no_link_of_the_patch_redirects_a_write(game: Game, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()

    def change(root: Path) -> None:
        shutil.rmtree(root / "pkg")
        (root / "pkg").symlink_to(outside)
        (root / "tests/data/x.txt").unlink()
        (root / "tests/data").rmdir()
        (root / "tests/data").symlink_to(outside)

    patch = game.patch(change)
    _, workspace = game.play(patch)
    expected = {**FINAL, "pkg": f"-> {outside}"}
    del expected["pkg/mod.py"]
    assert tree(workspace) == expected
    assert list(outside.iterdir()) == []


def test_the_repository_stays_pristine(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "a.py").write_text("two\n")

    _, workspace = game.play(game.patch(change))
    before, after = (
        {str(p.relative_to(root)): p.read_bytes() for p in (root / ".git").rglob("*") if p.is_file()}
        for root in (game.base, workspace)
    )
    assert before == after


def test_the_same_patch_gives_the_same_tree(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "a.py").write_text("two\n")

    patch = game.patch(change)
    assert game.play(patch)[0] == game.play(patch)[0]
    assert game.play(patch)[0] != game.play(b"")[0]


def test_a_patch_of_another_base_is_refused(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "a.py").write_text("two\n")

    wrong = game.patch(change).replace(b"-one\n", b"-uno\n")
    with pytest.raises(Refused, match=r"NB_PATCH_APPLY: git: final\.sh: the patch is no difference"):
        game.play(wrong)


def test_a_patch_that_says_other_than_it_does_is_refused(game: Game) -> None:
    def change(root: Path) -> None:
        (root / "a.py").write_text("two\n")

    honest = game.patch(change)
    blob = honest.split(b"index ")[1][:40]
    for lie in (honest.replace(blob, b"0" * 39 + b"1"), honest.replace(b"@@\n", b"@@ context\n")):
        assert lie != honest
        with pytest.raises(Refused, match=r"NB_PATCH_APPLY: git: final\.sh"):
            game.play(lie)


def test_restored_paths_are_ours_and_their_tests() -> None:
    def section(path: str) -> bytes:
        return f"diff --git a/{path} b/{path}\nold mode 100644\nnew mode 100755\n".encode()

    theirs = section("src/a.py") + section("tests/b.py")
    paths = restored_paths(theirs, section("data.bin") + section("src/a.py"), RULES)
    assert paths == (b"data.bin", b"src/a.py", b"tests/b.py")
