"""Fixtures: base, solution and hidden tests lie in the task's own folder, each file pinned by its content."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

from attrs import frozen

from nanobench.archives.below import Below
from nanobench.archives.names import shown, to_bytes
from nanobench.errors import CannotTell, Refused
from nanobench.model.fixture import LockedFiles, VendoredFile
from nanobench.model.lock import Package
from nanobench.model.task import PathRules
from nanobench.sources.clean import clean
from nanobench.sources.interface import Blob, Pinned, Trees
from nanobench.sources.kinds import kind_of
from nanobench.sources.question import MAX_ANSWER, heard, spoken
from nanobench.sources.vendored_files import ANSWER, FOLDERS, read_files
from nanobench.sources.workspace import EPOCH
from nanobench.store.files import full_disk, make_folder, write_all
from nanobench.store.store import Store


@frozen(kw_only=True)
class Vendored:
    """The source of a fixture.

    ``folder`` is where its files are, if they are at hand; the store may hold them too. ``rules`` must call the files
    of ``tests/`` tests and those of ``solution/`` not: the same rules sort an agent's patch.

    Raises:
        Refused: ``NB_VENDORED`` naming every file in the wrong folder.
    """

    files: LockedFiles
    rules: PathRules
    folder: Path | None
    where: str

    def __attrs_post_init__(self) -> None:
        wrong = []
        for folder, expected in (("solution", False), ("tests", True)):
            for path, file in self._in(folder).items():
                if (kind_of(to_bytes(path), self.rules) == "test") is not expected:
                    wrong.append(f"{file.path}: {'no' if expected else 'a'} test by the path rules")
        if wrong:
            hint = "tests belong into tests/, the rest into solution/; [paths] of the task corrects the rules"
            raise Refused("NB_VENDORED", "in the wrong folder", where=self.where, details=tuple(wrong), hint=hint)

    def packages(self) -> tuple[Package, ...]:
        """None: no registry has them."""
        return ()

    def pinned(self) -> tuple[Pinned, ...]:
        """All files."""
        return tuple(Pinned(digest=file.digest, size=file.size) for file in self.files.file)

    def identity(self) -> Any:
        """Path, mode and content of every file of the trees."""
        return [[file.path, file.mode, file.digest] for file in self.files.file if file.path != ANSWER]

    def stage(self, blob: Blob, work: Path) -> Trees:
        """Write the base, and once more with solution and tests over it."""
        base, base_dropped = self._lay(FOLDERS[:1], blob, work / "base")
        solution, solution_dropped = self._lay(FOLDERS, blob, work / "solution")
        dropped = (*(f"base: {p}" for p in base_dropped), *(f"solution: {p}" for p in solution_dropped))
        return Trees(base=base, solution=solution, version=None, dropped=dropped)

    def answer(self, blob: Blob) -> str | None:
        """The right answer, if the task asks for one; its file must be in the store.

        Raises:
            Refused: ``NB_VENDORED`` when it is not one plain line.
        """
        for file in self.files.file:
            if file.path == ANSWER:
                text = blob(file.digest).read_bytes().decode("utf-8", "replace").strip()
                if not 0 < len(text) <= MAX_ANSWER or heard(spoken(text)) != text:
                    message = f"not one line of at most {MAX_ANSWER} characters without quotes around it"
                    raise Refused("NB_VENDORED", message, where=f"{self.where}/{ANSWER}")
                return text
        return None

    def keep(self, store: Store) -> None:
        """Have every file in the store.

        Raises:
            CannotTell: ``NB_VENDORED_MISSING`` when neither the store nor a folder has one.
            Refused: ``NB_VENDORED_DIFFERS`` when the folder has something else.
        """
        missing = [file for file in self.files.file if not store.has(file.digest)]
        if not missing:
            return
        if self.folder is None or not self.folder.is_dir():
            message, hint = "the files of this fixture are not here", "run this in the project that holds the task"
            raise CannotTell("NB_VENDORED_MISSING", message, where=self.where, hint=hint)
        found = read_files(self.folder, where=self.where)
        for file in missing:
            here, data = found.get(file.path, (None, b""))
            if here != file:
                raise Refused("NB_VENDORED_DIFFERS", "is not what is locked", where=f"{self.where}/{file.path}")
            store.put(data)

    def _in(self, folder: str) -> dict[str, VendoredFile]:
        """The files of one of the folders, by their path below it."""
        return {f.path.removeprefix(f"{folder}/"): f for f in self.files.file if f.path.startswith(f"{folder}/")}

    def _lay(self, folders: tuple[str, ...], blob: Blob, dest: Path) -> tuple[Path, tuple[str, ...]]:
        make_folder(dest)
        files = {path: file for folder in folders for path, file in self._in(folder).items()}
        with Below(dest) as below:
            for path, file in files.items():
                try:
                    _write(below, to_bytes(path), file, blob(file.digest).read_bytes())
                except OSError as error:
                    if error.errno in (errno.ENOSPC, errno.EDQUOT):
                        raise full_disk(error) from error
                    message = f"cannot lie in the same tree as the others: {error.strerror}"
                    raise Refused("NB_VENDORED", message, where=f"{self.where}/{shown(file.path)}") from None
        return dest, clean(dest, where=self.where, mtime=EPOCH)


def _write(below: Below, path: bytes, file: VendoredFile, data: bytes) -> None:
    parts = path.split(b"/")
    for depth in range(1, len(parts)):
        below.make_folder(b"/".join(parts[:depth]))
    below.make_file(path, mode=int(file.mode, 8), mtime=EPOCH, fill=lambda to: write_all(to, data))
