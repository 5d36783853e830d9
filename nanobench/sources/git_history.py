"""What the main line up to a merge says of its repository: how active it is, and what its changes are like.

Facts for the repository matrix, by proxy: a commit of the main line stands for a merged change, and the files that a
change touches, with those that they import directly, for the files that must be read to understand it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from nanobench.errors import CannotTell, Refused
from nanobench.model.task import PathRules
from nanobench.model.upstream import LockedHistory, SampledChange
from nanobench.sources.git_commit import Commit, commits_of
from nanobench.sources.git_remote import Remote, lacking
from nanobench.sources.git_run import Git
from nanobench.sources.git_tree import leaves_of
from nanobench.sources.imports import imported, language_of
from nanobench.sources.kinds import kind_of

DAYS = 180
"""How far back from the merge changes are counted."""

SAMPLE = 5
"""Changes that are looked into: the newest up to the merge that change source files."""

_LOOKED_AT = 15
_MAX_COMMITS = 5000
_MAX_FILE = 1 << 20
_DAY = 24 * 3600


def history_of(merge: str, remote: Remote, work: Path) -> LockedHistory | None:
    """The facts, for a merge that the server has; None when its history cannot be had, or is none that may be read.

    Args:
        work: a private directory, for repositories.
    """
    try:
        return _history(merge, remote, work)
    except (CannotTell, Refused):
        return None


def _history(merge: str, remote: Remote, work: Path) -> LockedHistory:
    line = Git(work / "main")
    remote.history(line, [merge])
    names = line.read("rev-list", "--first-parent", f"--max-count={_MAX_COMMITS}", merge).decode().split()
    commits = list(commits_of(line, names, where=remote.where))
    since = commits[0].committed - DAYS * _DAY
    changes = sum(since <= commit.committed <= commits[0].committed for commit in commits)
    sample = _sample(commits[:_LOOKED_AT], remote, Git(work / "sample"))
    return LockedHistory(days=DAYS, changes=changes, sample=sample)


def _sample(commits: Sequence[Commit], remote: Remote, git: Git) -> tuple[SampledChange, ...]:
    pairs = [(commit, commit.parents[0]) for commit in commits if commit.parents]
    remote.commits(git, {name for commit, parent in pairs for name in (commit.id, parent)}, files=False)
    changed = [_Changed(commit=commit.id, files=_sources(git, parent, commit.id)) for commit, parent in pairs]
    chosen = [change for change in changed if change.files][:SAMPLE]
    blobs = sorted({blob for change in chosen for blob in change.files.values()})
    absent = remote.files(git, lacking(git, blobs)) if blobs else frozenset()
    return tuple(_looked_into(change, git, absent, remote.where) for change in chosen)


@frozen(kw_only=True)
class _Changed:
    """A change's commit, and the source files that it left, each with its blob."""

    commit: str
    files: dict[str, str]


def _sources(git: Git, old: str, new: str) -> dict[str, str]:
    said = git.read("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=AM", old, new)
    parts = said.split(b"\0")[:-1]
    paths = zip(parts[1::2], (part.decode().split(" ") for part in parts[::2]), strict=True)
    return {
        path.decode("utf-8", "surrogateescape"): facts[3]
        for path, facts in paths
        if facts[1].startswith("100") and kind_of(path, PathRules()) == "source"
    }


def _looked_into(change: _Changed, git: Git, absent: frozenset[str], where: str) -> SampledChange:
    tree = [leaf.path for leaf in leaves_of(git, f"{change.commit}^{{tree}}", where=where)]
    read = set(change.files)
    for path, blob in change.files.items():
        if blob not in absent:
            said = git.run("cat-file", "blob", blob, limit=_MAX_FILE)
            read |= imported(path, said.output.decode("utf-8", "replace"), tree)
    languages = {language for path in change.files if (language := language_of(path))}
    return SampledChange(
        commit=change.commit,
        languages=tuple(sorted(languages)),
        changed=len(change.files),
        read=len(read),
    )
