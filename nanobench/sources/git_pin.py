"""From a git source to its pins, and from pins again to the same bytes: two commits, each tree as a canonical tar.

The tars are in the store; what is made of a task afterwards needs neither git nor the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from nanobench.archives.layer import write_layer
from nanobench.errors import CannotTell, Refused
from nanobench.model.task import GitSource
from nanobench.model.upstream import LockedUpstream, PinnedTree
from nanobench.sources.git_commit import Commit, commit_of
from nanobench.sources.git_history import history_of
from nanobench.sources.git_landing import Landing, landing_of
from nanobench.sources.git_remote import Remote, lacking, safe
from nanobench.sources.git_run import Git
from nanobench.sources.git_tree import Leaf, entries_from, leaves_of, without
from nanobench.sources.git_version import FILES, counts_tags, version_at
from nanobench.sources.workspace import EPOCH
from nanobench.store.store import Store

_MAX_FILE = 1 << 20


def pin(spec: GitSource, remote: Remote, store: Store) -> LockedUpstream:
    """Resolve a source and put both trees into the store.

    Raises:
        CannotTell: ``NB_UNREACHABLE``, ``NB_GIT_OBJECT``, ``NB_GIT_ABSENT``: exactly what could not be had.
        Refused: what :func:`nanobench.sources.git_landing.landing_of` raises; a tree that no tree of ours may be;
            ``NB_NO_TAG`` or ``NB_VERSION_SCHEME`` when a version is needed and none can be computed.
    """
    with store.scratch("git") as work:
        landing = landing_of(spec, remote, work)
        git = Git(work / "contents")
        base, merge = _sides(spec, (landing.base, landing.merge), remote, git)
        _check_globs(spec, (*base.absent, *merge.absent), remote.where)
        return LockedUpstream(
            identity=landing.identity,
            merged_at=merge.commit.date,
            version=_version(spec, base, landing, remote, git, work),
            absent=_absent(base, merge),
            base=_pack(base, git, store),
            merge=_pack(merge, git, store),
            history=history_of(landing.merge, remote, work),
        )


def repin(spec: GitSource, upstream: LockedUpstream, remote: Remote, store: Store) -> None:
    """Put the trees of a lock into the store again.

    Raises:
        CannotTell: as :func:`pin`.
        Refused: ``NB_UPSTREAM_DIFFERS`` when a tree or its tar is not the locked one.
    """
    with store.scratch("git") as work:
        git = Git(work / "contents")
        locked = (upstream.base, upstream.merge)
        remote.refs(git, "HEAD", needed=[side.commit for side in locked])
        sides = _sides(spec, tuple(side.commit for side in locked), remote, git)
        found = tuple(_pack(side, git, store) for side in sides)
    pairs = zip(locked, found, strict=True)
    differing = tuple(f"found {new}, locked {old}" for old, new in pairs if old != new)
    if differing:
        raise Refused("NB_UPSTREAM_DIFFERS", "not the locked trees", where=remote.where, details=differing)


@frozen(kw_only=True)
class _Side:
    """Base or merge: what of its tree stays and what is left out."""

    name: str
    commit: Commit
    leaves: tuple[Leaf, ...]
    absent: tuple[Leaf, ...]


def _sides(spec: GitSource, commits: Sequence[str], remote: Remote, git: Git) -> tuple[_Side, ...]:
    # What is left out need not be given: then no more than the trees is asked for at once.
    remote.commits(git, set(commits), files=not spec.absent_paths)
    sides = tuple(_side(spec, name, commit, git) for name, commit in zip(("base", "merge"), commits, strict=True))
    blobs = {leaf.object for side in sides for leaf in side.leaves if leaf.kind != "submodule"}
    missing = frozenset(lacking(git, sorted(blobs)))
    if missing:
        missing = remote.files(git, missing)
    _check_all_there(sides, missing, remote)
    return sides


def _side(spec: GitSource, name: str, commit: str, git: Git) -> _Side:
    found = commit_of(git, commit, where=safe(spec.url))
    leaves, absent = without(leaves_of(git, found.tree, where=f"{name} {commit}"), spec.absent_paths)
    return _Side(name=name, commit=found, leaves=leaves, absent=absent)


def _check_all_there(sides: Sequence[_Side], missing: frozenset[str], remote: Remote) -> None:
    lost = {
        f"{leaf.shown}: " + (f"submodule at {leaf.object}" if leaf.kind == "submodule" else f"blob {leaf.object}")
        for side in sides
        for leaf in side.leaves
        if leaf.kind == "submodule" or leaf.object in missing
    }
    if lost:
        raise CannotTell(
            "NB_GIT_ABSENT",
            f"{len(lost)} paths cannot be had: submodules are never followed, and {safe(remote.url)} lacks blobs",
            where=f"{remote.where}: source.url",
            details=tuple(sorted(lost)),
            hint="name a server that has the blobs, or list under source.absent_paths what the task can do without",
        )


def _check_globs(spec: GitSource, absent: Sequence[Leaf], where: str) -> None:
    idle = tuple(glob for glob in spec.absent_paths if not without(absent, [glob])[1])
    if idle:
        raise Refused(
            "NB_GIT_ABSENT",
            "absent_paths that name nothing",
            where=f"{where}: source.absent_paths",
            details=idle,
            hint="take them out of the task",
        )


def _absent(*sides: _Side) -> tuple[str, ...]:
    return tuple(sorted(f"{side.name}: {leaf.shown}" for side in sides for leaf in side.absent))


def _pack(side: _Side, git: Git, store: Store) -> PinnedTree:
    where = f"{side.name} {side.commit.id}"
    with entries_from(git, side.leaves, epoch=EPOCH, where=where) as entries, store.incoming() as incoming:
        facts = write_layer(entries, incoming, epoch=EPOCH)
    return PinnedTree(commit=side.commit.id, tree=side.commit.tree, archive=facts.diff_id, size=facts.size)


def _version(spec: GitSource, base: _Side, landing: Landing, remote: Remote, git: Git, work: Path) -> str | None:
    files = {leaf.path: _text(leaf, git) for leaf in base.leaves if leaf.path in FILES and leaf.kind == "file"}
    if spec.pretend_version or not counts_tags(files):
        return spec.pretend_version
    tagged = Git(work / "tagged")
    remote.history(tagged, [landing.base, "+refs/tags/*:refs/tags/*"])
    return version_at(tagged, landing.base, files, where=f"{remote.where}: source.pretend_version")


def _text(leaf: Leaf, git: Git) -> str:
    return git.read("cat-file", "blob", leaf.object, limit=_MAX_FILE).decode("utf-8", "replace")
