"""Merged changes of git repositories, pinned: base is the tree before the merge, the solution is the one after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen

from nanobench.archives.unpack import unpack_layer
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.model.task import GitSource
from nanobench.model.upstream import LockedUpstream, PinnedTree
from nanobench.sources.clean import clean
from nanobench.sources.interface import Blob, Pinned, Trees
from nanobench.sources.workspace import EPOCH


@frozen(kw_only=True)
class MergedChange:
    """The source of a ``git`` task whose commits are known."""

    spec: GitSource
    upstream: LockedUpstream
    where: str

    def packages(self) -> tuple[Package, ...]:
        """None: no registry has them."""
        return ()

    def pinned(self) -> tuple[Pinned, ...]:
        """The tars of both trees."""
        return tuple(
            Pinned(digest=side.archive, size=side.size) for side in (self.upstream.base, self.upstream.merge)
        )

    def identity(self) -> Any:
        """The tars, and what a build is told."""
        return [self.upstream.base.archive, self.upstream.merge.archive, self.upstream.version or ""]

    def stage(self, blob: Blob, work: Path) -> Trees:
        """Unpack both tars into ``work`` and clean the trees."""
        base, base_dropped = _tree(self.upstream.base, blob, work / "base")
        merge, merge_dropped = _tree(self.upstream.merge, blob, work / "merge")
        dropped = (*(f"base: {p}" for p in base_dropped), *(f"solution: {p}" for p in merge_dropped))
        return Trees(base=base, solution=merge, version=self.upstream.version, dropped=dropped)


def _tree(side: PinnedTree, blob: Blob, dest: Path) -> tuple[Path, tuple[str, ...]]:
    dest.mkdir()
    unpack_layer(blob(Digest(side.archive)), dest)
    return dest, clean(dest, where=f"commit {side.commit}", mtime=EPOCH)
