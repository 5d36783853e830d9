"""Which tarballs does a ``pnpm-lock.yaml`` (version 9) put into the chosen workspace packages, on this platform?

Rules only, no disk, no network. The selection follows pnpm's own: importers by filter, from them every snapshot that
can be reached, without what is optional and for another platform.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml
from attrs import define, field

from nanobench.ecosystems.npm_lockfile import Placed, checked, fits, tarball_path
from nanobench.errors import Refused
from nanobench.formats.digest import from_integrity
from nanobench.model.fields import Document

VERSION = "9.0"
_MAX_BYTES = 32 << 20
_MAX_DEPTH = 16
_EVENTS = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NEEDED = ("dependencies", "devDependencies", "optionalDependencies")


def read_pnpm_lock(
    data: bytes, *, names: Mapping[str, str], filters: Iterable[str], where: str
) -> tuple[Placed, ...]:
    """Every tarball that pnpm would ask for, sorted by name and version.

    Args:
        names: the package's name of each importer (workspace folder, ``.`` for the root).
        filters: as in the environment's spec; none means every importer.

    Raises:
        Refused: ``NB_NPM_LOCK`` for another version or an odd document; ``NB_NODE_FILTER`` for a filter that selects
            nothing; ``NB_NPM_SOURCE`` for a package of no registry; ``NB_NODE_LINK`` for a link out of the
            workspace; ``NB_INTEGRITY`` for a package without a sha512.
    """
    graph = _Graph(_parse(data, where), where)
    for importer in graph.selected(names, tuple(filters)):
        graph.follow(importer)
    return tuple(sorted(graph.found.values(), key=lambda p: (p.name, p.version)))


def importers_of(data: bytes, *, where: str) -> tuple[str, ...]:
    """The workspace folders of the lockfile, all below the root."""
    return tuple(_Graph(_parse(data, where), where).importers)


@define
class _Graph:
    document: Document
    where: str
    found: dict[str, Placed] = field(factory=dict)
    importers: Document = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.importers = self._table("importers")
        for path in self.importers:
            if path.startswith("/") or ".." in path.split("/"):
                raise Refused("NB_NODE_LINK", f"the workspace package {path!r:.120} is outside", where=self.where)

    def selected(self, names: Mapping[str, str], filters: tuple[str, ...]) -> list[str]:
        """The importers that the filters name, and the root, which pnpm installs whatever the filters are."""
        if not filters:
            return list(self.importers)
        chosen = dict.fromkeys(path for path in self.importers if path == ".")
        for wanted in filters:
            found = [path for path in self.importers if _matches(wanted, path, names.get(path))]
            if not found:
                known = ", ".join(sorted(names.values()))
                raise Refused("NB_NODE_FILTER", f"{wanted!r} selects nothing (known: {known})", where="node.filters")
            for path in found:
                chosen |= dict.fromkeys(self._below(path) if wanted.endswith("...") else [path])
        return list(chosen)

    def _below(self, path: str) -> dict[str, None]:
        """A workspace package and those that it depends on."""
        seen: dict[str, None] = {}
        pending = [path]
        while pending:
            path = pending.pop()
            if path not in seen:
                seen[path] = None
                links = [edge for edge in self.edges(self.importers[path]) if edge[1].startswith("link:")]
                targets = (_linked(path, reference, at) for _, reference, at in links)
                pending += [target for target in targets if target in self.importers]
        return seen

    def edges(self, node: Any) -> Iterator[tuple[str, str, str]]:
        """(name, reference, where) of everything that an importer or a snapshot depends on."""
        for kind in _NEEDED:
            for name, value in _mapping(_mapping(node, self.where).get(kind, {}), self.where).items():
                at = f"{self.where}: {kind} {name}"
                reference = value.get("version") if isinstance(value, dict) else value
                if not isinstance(reference, str) or not reference:
                    raise Refused("NB_NPM_LOCK", "no version", where=at)
                yield name, reference, at

    def follow(self, importer: str) -> None:
        """Take what an importer leads to, and all below it."""
        snapshots, seen = self._table("snapshots"), set()
        pending = [(importer, edge) for edge in self.edges(self.importers[importer])]
        while pending:
            base, (name, reference, at) = pending.pop()
            if reference.startswith("link:"):
                _linked(base, reference, at)
                continue
            key = _key(name, reference)
            if key in seen:
                continue
            seen.add(key)
            if key not in snapshots:
                raise Refused("NB_NPM_LOCK", f"no snapshot {key!r:.200}", where=at)
            if self._take(key.partition("(")[0], _mapping(snapshots[key], at), at):
                # Links of a snapshot (peers within the workspace) are relative to the root.
                pending += [(".", edge) for edge in self.edges(snapshots[key])]

    def _take(self, package: str, snapshot: Document, at: str) -> bool:
        """Whether a package is installed here; then it is among the found."""
        entry = _mapping(self._table("packages").get(package), at)
        if not fits(entry) and snapshot.get("optional") == "true":
            return False
        if package not in self.found:
            self.found[package] = _placed(package, entry, f"{self.where}: {package}")
        return True

    def _table(self, name: str) -> Document:
        return _mapping(self.document.get(name, {}), f"{self.where}: {name}")


def _matches(wanted: str, path: str, name: str | None) -> bool:
    if wanted.startswith("."):
        return path == (wanted.removeprefix("./") or ".")
    return name == wanted.removesuffix("...")


def _linked(base: str, reference: str, where: str) -> str:
    """The folder below the root that a link of the folder ``base`` leads to."""
    target = reference.removeprefix("link:")
    path = posixpath.normpath(posixpath.join(base, target))
    if path.startswith("/") or path.split("/")[0] == "..":
        raise Refused("NB_NODE_LINK", f"the link {target!r:.120} leads out of the workspace", where=where)
    return path


def _key(name: str, reference: str) -> str:
    """The snapshot that a dependency refers to: an alias names the whole key, all else only the version."""
    if reference.startswith("@"):
        return reference
    at, others = reference.find("@"), [reference.find(mark) for mark in "(:"]
    whole = at > 0 and all(mark < 0 or at < mark for mark in others)
    return reference if whole else f"{name}@{reference}"


def _placed(package: str, entry: Document, where: str) -> Placed:
    name, _, version = package.rpartition("@")
    resolution = _mapping(entry.get("resolution", {}), where)
    if not name or ":" in version or "/" in version or not resolution.keys() <= {"integrity"}:
        other = ", ".join(sorted(resolution.keys() - {"integrity"})) or version
        raise Refused(
            "NB_NPM_SOURCE",
            f"not a package of the registry, by its name and version alone ({other!r:.120})",
            where=where,
            hint="packages from git, files or URLs cannot be pinned; lockfile-include-tarball-url must be off",
        )
    name, version = checked(name, version, where)
    digest = from_integrity(str(resolution.get("integrity", "")), where=where)
    path = tarball_path(name, version)
    return Placed(name=name, version=version, path=path, digest=digest)


def _mapping(value: Any, where: str) -> Document:
    if not isinstance(value, dict):
        raise Refused("NB_NPM_LOCK", "not a table where one must be", where=where)
    return value


def _parse(data: bytes, where: str) -> Document:
    if len(data) > _MAX_BYTES:
        raise Refused("NB_NPM_LOCK", f"{len(data)} bytes; at most {_MAX_BYTES} are read", where=where)
    try:
        document = _mapping(_Builder(where).build(yaml.parse(data, Loader=_EVENTS)), where)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        said = str(error).replace("\n", " ")
        raise Refused("NB_NPM_LOCK", f"not a YAML document: {said:.200}", where=where) from error
    if document.get("lockfileVersion") != VERSION:
        found = document.get("lockfileVersion")
        raise Refused(
            "NB_NPM_LOCK", f"lockfileVersion {found!r:.40}; {VERSION} (pnpm 9 and 10) is understood", where=where
        )
    return document


@define
class _Builder:
    """A document from YAML events: every scalar a string; no alias, no tag, no key twice, not too deep.

    By events and not by a loader: a loader follows nesting by recursion and aliases without end, and guesses types.
    """

    where: str

    def build(self, events: Iterator[Any]) -> Any:
        root: list[Any] = []
        stack: list[_Open] = [_Open(root)]
        for event in events:
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise self._odd("an anchor or alias", event)
            if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                made: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                stack[-1].add(made, self, event)
                stack.append(_Open(made))
                if len(stack) > _MAX_DEPTH:
                    raise self._odd("nested too deep", event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                stack.pop()
            elif isinstance(event, yaml.ScalarEvent):
                stack[-1].add(event.value, self, event)
        if len(root) != 1:
            raise Refused("NB_NPM_LOCK", f"{len(root)} documents instead of one", where=self.where)
        return root[0]

    def _odd(self, what: str, event: Any) -> Refused:
        return Refused("NB_NPM_LOCK", what, where=f"{self.where}: line {event.start_mark.line + 1}")


@define
class _Open:
    """A mapping or sequence that is being filled."""

    value: Any
    key: str | None = None

    def add(self, item: Any, builder: _Builder, event: Any) -> None:
        if isinstance(self.value, list):
            self.value.append(item)
        elif self.key is None:
            if not isinstance(item, str) or item in self.value:
                raise builder._odd("a key twice, or no plain key", event)
            self.key = item
        else:
            self.value[self.key], self.key = item, None
