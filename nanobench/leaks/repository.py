"""The repository that an agent finds: does everything in it hang on the base commit?

Its configuration is not read and git is not run. What the objects contain is looked at where all files are; here it
is asked which there are, and what names them: references, reflogs, ``FETCH_HEAD``, stashes, notes, worktrees.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from nanobench.archives.bounds import Meter
from nanobench.archives.entries import Entry, entries_of
from nanobench.archives.names import shown
from nanobench.errors import CannotTell, Refused
from nanobench.leaks.contents import BOUNDS, MOST_PACKED, Inflated, upto
from nanobench.leaks.found import Found
from nanobench.leaks.git_objects import GitObject, links, loose_object, packed_objects
from nanobench.leaks.runs import squeezed
from nanobench.leaks.search import Texts
from nanobench.leaks.wanted import Wanted
from nanobench.sandbox.interface import WORKSPACE
from nanobench.store.plain_file import read_below

_PLACE = f"{WORKSPACE}/.git"

_ID = re.compile(rb"\b[0-9a-f]{40}\b")
_NOBODY = "0" * 40
_MOST = 64 << 20
_SILENT = re.compile(
    r"objects/|hooks/|modules/|info/(exclude|attributes|sparse-checkout)$|(config|description|index)$"
)
"""Files of a repository that name no object; those of submodules are repositories of their own."""

_ALTERNATES = re.compile(r"objects/info/(http-)?alternates$")


@frozen(kw_only=True)
class Repository:
    """A repository as it lies on disk: ``objects`` are kind and links by id, ``named`` is what each of its files
    names, ``borrowed`` are the files that lead to another repository's objects."""

    folder: Path
    objects: dict[str, tuple[str, tuple[str, ...]]]
    named: dict[str, tuple[str, ...]]
    borrowed: tuple[str, ...]
    head: str | None

    @classmethod
    def read(cls, folder: Path) -> Repository:
        """The repository in ``folder``, the workspace's ``.git``.

        Raises:
            Refused: ``NB_LEAK_REPOSITORY`` when there is none.
            CannotTell: ``NB_LEAK_REPOSITORY`` when a pack or an object cannot be read whole.
        """
        if folder.is_symlink() or not (folder / "objects").is_dir() or (folder / "objects").is_symlink():
            raise Refused("NB_LEAK_REPOSITORY", "no repository of its own is there", where=_PLACE)
        objects = {found.id: (found.kind, links(found)) for found in _objects(folder)}
        files = [entry for entry in entries_of(folder, epoch=0) if entry.kind in ("file", "hardlink")]
        named = {shown(e.path): _ids(folder, e) for e in files if not _SILENT.match(e.path)}
        borrowed = tuple(sorted(e.path for e in files if _ALTERNATES.fullmatch(e.path)))
        return cls(folder=folder, objects=objects, named=named, borrowed=borrowed, head=_head(folder))

    @property
    def tree(self) -> str | None:
        """The tree of the commit that is checked out."""
        kind, linked = self.objects.get(self.head or "", ("", ()))
        return linked[0] if kind == "commit" and linked else None

    def files(self) -> Iterator[bytes]:
        """The content of every file of the commit that is checked out."""
        wanted = self._reached(self.tree)
        for found in _objects(self.folder):
            if found.kind == "blob" and found.id in wanted:
                yield found.data

    def blobs(self) -> set[str]:
        """The ids of these files."""
        return {found for found in self._reached(self.tree) if self.objects.get(found, ("",))[0] == "blob"}

    def strays(self, base_tree: str) -> tuple[Found, ...]:
        """Everything in it that is not the base commit's or older."""
        if self.tree != base_tree:
            what = f"the commit that is checked out has the tree {self.tree}, the base is {base_tree}"
            return (Found(place=f"{_PLACE}/HEAD", by="reference", what=what),)
        own = self._reached(self.head)
        found = [
            Found(place=f"{_PLACE}/{path}", by="reference", what=f"names {others[0]}", count=len(others))
            for path, ids in self.named.items()
            if (others := [i for i in ids if i not in own])
        ]
        strange = sorted(self.objects.keys() - own)
        for kind in ("commit", "tag", "tree", "blob"):
            ids = [i for i in strange if self.objects[i][0] == kind]
            if ids:
                what = f"{kind} {ids[0]} does not belong to the base"
                found.append(Found(place=f"{_PLACE}/objects", by=kind, what=what, count=len(ids)))
        found += [Found(place=f"{_PLACE}/{path}", by="alternates", what="borrows objects") for path in self.borrowed]
        return tuple(sorted(found, key=lambda f: (f.place, f.by)))

    def _reached(self, start: str | None) -> set[str]:
        reached: set[str] = set()
        pending = [start] if start else []
        while pending:
            name = pending.pop()
            if name not in reached:
                reached.add(name)
                pending += self.objects.get(name, ("", ()))[1]
        return reached


def new_to(repository: Repository, wanted: Wanted) -> Wanted:
    """Of what is wanted, what does not stand in the base tree anyway: moved code is no leak."""
    runs, words = Texts(wanted.runs.keys()), Texts(wanted.words.keys())
    texts: set[bytes] = set()
    for data in repository.files():
        texts |= runs.within(squeezed(data)) | words.within(data)
    return wanted.without(texts=texts, files=repository.blobs())


def _objects(folder: Path) -> Iterator[GitObject]:
    """Every object that is there, packed or loose."""
    place = folder / "objects"
    for entry in entries_of(place, epoch=0):
        if entry.kind in ("file", "hardlink") and _holds_objects(entry.path):
            try:
                data = read_below(place, entry.path, limit=MOST_PACKED)
                yield from _held(data, entry.path)
            except (OSError, Refused) as error:
                message = f"a pack or an object cannot be read whole: {error}"
                raise CannotTell("NB_LEAK_REPOSITORY", message, where=f"{_PLACE}/objects/{entry.path}") from None


def _held(data: bytes, path: str) -> Iterator[GitObject]:
    meter = Meter(BOUNDS, len(data), path)
    if path.endswith(".pack"):
        yield from packed_objects(data, meter, path)
    elif found := loose_object(upto(Inflated(io.BytesIO(data), meter, path), MOST_PACKED), meter, path):
        yield found


def _holds_objects(path: str) -> bool:
    return path.endswith(".pack") or re.fullmatch(r"[0-9a-f]{2}/[0-9a-f]{38}", path) is not None


def _ids(folder: Path, entry: Entry) -> tuple[str, ...]:
    data = read_below(folder, entry.path, limit=_MOST)
    return tuple(sorted({found.decode() for found in _ID.findall(data)} - {_NOBODY}))


def _head(folder: Path) -> str | None:
    """The commit that HEAD leads to, if any."""
    text = _small(folder, "HEAD").strip()
    if not text.startswith(b"ref: "):
        return text.decode("ascii", "replace")
    name = text[5:]
    loose = _small(folder, name.decode("utf-8", "replace")).strip()
    packed = re.search(rb"^([0-9a-f]{40}) %b$" % re.escape(name), _small(folder, "packed-refs"), re.MULTILINE)
    found = loose or (packed[1] if packed else b"")
    return found.decode("ascii", "replace") or None


def _small(folder: Path, path: str) -> bytes:
    try:
        return read_below(folder, path, limit=_MOST)
    except OSError:
        return b""
