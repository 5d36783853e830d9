"""The project's own lockfile: which tarballs it names, and the one spelling of it that is installed from."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nanobench.archives.names import shown
from nanobench.ecosystems.npm_lockfile import Placed, fits, placed_as
from nanobench.ecosystems.pnpm_lockfile import importers_of, read_pnpm_lock
from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.formats.digest import sha256_hex
from nanobench.model.environment import NodeRequest
from nanobench.model.fields import Document
from nanobench.model.lock import Lockfile
from nanobench.store.plain_file import read_below

LOCKFILES = {"npm": "package-lock.json", "pnpm": "pnpm-lock.yaml"}
_MAX_LOCKFILE = 32 << 20
_MAX_MANIFEST = 1 << 20


def lockfile_of(request: NodeRequest, tree: Path) -> tuple[Lockfile, tuple[Placed, ...]]:
    """The lockfile in a base tree, and every tarball that the request wants of it.

    Args:
        tree: a clean base tree on the host; nothing in it is followed or run.

    Raises:
        Refused: ``NB_NODE_LOCKFILE`` when there is none, ``NB_NODE_MANAGER`` when the project asks for another
            package manager, and what :mod:`.npm_lockfile` and :mod:`.pnpm_lockfile` refuse.
    """
    manager = request.manager.partition("@")[0]
    path = LOCKFILES[manager]
    data = read_plain(tree, path, limit=_MAX_LOCKFILE)
    if data is None:
        raise Refused(
            "NB_NODE_LOCKFILE",
            f"the project has no {path} at its base",
            where="node.lockfile",
            hint="name another manager, or give packages instead of a lockfile",
        )
    _check_manager(request, tree)
    if manager == "npm":
        placed = read_project_lock(data, where=path)
    else:
        names = {folder: _name(tree, folder) for folder in importers_of(data, where=path)}
        placed = read_pnpm_lock(data, names=names, filters=request.filters, where=path)
    return Lockfile(path=path, sha256=sha256_hex(data)), placed


def check_lockfile(locked: Lockfile, tree: Path, *, environment: str) -> None:
    """Make sure that a base tree has the lockfile that the environment's packages were pinned from.

    Raises:
        Refused: ``NB_NODE_LOCKFILE``.
    """
    data = read_plain(tree, locked.path, limit=_MAX_LOCKFILE)
    found = "none" if data is None else f"one of sha256 {sha256_hex(data)}"
    if data is None or sha256_hex(data) != locked.sha256:
        raise Refused(
            "NB_NODE_LOCKFILE",
            f"the environment's packages are of a {locked.path} of sha256 {locked.sha256}; the base has {found}",
            where=f"environments/{environment}.toml: node.lockfile",
            hint="give this task an environment of its own (a copy of the file under another name)",
        )


def read_plain(tree: Path, path: str, *, limit: int) -> bytes | None:
    """The bytes of a regular file of a hostile tree; ``None`` when there is none. No link is followed.

    Raises:
        Refused: ``NB_NODE_LOCKFILE`` for anything but a plain file of at most ``limit`` bytes.
    """
    try:
        return read_below(tree, path, limit=limit)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused("NB_NODE_LOCKFILE", f"cannot be read: {error.strerror}", where=shown(path)) from error


def read_project_lock(data: bytes, *, where: str) -> tuple[Placed, ...]:
    """Every tarball that ``npm ci`` installs for a project on this platform, development packages too; one a version.

    Raises:
        Refused: as :func:`.npm_lockfile.read_package_lock`; ``NB_NODE_LINK`` for a link out of the workspace.
    """
    found: dict[str, Placed] = {}
    for target, entry in _tarballs(_packages(data, where), where):
        placed = placed_as(target, entry, f"{where}: {target}")
        known = found.setdefault(placed.purl, placed)
        if known.digest != placed.digest:
            raise Refused("NB_INTEGRITY", "two different files of one version", where=f"{where}: {target}")
    return tuple(sorted(found.values(), key=lambda p: (p.name, p.version)))


def with_registry(data: bytes, registry: str, *, where: str) -> bytes:
    """The same package-lock with every tarball at ``registry``, wherever it pointed to before."""
    document = json.parse(data, where=where, null=True)
    for target, entry in _tarballs(document["packages"], where):
        entry["resolved"] = f"{registry}/{placed_as(target, entry, where).path}"
    return json.pretty(document)


def _packages(data: bytes, where: str) -> Document:
    document = json.parse(data, where=where, null=True)
    packages = document.get("packages")
    if document.get("lockfileVersion") not in (2, 3) or not isinstance(packages, dict):
        raise Refused("NB_NPM_LOCK", "not a package-lock of version 2 or 3", where=where)
    return packages


def _tarballs(packages: Document, where: str) -> Iterator[tuple[str, Document]]:
    """The entries that are files of a registry and for this platform."""
    for target, entry in packages.items():
        at = f"{where}: {target}"
        if not isinstance(entry, dict) or target.startswith("/") or ".." in target.split("/"):
            raise Refused("NB_NODE_LINK", "not a place in the workspace", where=at)
        if entry.get("link"):
            _check_link(entry.get("resolved"), at)
        elif "node_modules/" in target and not entry.get("inBundle"):
            if fits(entry):
                yield target, entry
            elif not (entry.get("optional") or entry.get("devOptional")):
                raise Refused("NB_NPM_PLATFORM", "needed, but not for this platform", where=at)


def _check_link(resolved: Any, where: str) -> None:
    if not isinstance(resolved, str) or resolved.startswith(("/", "file:")) or ".." in resolved.split("/"):
        raise Refused("NB_NODE_LINK", f"the link {resolved!r:.120} leads out of the workspace", where=where)


def _check_manager(request: NodeRequest, tree: Path) -> None:
    stated = str(_manifest(tree, ".").get("packageManager", ""))
    if stated and stated.partition("+")[0] != request.manager:
        raise Refused(
            "NB_NODE_MANAGER",
            f"asked for {request.manager}; the project states {stated!r:.80} (packageManager)",
            where="node.manager",
            hint="another version may lay out or read the lockfile differently: ask for the project's own",
        )


def _name(tree: Path, folder: str) -> str:
    return str(_manifest(tree, folder).get("name", ""))


def _manifest(tree: Path, folder: str) -> Document:
    path = "package.json" if folder == "." else f"{folder}/package.json"
    data = read_plain(tree, path, limit=_MAX_MANIFEST)
    try:
        document = json.foreign((data or b"{}").removeprefix(BOM_UTF8))
    except ValueError as error:
        raise Refused("NB_NODE_MANIFEST", f"not JSON: {error!s:.200}", where=path) from error
    return document if isinstance(document, dict) else {}
