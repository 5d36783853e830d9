"""``tasks/<id>/task.toml`` and ``tasks/dataset.toml``: what a curator writes."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import (
    COMMIT,
    IDENTIFIER,
    RELATIVE_PATH,
    SHA256,
    optional_text,
    text,
    texts,
    whole,
)

TaskKind = Literal["merged-pr", "release-pair", "fixture"]
Purl = r"pkg:(pypi|npm|deb)/\S+@\S+"


@frozen(kw_only=True)
class Archive:
    """One published source archive, pinned: purl (name and version), file name, sha256, size in bytes."""

    purl: str = text(Purl)
    file: str = text(r"[^/\s]+")
    sha256: str = text(SHA256)
    size: int = whole(1, 2**40)


@frozen(kw_only=True)
class ArchiveSource:
    """A release pair: the tree at ``base``, and the next release as its ``solution``."""

    type: Literal["archive"]
    base: Archive
    solution: Archive


Source = ArchiveSource


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
    """Facts a curator states; ``task export`` prints them under the proposal's names."""

    repo: str = text()
    repo_url: str = text(r"https?://\S+")
    languages: tuple[str, ...] = texts(IDENTIFIER, nonempty=True)
    domain: str = text()
    complexity_tier: int = whole(1, 4)
    task_type: str = text(IDENTIFIER)
    reasoning_category: str = text(IDENTIFIER)
    contributor: str = text()
    issue_url: str | None = optional_text(r"https?://\S+")
    pr_url: str | None = optional_text(r"https?://\S+")
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
    date: str = text(r"\d{4}-\d\d-\d\d")


@frozen(kw_only=True)
class Task:
    """A task. ``required_files`` empty means: the golden patch's source files."""

    schema: Literal[1]
    id: str = text(IDENTIFIER)
    kind: TaskKind
    environment: str = text(IDENTIFIER)
    harness: str = text(IDENTIFIER)
    status: Literal["active", "retired"] = "active"
    required_files: tuple[str, ...] = texts(RELATIVE_PATH, default=())
    quarantine: tuple[str, ...] = texts(default=())
    source: ArchiveSource
    statement: Statement
    curation: Curation
    paths: PathRules = field(factory=PathRules)
    suite: tuple[Suite, ...] = field(metadata={"min_items": 1, "unique_key": "name"})
    retired: Retirement | None = None

    def __attrs_post_init__(self) -> None:
        names = [s.name for s in self.suite]
        if not names:
            raise ValueError("suite: at least one [[suite]] is needed")
        if len(set(names)) != len(names):
            raise ValueError("suite: two suites have the same name")
        if (self.status == "retired") != (self.retired is not None):
            raise ValueError('status = "retired" and [retired] go together')


@frozen(kw_only=True)
class Dataset:
    """The members of one dataset version; ``cutoff`` is the contamination gate's date."""

    schema: Literal[1]
    name: str = text(IDENTIFIER)
    version: str = text(r"\d+(\.\d+){0,2}")
    cutoff: str = text(r"\d{4}-\d\d-\d\d")
    tasks: tuple[str, ...] = texts(IDENTIFIER, nonempty=True)
