"""One tree, scanned: every place of it that has something of the solution."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from attrs import field, frozen

from nanobench.archives.entries import entries_of
from nanobench.archives.names import shown
from nanobench.formats.converter import structure, unstructure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.leaks.contents import Contents, Piece
from nanobench.leaks.copies import Project, newer_copy
from nanobench.leaks.found import Found
from nanobench.leaks.search import Search
from nanobench.model.fields import Digest
from nanobench.store.store import Store

_NAMED = 200
"""How many places of a tree are named; where more is found, that is enough."""


@frozen(kw_only=True)
class Scanned:
    """A tree's places, sorted. ``unread`` names what could not be looked into; ``files`` counts what was."""

    found: tuple[Found, ...] = ()
    unread: tuple[str, ...] = ()
    files: int = 0


@frozen(kw_only=True)
class Scanner:
    """What is looked for, and the project's names."""

    search: Search
    projects: tuple[Project, ...] = field(factory=tuple)

    def layer(self, digest: Digest, tree: Path, *, store: Store) -> Scanned:
        """A layer's tree, scanned; what came of it is recalled for as long as the same is looked for."""
        recipe = document_sha256(
            {
                "leaks": _rules(),
                "layer": digest,
                "wanted": self.search.wanted.identity(),
                "projects": [[p.ecosystem, p.name, p.version] for p in self.projects],
            }
        )
        known = store.recall(recipe)
        if known is not None:
            return structure(known, Scanned, where=f"recipe {recipe}")
        scanned = self.tree(tree)
        store.remember(recipe, unstructure(scanned))
        return scanned

    def tree(self, root: Path) -> Scanned:
        """Everything below ``root``. No link is followed, so nothing outside is looked at."""
        contents, found, files = Contents(), dict[tuple[str, str], Found](), 0
        for entry in entries_of(root, epoch=0):
            if entry.kind != "file" or entry.content is None:
                continue
            files += 1
            with entry.content() as file:
                for piece in contents.of(f"/{shown(entry.path)}", file, entry.size):
                    for seen in self._seen(piece):
                        found.setdefault((seen.place, seen.by), seen)
        named = sorted(found.values(), key=lambda f: (f.place, f.by))
        return Scanned(
            found=tuple(named[:_NAMED]),
            unread=tuple(sorted(contents.unread)[:_NAMED]),
            files=files,
        )

    def _seen(self, piece: Piece) -> Iterator[Found]:
        search, path, data = self.search, piece.path, piece.data
        for by, texts, places in (
            ("lines", search.runs(data), search.wanted.runs),
            ("names", search.words(path, data), search.wanted.words),
        ):
            if texts:
                yield Found(place=path, by=by, what=min(places[text] for text in texts), count=len(texts))
        if piece.whole and (what := search.file(data)):
            yield Found(place=path, by="file", what=what)
        if search.answers(path, data):
            yield Found(place=path, by="answer", what="the answer")
        if piece.whole and (copy := newer_copy(path, data, self.projects)):
            yield Found(place=path, by="version", what=copy)


@cache
def _rules() -> str:
    """The sha256 of this package: with other rules, nothing is recalled."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256_hex(b"".join(file.read_bytes() for file in files))
