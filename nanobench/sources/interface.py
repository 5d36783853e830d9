"""What every kind of source gives: the files to fetch, and from them two clean trees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from attrs import frozen

from nanobench.model.fields import Digest
from nanobench.model.lock import Package

Blob = Callable[[Digest], Path]
"""Where the verified bytes of a digest are (``Store.blob``)."""


@frozen(kw_only=True)
class Trees:
    """A task's two trees, clean (see :mod:`nanobench.sources.clean`), every time :data:`.workspace.EPOCH`.

    ``project`` and ``version`` are what the base calls itself, for builds that would ask git; without a project the
    version is for whatever is built, without a version nothing is told. ``dropped`` names what was left out, as
    ``base: path`` and ``solution: path``.
    """

    base: Path
    solution: Path
    project: str | None = None
    version: str | None
    dropped: tuple[str, ...]


@frozen(kw_only=True)
class Pinned:
    """A file by content: its digest and its size in bytes."""

    digest: Digest
    size: int


class Source(Protocol):
    """One kind of source."""

    def packages(self) -> tuple[Package, ...]:
        """The files of registries that it is made of."""

    def pinned(self) -> tuple[Pinned, ...]:
        """All files that must be in the store before :meth:`stage`."""

    def identity(self) -> Any:
        """Everything that :meth:`stage` depends on, as part of a document."""

    def stage(self, blob: Blob, work: Path) -> Trees:
        """Put the two trees into the empty directory ``work`` (no network)."""
