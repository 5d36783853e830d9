"""A toy upstream: a small project, the fix of its bug with a test, a release, a feature, and work that goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve, frozen

from nanobench.leaks.copies import Project
from nanobench.leaks.found import Found
from nanobench.leaks.repository import Repository, new_to
from nanobench.leaks.scan import Scanned, Scanner
from nanobench.leaks.search import Search
from nanobench.leaks.wanted import Wanted, wanted_of
from nanobench.model.task import PathRules
from nanobench.sources.change import Change, split

RULES = PathRules()
MODULE = "src/toy/parser.py"
BASE = '''\
"""Splits lines into fields."""

SEPARATOR = ","


def fields(line):
    """The fields of a line."""
    return line.split(SEPARATOR)


def read(lines):
    return [fields(line) for line in lines]
'''
FIXED = '''\
"""Splits lines into fields."""

SEPARATOR = ","
QUOTE = '"'


def fields(line):
    """The fields of a line; a quoted field may hold the separator."""
    found, start = [], 0
    while start <= len(line):
        value, start = next_field(line, start)
        found.append(value)
    return found


def next_field(line, start):
    """The field at ``start``, and where the next one begins."""
    if not line.startswith(QUOTE, start):
        end = line.find(SEPARATOR, start)
        return (line[start:], len(line) + 1) if end < 0 else (line[start:end], end + 1)
    closing = line.find(QUOTE, start + 1)
    if closing < 0:
        raise UnclosedQuote(f"the quote at column {start} is never closed")
    return line[start + 1 : closing], closing + 2


class UnclosedQuote(ValueError):
    """A field that begins with a quote and does not end with one."""


def read(lines):
    return [fields(line) for line in lines]
'''
TEST = """\
from toy.parser import fields


def test_plain():
    assert fields("a,b") == ["a", "b"]
"""
HIDDEN = (
    TEST
    + """

def test_a_quoted_field_may_hold_the_separator():
    assert fields('"a,b",c') == ["a,b", "c"]
    assert fields('"",x') == ["", "x"]
"""
)


@frozen(kw_only=True)
class Toy:
    """``upstream`` is on the server; the fix was merged right after ``base``."""

    upstream: Path
    base: str
    fix: str
    tree: str
    change: Change

    @property
    def wanted(self) -> Wanted:
        return wanted_of(self.change, RULES)

    def image(self, folder: Path) -> Path:
        """An image with nothing but the base in its workspace, as we make it."""
        workspace = folder / "workspace"
        workspace.mkdir(parents=True)
        archive = git_bytes(self.upstream, "archive", self.base)
        subprocess.run(["tar", "-x", "-C", workspace], input=archive, check=True)
        git(workspace, "init", "--quiet")
        git(workspace, "add", "--all")
        git(workspace, "commit", "--quiet", "--message", "Base")
        return folder

    def survey(self, image: Path) -> tuple[tuple[Found, ...], Scanned]:
        """What does not belong into the repository, and what lies in the image."""
        repository = Repository.read(image / "workspace/.git")
        projects = (
            Project(ecosystem="pypi", name="toy", version="1.0"),
            Project(ecosystem="npm", name="toy", version="1.0.0"),
        )
        scanner = Scanner(search=Search(new_to(repository, self.wanted)), projects=projects)
        return repository.strays(self.tree), scanner.tree(image)

    def places(self, image: Path) -> set[tuple[str, str]]:
        """Where something was found in the image, and how it was recognised."""
        return {(found.place, found.by) for found in self.survey(image)[1].found}


def git(folder: Path, *arguments: str) -> str:
    return git_bytes(folder, *arguments).decode().strip()


def git_bytes(folder: Path, *arguments: str) -> bytes:
    names = {f"GIT_{who}_{what}": "toy@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    quiet = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    wishes = {"init.defaultBranch": "main", "advice.detachedHead": "false", "safe.directory": "*"}
    settings = [word for key, value in wishes.items() for word in ("-c", f"{key}={value}")]
    return subprocess.run(
        ["git", *settings, *arguments],
        cwd=folder,
        env={**os.environ, **names, **quiet},
        check=True,
        capture_output=True,
    ).stdout


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Three commits up to the base, the fix, a release, a feature branch, and one more commit."""
    place = tmp_path_factory.mktemp("toy") / "upstream"
    place.mkdir()
    git(place, "init", "--quiet")
    git(place, "config", "uploadpack.allowAnySHA1InWant", "true")

    def commit(message: str, **files: str) -> str:
        for name, text in files.items():
            path = place / {"module": MODULE, "test": "tests/test_parser.py", "readme": "README.md"}[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        git(place, "add", "--all")
        git(place, "commit", "--quiet", "--message", message)
        return git(place, "rev-parse", "HEAD")

    commit("Begin", readme="Toy\n")
    git(place, "tag", "v0.1")
    commit("Parse", module=BASE)
    base = commit("Test", test=TEST)
    fix = commit("Fix the bug", module=FIXED, test=HIDDEN)
    git(place, "tag", "v1.1")
    git(place, "checkout", "--quiet", "-b", "feature")
    commit("A feature", readme="Toy, with a feature\n")
    git(place, "checkout", "--quiet", "main")
    commit("Go on", readme="Toy, going on\n")
    patch = git_bytes(place, "diff-tree", "-p", "--binary", "--full-index", "--no-renames", base, fix)
    change = split(patch, RULES, where="toy")
    return Toy(upstream=place, base=base, fix=fix, tree=git(place, "rev-parse", f"{base}^{{tree}}"), change=change)


@pytest.fixture
def image(toy: Toy, tmp_path: Path) -> Path:
    """A clean image; tests plant into it."""
    return toy.image(tmp_path / "image")


@pytest.fixture
def plant(image: Path) -> Callable[[str, str | bytes], Path]:
    """Put a file into the image, and give the image."""

    def put(path: str, content: str | bytes) -> Path:
        file = image / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return image

    return put


@pytest.fixture
def run_git() -> Callable[..., str]:
    return git


@pytest.fixture
def fixed() -> str:
    """The module after the fix."""
    return FIXED


@pytest.fixture
def question(toy: Toy) -> Toy:
    """The same, asked for an answer."""
    return evolve(toy, change=evolve(toy.change, answer="the parser"))
