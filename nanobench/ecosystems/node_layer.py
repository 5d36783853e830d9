"""The ``node`` layer: Node and its package manager at ``/opt/node``, their commands on the path."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from attrs import evolve
from packageurl import PackageURL

from nanobench.archives.entries import Entry
from nanobench.archives.names import problem
from nanobench.archives.reader import extract
from nanobench.ecosystems.installed import stamped
from nanobench.ecosystems.npm import NODE
from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.model.lock import Package
from nanobench.store.store import Store

HOME = "opt/node"
COMMANDS = "usr/local/bin"
"""On the fixed path of every sandbox, before Debian's own."""


def assemble(packages: Iterable[Package], store: Store, scratch: Path, *, epoch: int) -> tuple[Entry, ...]:
    """The entries of the layer from the packages of role ``node``; they refer to files in ``scratch``.

    Raises:
        Refused: ``NB_NODE`` when a file is not what it should be.
    """
    pinned = {PackageURL.from_string(p.purl).name: p for p in packages if p.role == "node"}
    node = pinned.pop(NODE)
    extract(store.blob(node.digest), scratch, where=node.purl, strip=1)
    links = {"node": "bin/node"}
    for name, package in pinned.items():
        place = f"lib/node_modules/{name}"
        extract(store.blob(package.digest), scratch / place, where=package.purl, strip=1)
        links |= {command: f"{place}/{file}" for command, file in _bins(scratch / place, package.purl).items()}
    return tuple(_entries(scratch, links, epoch))


def manager_path(packages: Sequence[Package]) -> str:
    """Where the package manager's own command is inside."""
    name = next(n for n in (PackageURL.from_string(p.purl).name for p in packages if p.role == "node") if n != NODE)
    return f"/{COMMANDS}/{name}"


def _entries(tree: Path, links: dict[str, str], epoch: int) -> Iterator[Entry]:
    programs = {f"{HOME}/{file}" for file in links.values()}
    for entry in stamped(tree, prefix=HOME, epoch=epoch):
        yield evolve(entry, mode=0o755) if entry.path in programs else entry
    for command, file in links.items():
        link = f"/{HOME}/{file}"
        yield Entry(path=f"{COMMANDS}/{command}", kind="symlink", mode=0o777, mtime=epoch, link=link)


def _bins(package: Path, where: str) -> dict[str, str]:
    """Command → file of a package, as its manifest says."""
    try:
        named = json.foreign((package / "package.json").read_bytes())["bin"]
        bins = {command: posixpath.normpath(file) for command, file in named.items() if "/" not in command}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise Refused("NB_NODE", f"its package.json names no commands: {error!s:.200}", where=where) from error
    wrong = [file for file in bins.values() if problem(file) or not (package / file).is_file()]
    if wrong or not bins:
        raise Refused("NB_NODE", f"no usable commands ({', '.join(wrong) or 'none'})", where=where)
    return bins
