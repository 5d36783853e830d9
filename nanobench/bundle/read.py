"""Reads a bundle that a stranger published: nothing in it is trusted before its bytes were checked."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from attrs import frozen

from nanobench.bundle.write import MANIFEST, RUN, blob_name, blobs_of, cell_name
from nanobench.errors import MAX_DETAILS, NanobenchError, Refused
from nanobench.formats.digest import sha256_hex
from nanobench.formats.documents import read_json, read_lock, spec_of
from nanobench.model.lock import EnvironmentLock, HarnessLock, TaskLock
from nanobench.model.result import BundleManifest, Cause, Cell, CellResult, RunManifest
from nanobench.model.task import Task
from nanobench.project.files import L, Locked
from nanobench.sources.quoting import display
from nanobench.store.plain_file import read_below

MAX_FILE = 512 << 20
MAX_FILES = 200_000
_DEEPEST = 3


@frozen
class Bundle:
    """A bundle folder. Every read checks the bytes against the manifest."""

    root: Path
    manifest: BundleManifest
    run: RunManifest

    def read(self, name: str) -> bytes:
        """A file's bytes.

        Raises:
            Refused: ``NB_BUNDLE_BYTES`` when it is missing or differs from the manifest.
        """
        return _checked(self.root, self.manifest, name)

    def blob(self, sha256: str) -> bytes:
        """A blob's bytes."""
        return self.read(blob_name(sha256))

    def result(self, cell: Cell) -> CellResult:
        """A cell's result; it must be the result of that very cell."""
        name = cell_name(cell.id)
        result = read_json(self.read(name), CellResult, where=f"{self.root}/{name}")
        if result.cell != cell:
            raise Refused("NB_BUNDLE_CELL", f"holds another cell ({result.cell.id})", where=f"{self.root}/{name}")
        return result

    def results(self, task: str) -> Iterator[CellResult]:
        """The results of a task's cells, in the plan's order."""
        return (self.result(cell) for cell in self.run.cells if cell.task == task)

    def task_lock(self, task: str) -> Locked[TaskLock]:
        """The bundle's own copy of a task's lock; the run must have named its digest."""
        found = self._lock(f"{task}.lock.toml", TaskLock)
        return _same(found, self.run.locks.get(task, ""), f"{self.root}/{RUN}: locks.{task}")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of the tasks that were planned."""
        return tuple(sorted({cell.task for cell in self.run.cells}))

    def task(self, task: str) -> Task:
        """The spec that a task was locked from."""
        return spec_of(self.task_lock(task).value)

    def environment_lock(self, lock: TaskLock) -> Locked[EnvironmentLock]:
        """The environment lock that a task lock names; its bytes must be the named ones."""
        found = self._lock(f"environments/{lock.environment.name}.lock.toml", EnvironmentLock)
        return _same(found, lock.environment.sha256, f"{self.root}/locks/{lock.task}.lock.toml: environment.sha256")

    def harness_lock(self, lock: TaskLock) -> Locked[HarnessLock]:
        """The harness lock that a task lock names; its bytes must be the named ones."""
        found = self._lock(f"harness/{lock.harness.name}.lock.toml", HarnessLock)
        return _same(found, lock.harness.sha256, f"{self.root}/locks/{lock.task}.lock.toml: harness.sha256")

    def run_harness_lock(self, name: str) -> Locked[HarnessLock]:
        """The lock of a harness that cells ran with; the run must have named its digest."""
        found = self._lock(f"harness/{name}.lock.toml", HarnessLock)
        return _same(found, self.run.harnesses.get(name, ""), f"{self.root}/{RUN}: harnesses.{name}")

    def integrity_problems(self) -> Iterator[str]:
        """Every file that is missing, changed or not named, and every cell or blob that the run lacks."""
        foreign = (name for name in _present(self.root) if name not in self.manifest.files and name != MANIFEST)
        for name in sorted(islice(foreign, MAX_DETAILS)):
            yield f"{display(os.fsencode(name))}: not in the manifest"
        for name in sorted(self.manifest.files):
            try:
                self.read(name)
            except NanobenchError as error:
                yield f"{name}: {error.message}"
        for cell in self.run.cells:
            yield from self._cell_problems(cell)
        yield from self._plan_problems()
        yield from self._foreign_problems()
        yield from self._copied_transcripts()

    def _plan_problems(self) -> Iterator[str]:
        """A plan is every task × harness × provider and model × mode × profile × repeat from 0 on, once: a cell left
        out or doubled shows.

        Where no harness was chosen each task has only its own.
        """
        cells = self.run.cells
        tasks, harnesses, modes, profiles = (
            {getattr(c, axis) for c in cells} for axis in ("task", "harness", "mode", "profile")
        )
        models = {(c.provider, c.model) for c in cells}
        repeats = range(max((c.repeat for c in cells), default=0) + 1)
        pairs = len(tasks) if self._each_with_its_own() else len(tasks) * len(harnesses)
        full = pairs * len(models) * len(modes) * len(profiles) * len(repeats)
        if len(set(cells)) != len(cells) or len(cells) != full:
            yield f"{RUN}: {len(cells)} cells where {full} different ones make the plan"

    def _foreign_problems(self) -> Iterator[str]:
        """Other providers, models or profiles than the run's, ones of its without a cell, and results of cells that
        were not planned."""
        cells = self.run.cells
        models = {f"{facts.name}/{model}" for facts in self.run.providers for model in facts.models}
        yield from _unlike("models", {f"{c.provider}/{c.model}" for c in cells}, models)
        profiles = {profile.name for profile in self.run.profiles or ()}
        yield from _unlike("profiles", {c.profile for c in cells if c.profile is not None}, profiles)
        planned = {cell_name(cell.id) for cell in cells}
        for name in sorted(self.manifest.files):
            if name.startswith("cells/") and name not in planned:
                yield f"{name}: not in the plan"

    def _each_with_its_own(self) -> bool:
        """Whether every task was run with the harness that its lock names."""
        try:
            return all(c.harness == self.task_lock(c.task).value.harness.name for c in self.run.cells)
        except NanobenchError:  # told by whoever needs the lock
            return False

    def _cell_problems(self, cell: Cell) -> Iterator[str]:
        name = cell_name(cell.id)
        if name not in self.manifest.files:
            yield f"{name}: planned, but there is no result"
            return
        try:
            result = self.result(cell)
        except NanobenchError as error:
            yield f"{name}: {error.message}"
            return
        unbound = self.run.budgets.max_cost is None and not self._scripted(cell)
        if unbound and result.cause in (Cause.COST_BUDGET, Cause.NOT_RUN):
            yield f"{name}: ended with {result.cause}, though the run's cost had no bound"
        for digest in blobs_of(result.blobs):
            if blob_name(digest) not in self.manifest.files:
                yield f"{name}: names the blob {digest}, which the bundle does not hold"

    def _copied_transcripts(self) -> Iterator[str]:
        """No two runs of a real model are recorded byte for byte alike, unless nothing was said at all."""
        cells: dict[str, list[str]] = defaultdict(list)
        for cell in self.run.cells:
            if not self._scripted(cell):
                with suppress(NanobenchError):  # told above
                    cells[self.result(cell).blobs.transcript].append(cell.id)
        for transcript, ids in cells.items():
            if len(ids) > 1 and transcript != sha256_hex(b""):
                yield f"{blob_name(transcript)}: is the transcript of {', '.join(ids)}"

    def _scripted(self, cell: Cell) -> bool:
        return any(facts.name == cell.provider and facts.kind == "scripted" for facts in self.run.providers)

    def _lock(self, name: str, kind: type[L]) -> Locked[L]:
        data, path = self.read(f"locks/{name}"), self.root / "locks" / name
        return Locked(path=path, value=read_lock(data, kind, where=str(path)), sha256=sha256_hex(data))


def _unlike(what: str, used: set[str], named: set[str]) -> Iterator[str]:
    if used != named:
        cells, run = (", ".join(sorted(names)) or "none" for names in (used, named))
        yield f"{RUN}: its {what} are {run}, those of its cells {cells}"


def open_bundle(root: Path) -> Bundle:
    """The bundle in a folder, its two index files read and checked.

    Raises:
        Refused: ``NB_BUNDLE`` when the folder is no bundle, or the errors of the strict readers.
    """
    if not (root / MANIFEST).is_file():
        raise Refused(
            "NB_BUNDLE", f"there is no {MANIFEST}", where=str(root), hint="give the folder that `run` wrote"
        )
    manifest = read_json(_read(root, MANIFEST), BundleManifest, where=f"{root}/{MANIFEST}")
    if len(manifest.files) > MAX_FILES:
        raise Refused("NB_BUNDLE", f"{len(manifest.files)} files; at most {MAX_FILES}", where=str(root))
    run = read_json(_checked(root, manifest, RUN), RunManifest, where=f"{root}/{RUN}")
    return Bundle(root, manifest, run)


def _same(found: Locked[L], sha256: str, where: str) -> Locked[L]:
    if found.sha256 != sha256:
        raise Refused("NB_BUNDLE_LOCK", f"names sha256 {sha256}, the bundle holds {found.sha256}", where=where)
    return found


def _checked(root: Path, manifest: BundleManifest, name: str) -> bytes:
    expected = manifest.files.get(name)
    if expected is None:
        raise Refused("NB_BUNDLE_BYTES", "not in the manifest", where=f"{root}/{name}")
    data = _read(root, name)
    found = sha256_hex(data)
    if found != expected:
        raise Refused("NB_BUNDLE_BYTES", f"sha256 {found}, the manifest says {expected}", where=f"{root}/{name}")
    return data


def _read(root: Path, name: str) -> bytes:
    try:
        return read_below(root, name, limit=MAX_FILE)
    except OSError as error:
        raise Refused("NB_BUNDLE_BYTES", f"cannot be read: {error.strerror}", where=f"{root}/{name}") from None


def _present(root: Path) -> Iterator[str]:
    """Everything in the bundle but directories; one that is too deep for a bundle, or closed, is named as it is."""
    pending = [""]
    while pending:
        above = pending.pop()
        try:
            listing = os.scandir(root / above)
        except PermissionError:
            yield above
            continue
        with listing:
            for entry in listing:
                name = above + entry.name
                if entry.is_dir(follow_symlinks=False) and name.count("/") < _DEEPEST:
                    pending.append(f"{name}/")
                else:
                    yield name
