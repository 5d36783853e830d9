"""Release pairs: the base is one published archive (an sdist, an npm tarball), the solution the next release's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import frozen
from packageurl import PackageURL

from nanobench.archives.reader import extract
from nanobench.errors import Refused
from nanobench.formats.digest import from_integrity
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.model.task import Archive, ArchiveSource
from nanobench.sources.clean import clean
from nanobench.sources.interface import Blob, Pinned, Trees
from nanobench.sources.workspace import EPOCH

_ENDINGS = (".tar.gz", ".tgz", ".tar", ".zip")


@frozen(kw_only=True)
class ReleasePair:
    """The source of an ``archive`` task. ``where`` names the task file in messages."""

    spec: ArchiveSource
    where: str

    def __attrs_post_init__(self) -> None:
        base, solution = (_named(a, self.where) for a in (self.spec.base, self.spec.solution))
        if base.to_dict() | {"version": None} != solution.to_dict() | {"version": None}:
            raise Refused(
                "NB_SOURCE", f"{solution} is no release of {base}", where=f"{self.where}: source.solution.purl"
            )
        if base.version == solution.version or _digest(self.spec.base) == _digest(self.spec.solution):
            raise Refused("NB_SOURCE", "base and solution are the same release", where=f"{self.where}: source")

    def packages(self) -> tuple[Package, ...]:
        """The two archives."""
        return tuple(_package(a, self.where) for a in (self.spec.base, self.spec.solution))

    def pinned(self) -> tuple[Pinned, ...]:
        """The same two."""
        return tuple(Pinned(digest=p.digest, size=p.size) for p in self.packages())

    def identity(self) -> Any:
        """Names and digests."""
        return [[p.purl, p.digest] for p in self.packages()]

    def stage(self, blob: Blob, work: Path) -> Trees:
        """Extract both archives into ``work`` and clean the trees."""
        base, base_dropped = _tree(self.spec.base, blob, work / "base")
        solution, solution_dropped = _tree(self.spec.solution, blob, work / "solution")
        purl = PackageURL.from_string(self.spec.base.purl)
        dropped = (*(f"base: {p}" for p in base_dropped), *(f"solution: {p}" for p in solution_dropped))
        return Trees(base=base, solution=solution, project=purl.name, version=str(purl.version), dropped=dropped)


def _named(archive: Archive, where: str) -> PackageURL:
    """The release, whose version must be that of the file: no lock may call one release by another's name."""
    purl = PackageURL.from_string(archive.purl)
    if not archive.file.endswith(tuple(f"-{purl.version}{ending}" for ending in _ENDINGS)):
        message = f"{archive.file} is no archive of version {purl.version}"
        hint = "purl and file name the same release; spell the version as the file does"
        raise Refused("NB_SOURCE", message, where=f"{where}: source: {archive.purl}", hint=hint)
    return purl


def _package(archive: Archive, where: str) -> Package:
    purl = PackageURL.from_string(archive.purl)
    digest, size = _digest(archive), archive.size
    if purl.type == "pypi":
        return Package(purl=archive.purl, role="python", path=f"{purl.name}/{archive.file}", digest=digest, size=size)
    if purl.type == "npm":
        name = f"{purl.namespace}/{purl.name}" if purl.namespace else purl.name
        return Package(purl=archive.purl, role="npm", path=f"{name}/-/{archive.file}", digest=digest, size=size)
    raise Refused("NB_SOURCE", f"archives of type {purl.type} are not supported yet", where=f"{where}: source")


def _digest(archive: Archive) -> Digest:
    if archive.integrity is not None:
        return from_integrity(archive.integrity, where=archive.purl)
    return Digest(f"sha256:{archive.sha256}")


def _tree(archive: Archive, blob: Blob, dest: Path) -> tuple[Path, tuple[str, ...]]:
    extract(blob(_digest(archive)), dest, where=archive.file, strip=1)
    return dest, clean(dest, where=archive.file, mtime=EPOCH)
