"""``tasks/<id>/task.toml`` and ``tasks/dataset.toml``: what a curator writes."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import (
    COMMIT,
    DATE,
    IDENTIFIER,
    RELATIVE_PATH,
    SHA256,
    optional_text,
    optional_whole,
    text,
    texts,
    whole,
)
from nanobench.model.fixture import Assertion, VendoredSource
from nanobench.model.upstream import VERSION

TaskKind = Literal["merged-pr", "release-pair", "fixture"]
Purl = r"pkg:(pypi|npm|deb)/\S+@\S+"
GIT_URL = (
    r"(https?|ssh|git)://([A-Za-z0-9_.~+-]+@)?[A-Za-z0-9\[][^\s@?#]*"
    r"|file:///[^\s?#]+"
    r"|[A-Za-z0-9_.~+-]+@[A-Za-z0-9][A-Za-z0-9.-]*:[^-\s@?#][^\s@?#]*"
)
"""A URL that git understands, without password, query or fragment; or ``user@host:path``."""


@frozen(kw_only=True)
class Archive:
    """One published source archive, pinned: purl (name and version), file name, size in bytes, and its sha256 or the
    registry's own ``integrity`` (npm's ``sha512-…``)."""

    purl: str = text(Purl)
    file: str = text(r"[^/\s]+")
    sha256: str | None = optional_text(SHA256)
    integrity: str | None = optional_text(r"sha512-[A-Za-z0-9+/]{86}==")
    size: int = whole(1, 2**40)

    def __attrs_post_init__(self) -> None:
        if (self.sha256 is None) == (self.integrity is None):
            raise ValueError("either sha256 or integrity")


@frozen(kw_only=True)
class ArchiveSource:
    """A release pair: the tree at ``base``, and the next release as its ``solution``."""

    type: Literal["archive"]
    base: Archive
    solution: Archive


@frozen(kw_only=True)
class GitSource:
    """A merged change of a git repository: the tree before it, and the merge as its solution.

    At least one of ``pull_request`` and ``merge_commit`` is needed; what is left out is resolved when the task is
    locked. ``absent_paths`` (git wildmatch globs) are left out of both trees: submodules, and files that the server
    does not give. ``pretend_version`` is what a build is told that would count tags.
    """

    type: Literal["git"]
    url: str = text(GIT_URL)
    pull_request: int | None = optional_whole(1, 2**31)
    merge_commit: str | None = optional_text(COMMIT)
    base_commit: str | None = optional_text(COMMIT)
    absent_paths: tuple[str, ...] = texts(default=())
    pretend_version: str | None = optional_text(VERSION)

    def __attrs_post_init__(self) -> None:
        if self.pull_request is None and self.merge_commit is None:
            raise ValueError("pull_request or merge_commit is needed")


Source = ArchiveSource | GitSource | VendoredSource
"""Told apart by ``type``."""


@frozen(kw_only=True)
class PathRules:
    """Overrides (git wildmatch globs) of how changed files are sorted into test and source; first match wins."""

    test: tuple[str, ...] = texts(default=())
    source: tuple[str, ...] = texts(default=())
    other: tuple[str, ...] = texts(default=())


@frozen(kw_only=True)
class Statement:
    """Where the problem statement's words come from; the words are in ``statement.md`` beside the task."""

    origin: Literal["upstream", "curator", "machine-draft"]


@frozen(kw_only=True)
class Curation:
    """Facts a curator states; ``task export`` prints them under the proposal's names. A fixture has no repository.

    ``domain_novelty`` is the maintainers' word: is the domain new to the dataset, beside one that it has, or covered?
    """

    repo: str | None = optional_text()
    repo_url: str | None = optional_text(r"https?://\S+")
    languages: tuple[str, ...] = texts(IDENTIFIER, nonempty=True)
    domain: str = text()
    complexity_tier: int = whole(1, 4)
    task_type: str = text(IDENTIFIER)
    reasoning_category: str = text(IDENTIFIER)
    contributor: str = text()
    issue_url: str | None = optional_text(r"https?://\S+")
    pr_url: str | None = optional_text(r"https?://\S+")
    domain_novelty: Literal["new", "adjacent", "covered"] | None = None
    base_commit: str | None = optional_text(COMMIT)
    merged_at: str | None = optional_text(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")


@frozen(kw_only=True)
class Suite:
    """One test command, run in the workspace; ``seconds`` bounds it."""

    name: str = text(IDENTIFIER)
    language: str = text(IDENTIFIER)
    format: Literal["pytest", "vitest", "jest", "mocha", "node-test"]
    command: tuple[str, ...] = texts(unique=False, nonempty=True)
    seconds: int = whole(1, 86_400, default=600)


@frozen(kw_only=True)
class Retirement:
    """Why and when a task left the dataset."""

    reason: str = text()
    date: str = text(DATE)


@frozen(kw_only=True)
class Task:
    """A task. ``required_files`` empty means: the golden patch's source files.

    A fixture may have assertions beside its suites, or in their place.
    """

    schema: Literal[1]
    id: str = text(IDENTIFIER)
    kind: TaskKind
    environment: str = text(IDENTIFIER)
    harness: str = text(IDENTIFIER)
    status: Literal["active", "retired"] = "active"
    required_files: tuple[str, ...] = texts(RELATIVE_PATH, default=())
    quarantine: tuple[str, ...] = texts(default=())
    source: Source
    statement: Statement
    curation: Curation
    paths: PathRules = field(factory=PathRules)
    suite: tuple[Suite, ...] = ()
    assertion: tuple[Assertion, ...] = ()
    retired: Retirement | None = None

    def __attrs_post_init__(self) -> None:
        names = [part.name for part in (*self.suite, *self.assertion)]
        if len(set(names)) != len(names):
            raise ValueError("suite: two suites or assertions have the same name")
        fixture = self.kind == "fixture"
        if fixture != isinstance(self.source, VendoredSource):
            raise ValueError('kind = "fixture" and source.type = "vendored" go together')
        if not (names if fixture else self.suite):
            raise ValueError("suite: at least one [[suite]] is needed (a fixture may have an [[assertion]] instead)")
        if self.assertion and not fixture:
            raise ValueError("assertion: only a fixture has them")
        if not fixture and None in (self.curation.repo, self.curation.repo_url):
            raise ValueError("curation: repo and repo_url are needed; only a fixture has none")
        if (self.status == "retired") != (self.retired is not None):
            raise ValueError('status = "retired" and [retired] go together')


@frozen(kw_only=True)
class Dataset:
    """The members of one dataset version; ``cutoff`` is the contamination gate's date."""

    schema: Literal[1]
    name: str = text(IDENTIFIER)
    version: str = text(r"\d+(\.\d+){0,2}")
    cutoff: str = text(DATE)
    tasks: tuple[str, ...] = texts(IDENTIFIER, nonempty=True)
