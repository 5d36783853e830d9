"""Commits as git stores them, read strictly and held against their own name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from attrs import frozen

from nanobench.errors import Refused
from nanobench.sources.git_run import Git

MAX_COMMIT = 4 << 20
_HEAD = re.compile(
    rb"tree ([0-9a-f]{40})\n((?:parent [0-9a-f]{40}\n)*)author ([^\n]*)\ncommitter [^\n]* (-?\d{1,12}) [+-]\d{4,6}\n"
)
_ANSWER = re.compile(rb"[0-9a-f]{40} commit (\d{1,9})\n")
_YEAR_9999 = 253_402_300_799


@frozen(kw_only=True)
class Commit:
    """A commit. ``author`` is name, address and date as they stand there; ``committed`` counts seconds since 1970."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: bytes
    committed: int
    message: bytes

    @property
    def date(self) -> str:
        """The committer's date, UTC."""
        return datetime.fromtimestamp(self.committed, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def commits_of(git: Git, names: Iterable[str], *, where: str) -> Iterator[Commit]:
    """The commits of these ids, which are in the repository, one after another.

    Raises:
        Refused: ``NB_GIT_COMMIT`` when one is not there, is no commit, or is not as git writes one.
    """
    with git.started("cat-file", "--batch") as running:
        for name in names:
            header = _ANSWER.fullmatch(running.ask(name))
            if header is None or int(header[1]) > MAX_COMMIT:
                raise Refused("NB_GIT_COMMIT", f"{name} is not there, or no commit", where=where)
            data = running.output.read(int(header[1]))
            running.output.read(1)
            yield parse_commit(name, data, where=where)


def commit_of(git: Git, name: str, *, where: str) -> Commit:
    """One of :func:`commits_of`."""
    return next(commits_of(git, [name], where=where))


def parse_commit(name: str, data: bytes, *, where: str) -> Commit:
    """The commit in ``data``, whose name must be ``name``."""
    found = hashlib.sha1(b"commit %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    head = _HEAD.match(data)
    if found != name or head is None or not 0 <= int(head[4]) <= _YEAR_9999:
        why = f"its bytes have the name {found}" if found != name else "not written as git writes a commit"
        raise Refused("NB_GIT_COMMIT", f"commit {name}: {why}", where=where)
    return Commit(
        id=name,
        tree=head[1].decode(),
        parents=tuple(line.split()[1].decode() for line in head[2].splitlines()),
        author=head[3],
        committed=int(head[4]),
        message=data.partition(b"\n\n")[2],
    )
