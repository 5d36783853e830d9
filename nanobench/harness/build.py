"""A packed build of Nanocoder that no registry has: what `npm pack` or `pnpm pack` of any branch writes.

The archive is foreign: it is pinned by its sha256, and of its words only the version and the names and ranges of its
dependencies are taken. npm resolves those and never sees the archive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.archives.reader import extract
from nanobench.ecosystems.npm_lockfile import NAME
from nanobench.errors import CannotTell, Misuse, Refused
from nanobench.harness import foreign_json
from nanobench.model.fields import IDENTIFIER, Digest, Document
from nanobench.model.lock import Package
from nanobench.store.store import Store

NANOCODER = "@nanocollective/nanocoder"
MAX_BYTES = 512 << 20
TARGET = f"node_modules/{NANOCODER}"
_MANIFEST, _ENTRY = "package.json", "dist/cli.js"
_MAX_MANIFEST, _MAX_DEPENDENCIES = 1 << 20, 1000
_CHUNK = 1 << 20
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9a-z.-]+)?")
# Ranges, tags and aliases of the registry. Anything else would send npm to a host, a repository or a folder.
_RANGE = re.compile(r"(?:npm:(?:@[\w.-]+/)?[\w.-]+@)?[\w.^~<>=|*+ -]*")


@frozen(kw_only=True)
class Build:
    """What a packed build says of itself; ``dependencies`` and ``optional`` are name → range."""

    digest: Digest
    size: int
    version: str
    dependencies: Mapping[str, str]
    optional: Mapping[str, str]

    @property
    def package(self) -> Package:
        """Its entry in the lock. ``path`` is what `npm pack` calls it: there is no registry that it is below."""
        return Package(
            purl=f"pkg:generic/nanocoder@{self.version}",
            role="npm",
            path=f"nanocollective-nanocoder-{self.version}.tgz",
            digest=self.digest,
            size=self.size,
            target=TARGET,
        )


def import_build(path: Path, store: Store) -> Digest:
    """Keep the archive's bytes in the store; their sha256.

    Raises:
        Misuse: ``NB_NO_FILE`` when there is no regular file that can be read.
        Refused: ``NB_BUILD`` for one that is too large.
    """
    if not path.is_file():
        raise Misuse("NB_NO_FILE", "there is no such file", where=str(path))
    try:
        with path.open("rb") as file, store.incoming() as incoming:
            while chunk := file.read(_CHUNK):
                if incoming.written + len(chunk) > MAX_BYTES:
                    raise _refused(f"more than {MAX_BYTES} bytes", str(path))
                incoming.write(chunk)
    except OSError as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=str(path)) from None
    return incoming.digest


def read_build(digest: Digest, store: Store) -> Build:
    """What the build of this sha256 says of itself. The whole archive is unpacked for it, and so looked at.

    Raises:
        Refused: ``NB_BUILD`` when it is no built Nanocoder, or asks for what no registry has; ``NB_ARCHIVE_…``.
        CannotTell: ``NB_BUILD_MISSING`` when the store does not hold it.
    """
    check_here(digest, store)
    archive = store.blob(digest)
    with store.scratch("build") as scratch:
        extract(archive, scratch / "package", where=digest, strip=1)
        document = _manifest(scratch / "package", digest)
    return Build(
        digest=digest,
        size=archive.stat().st_size,
        version=_version(document, digest),
        dependencies={**_table(document, "peerDependencies", digest), **_table(document, "dependencies", digest)},
        optional=_table(document, "optionalDependencies", digest),
    )


def check_here(digest: Digest, store: Store) -> None:
    """Make sure that the store holds a build, which can be fetched from nowhere."""
    if not store.has(digest):
        raise CannotTell(
            "NB_BUILD_MISSING",
            "a packed build of Nanocoder that no registry has is not in the store",
            where=digest,
            hint="`nanobench lock --nanocoder PATH.tgz` with the file of this sha256 brings it",
        )


def _manifest(package: Path, where: str) -> Document:
    for name in (_MANIFEST, _ENTRY):
        if not (package / name).is_file():
            raise _refused(f"it has no {name}", where)
    try:
        document = foreign_json.parse((package / _MANIFEST).read_bytes(), limit=_MAX_MANIFEST)
    except (ValueError, RecursionError) as error:
        raise _refused(f"its {_MANIFEST} cannot be read: {error}", where) from None
    if not isinstance(document, dict) or document.get("name") != NANOCODER:
        raise _refused(f"its {_MANIFEST} is not of {NANOCODER}", where)
    return document


def _version(document: Document, where: str) -> str:
    version = document.get("version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise _refused(f"its version is {version!r:.60}, not like 1.31.0 or 1.31.0-beta.1", where)
    if not re.fullmatch(IDENTIFIER, f"nanocoder-{version}-{8 * '0'}-2026-01-01"):
        raise _refused(f"its version is too long: {version:.60}", where)
    return version


def _table(document: Document, key: str, where: str) -> dict[str, str]:
    table = document.get(key, {})
    if not isinstance(table, dict) or len(table) > _MAX_DEPENDENCIES:
        raise _refused(f"{key} is no table of at most {_MAX_DEPENDENCIES} packages", where)
    for name, wanted in table.items():
        if not NAME.fullmatch(name) or not isinstance(wanted, str) or not _RANGE.fullmatch(wanted):
            raise _refused(f"{key}: {name!r:.80}: {wanted!r:.80} is no package of a registry", where)
    return table


def _refused(message: str, where: str) -> Refused:
    hint = "build Nanocoder, then pack it with `pnpm pack` or `npm pack`"
    return Refused("NB_BUILD", f"not a packed build of Nanocoder: {message}", where=where, hint=hint)
