"""What a merged change of a git repository resolved to, as a task lock holds it."""

from __future__ import annotations

from typing import Literal

from attrs import frozen

from nanobench.model.fields import COMMIT, DIGEST, IDENTIFIER, Digest, optional_text, text, texts, whole

VERSION = r"[0-9A-Za-z][0-9A-Za-z.!+_-]{0,63}"
"""A version that a build is told (the build backend judges it)."""

Identity = Literal["merge", "squash", "rebase", "message", "stated"]
"""How it is known that the commit is the pull request's merge: its head is a parent; one commit, or several, with its
content; only the commit's message names it; or only the task file says so."""


@frozen(kw_only=True)
class PinnedTree:
    """A commit, its tree, and the canonical tar of that tree (sha256 and size in bytes)."""

    commit: str = text(COMMIT)
    tree: str = text(COMMIT)
    archive: Digest = text(DIGEST)
    size: int = whole(0, 2**40)


@frozen(kw_only=True)
class SampledChange:
    """A change of the main line: how many source files it touched, how many with what they import, in which
    languages."""

    commit: str = text(COMMIT)
    languages: tuple[str, ...] = texts(IDENTIFIER)
    changed: int = whole(1, 2**31)
    read: int = whole(1, 2**31)


@frozen(kw_only=True)
class LockedHistory:
    """The main line up to the merge: how many changes in so many days before it, and the newest few."""

    days: int = whole(1, 10_000)
    changes: int = whole(1, 2**31)
    sample: tuple[SampledChange, ...] = ()


@frozen(kw_only=True)
class LockedUpstream:
    """Base and merge of a change.

    ``base`` is the merge's ancestor on the main line. ``merged_at`` is the committer date of the merge itself, UTC.
    ``version`` is what a build is told that would count tags. ``absent`` names what the task leaves out, as
    ``base: path`` and ``merge: path``. Locks of the first revision have no ``history``.
    """

    identity: Identity
    merged_at: str = text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    version: str | None = optional_text(VERSION)
    absent: tuple[str, ...] = texts(default=())
    base: PinnedTree
    merge: PinnedTree
    history: LockedHistory | None = None
