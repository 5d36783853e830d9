"""Where a pull request landed: which commit of the main line is its merge, and what it was merged onto.

``refs/pull/N/head`` is the proof: the merge has that commit as a parent; or one commit (squash), or several (rebase),
made the same change as it did. Messages only say where to look, in four styles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from attrs import field, frozen

from nanobench.errors import CannotTell, Refused
from nanobench.model.task import GitSource
from nanobench.model.upstream import Identity
from nanobench.sources.git_commit import Commit, commit_of, commits_of
from nanobench.sources.git_remote import Remote, lacking, safe
from nanobench.sources.git_run import Git

MAX_HISTORY = 200_000
"""Commits of the main line that are looked at, newest first."""

MAX_REBASED = 250
_STYLES = (
    r"\A[^\n]*\(#{n}\)\s*(\n|\Z)",
    r"\AMerge pull request #{n}\b",
    r"\A[^\n]*\(#{n}\)",
    r"(#|/pull/){n}\b",
)
"""How a message names its pull request, most telling first."""

_DIFF = ("-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color")


@frozen(kw_only=True)
class Landing:
    """Ids of the merge and of the commit before it, and how the merge was recognised."""

    merge: str
    base: str
    identity: Identity


def style_of(message: bytes, number: int) -> int | None:
    """How tellingly the message names the pull request: 0 is most, None not at all."""
    text = message.decode("utf-8", "replace")
    found = (i for i, style in enumerate(_STYLES) if re.search(style.replace("{n}", str(number)), text))
    return next(found, None)


def landing_of(spec: GitSource, remote: Remote, work: Path) -> Landing:
    """Find the merge and its base.

    Args:
        work: a private directory, for repositories.

    Raises:
        CannotTell: ``NB_UNREACHABLE`` or ``NB_GIT_OBJECT`` naming what could not be had.
        Refused: ``NB_GIT_IDENTITY`` when no commit, or not the one that the task names, is the pull request's merge;
            ``NB_GIT_BASE`` when the task's base is not what it was merged onto.
    """
    search = _Search(spec=spec, remote=remote, work=work, history=Git(work / "history"), trees=Git(work / "compared"))
    found = search.stated() if spec.merge_commit else search.found()
    if spec.base_commit in (None, found.base):
        return found
    return search.with_stated_base(found)


@frozen(kw_only=True)
class _Candidate:
    merge: Commit
    base: str
    identity: Identity


@frozen(kw_only=True)
class _Search:
    spec: GitSource
    remote: Remote
    work: Path
    history: Git
    trees: Git
    refs: dict[str, str] = field(factory=dict)

    # A task that names the merge ----------------------------------------------------------------------------------

    def stated(self) -> Landing:
        assert self.spec.merge_commit is not None
        head = self._fetch(self.spec.merge_commit)
        merge = self._commit(self.spec.merge_commit)
        if not merge.parents:
            raise Refused("NB_GIT_BASE", f"{merge.id} has no parent", where=f"{self._where}.merge_commit")
        plain = Landing(merge=merge.id, base=merge.parents[0], identity="stated")
        if self.spec.pull_request is None:
            return plain
        named = style_of(merge.message, self.spec.pull_request) is not None
        if head is not None:
            proven = self._proven([merge], self._commit(head))
            if proven:
                return proven
            if not named and head != merge.id:
                self._refuse(head, [merge])
        return Landing(merge=merge.id, base=merge.parents[0], identity="message") if named else plain

    def with_stated_base(self, found: Landing) -> Landing:
        """The task's own base: an ancestor on the main line, when nothing proves how far the change reaches."""
        base = self.spec.base_commit
        assert base is not None
        if found.identity in ("message", "stated"):
            whole = Git(self.work / "line")
            self.remote.history(whole, [found.merge])
            if base in _ids(whole, "--first-parent", f"--max-count={MAX_REBASED}", found.merge):
                return Landing(merge=found.merge, base=base, identity=found.identity)
        raise Refused(
            "NB_GIT_BASE",
            f"the task says {base}; {found.merge} was merged onto {found.base}",
            where=f"{self._where}.base_commit",
            hint="leave base_commit out: it is resolved and locked",
        )

    # A task that names only the pull request ----------------------------------------------------------------------

    def found(self) -> Landing:
        head = self._fetch("HEAD")
        if head is None:
            raise CannotTell(
                "NB_GIT_OBJECT",
                f"{safe(self.spec.url)} does not give what is needed",
                where=f"{self._where}.pull_request",
                details=(f"missing: {self._ref}",),
                hint="name merge_commit in the task, or a server that keeps refs of pull requests",
            )
        tip = self._commit(head)
        likely = self._likely(tip)
        return self._proven(likely, tip) or self._refuse(head, likely)

    def _likely(self, head: Commit) -> list[Commit]:
        """Commits of the main line that may be its merge, the most telling and then the oldest first."""
        number = self.spec.pull_request
        assert number is not None
        ranked: list[tuple[int, int, Commit]] = []
        for age, commit in enumerate(self._line(self.refs["HEAD"], MAX_HISTORY)):
            style = style_of(commit.message, number)
            if head.id in commit.parents[1:]:
                style = -1
            elif style is None and (commit.author, commit.message) == (head.author, head.message):
                style = len(_STYLES)
            if style is not None:
                ranked.append((style, -age, commit))
        return [commit for _, _, commit in sorted(ranked, key=lambda r: r[:2])][:50]

    def _refuse(self, head: str, looked_at: Sequence[Commit]) -> NoReturn:
        raise Refused(
            "NB_GIT_IDENTITY",
            f"no commit is proven to be the merge of {self._ref} ({head})",
            where=f"{self._where}.pull_request",
            details=tuple(f"not it: {c.id} {c.message.splitlines()[0][:80]!r}" for c in looked_at if c.message),
            hint="name the right merge_commit and base_commit in the task (without pull_request when its head was "
            "changed after the merge)",
        )

    # The proof ----------------------------------------------------------------------------------------------------

    def _proven(self, merges: Sequence[Commit], head: Commit) -> Landing | None:
        for merge in merges:
            for candidate in self._readings(merge, head):
                if candidate.identity == "merge" or self._same_change(candidate, head):
                    return Landing(merge=merge.id, base=candidate.base, identity=candidate.identity)
        return None

    def _readings(self, merge: Commit, head: Commit) -> Iterator[_Candidate]:
        if not merge.parents or merge.id == head.id:
            return
        if head.id in merge.parents[1:]:
            yield _Candidate(merge=merge, base=merge.parents[0], identity="merge")
            return
        yield _Candidate(merge=merge, base=merge.parents[0], identity="squash")
        base = self._rebased_onto(merge, head)
        if base is not None:
            yield _Candidate(merge=merge, base=base, identity="rebase")

    def _rebased_onto(self, merge: Commit, head: Commit) -> str | None:
        """What the pull request's commits, as they stand on the main line, were put upon."""
        own = _ids(self.history, f"--max-count={MAX_REBASED}", "--no-merges", "--topo-order", head.id, f"^{merge.id}")
        line = list(self._line(merge.id, len(own)))
        pairs = zip(commits_of(self.history, own, where=safe(self.spec.url)), line, strict=False)
        same = all((a.author, a.message) == (b.author, b.message) for a, b in pairs)
        return line[-1].parents[0] if len(own) > 1 and len(line) == len(own) and same and line[-1].parents else None

    def _same_change(self, candidate: _Candidate, head: Commit) -> bool:
        shared = self.history.run("merge-base", candidate.base, head.id).output.decode().strip()
        if not shared:
            return False
        if shared == candidate.base and head.tree == candidate.merge.tree:
            return True
        landed, asked = (candidate.base, candidate.merge.id), (shared, head.id)
        wanted = sorted({*landed, *asked})
        if lacking(self.trees, [f"{name}^{{tree}}" for name in wanted]):
            self.remote.commits(self.trees, wanted, files=False)
        there, here = self._files(*landed), self._files(*asked)
        if there == here or there.keys() != here.keys():
            return bool(there) and there == here
        # The main line changed the same files meanwhile: what counts is the lines.
        facts = (*there.values(), *here.values())
        blobs = {f[n + 2] for f in facts for n in (0, 1) if f[n] not in ("000000", "160000")}
        lost = lacking(self.trees, sorted(blobs))
        if lost and self.remote.files(self.trees, lost):
            return False
        return self._patch_id(*landed) == self._patch_id(*asked) != b""

    def _files(self, old: str, new: str) -> dict[bytes, tuple[str, ...]]:
        """The paths that differ, each with its modes and its blobs before and after."""
        parts = self.trees.read("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new).split(
            b"\0"
        )
        facts = (tuple(part.decode()[1:].split(" ")[:4]) for part in parts[:-1:2])
        return dict(zip(parts[1::2], facts, strict=True))

    def _patch_id(self, old: str, new: str) -> bytes:
        patch = self.trees.read("diff-tree", *_DIFF, old, new)
        return self.trees.read("patch-id", "--stable", stdin=patch).partition(b" ")[0]

    # What is fetched and read -------------------------------------------------------------------------------------

    def _fetch(self, start: str) -> str | None:
        """Have the history of ``start`` and of the pull request; the latter's head, when the server has it."""
        if self.spec.pull_request is None:
            self.remote.refs(self.history, "HEAD", needed=[start])
            self.remote.commit(self.history, start)
            return None
        self.refs.update(self.remote.refs(self.history, "HEAD", self._ref))
        head = self.refs.get(self._ref)
        wants = [start] + ([self._ref] if head else [])
        self.remote.history(self.history, wants)
        return head

    @property
    def _ref(self) -> str:
        return f"refs/pull/{self.spec.pull_request}/head"

    @property
    def _where(self) -> str:
        return f"{self.remote.where}: source"

    def _commit(self, name: str) -> Commit:
        return commit_of(self.history, name, where=safe(self.spec.url))

    def _line(self, start: str, count: int) -> Iterator[Commit]:
        """The main line from ``start`` backwards."""
        names = _ids(self.history, "--first-parent", f"--max-count={count}", start)
        return commits_of(self.history, names, where=safe(self.spec.url))


def _ids(git: Git, *arguments: str) -> list[str]:
    return git.read("rev-list", *arguments).decode().split()
