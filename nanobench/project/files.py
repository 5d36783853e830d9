"""Finds, reads and writes the files of a project: specs that people write, locks that we write."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path
from typing import Generic, TypeVar

from attrs import frozen

from nanobench.errors import CannotTell, Misuse, Refused
from nanobench.formats import toml
from nanobench.formats.converter import structure
from nanobench.formats.digest import document_sha256, sha256_hex
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.model.environment import Environment
from nanobench.model.fields import Document
from nanobench.model.lock import EnvironmentLock, HarnessLock, TaskLock
from nanobench.model.task import Dataset, Task
from nanobench.store.files import abandoned
from nanobench.store.plain_file import read_below

S = TypeVar("S", Task, Environment, Dataset)
L = TypeVar("L", EnvironmentLock, HarnessLock, TaskLock)
MAX_STATEMENT = 1 << 20
FIRST_CUTOFF = "2026-01-01"
"""The cutoff of the first dataset, for a project that has none yet."""


@frozen(kw_only=True)
class Spec(Generic[S]):
    """A spec with the parsed document that it was read from; digests are taken over the document."""

    path: Path
    document: Document
    value: S

    @property
    def sha256(self) -> str:
        """The hex sha256 of the document's canonical JSON."""
        return document_sha256(self.document)


@frozen(kw_only=True)
class Locked(Generic[L]):
    """A lock with its file's sha256, which is how other locks and results name it."""

    path: Path
    value: L
    sha256: str


@frozen
class Project:
    """A folder with ``tasks/``, ``environments/`` and ``locks/``. Messages name files relative to it."""

    root: Path

    @classmethod
    def find(cls, start: Path) -> Project:
        """The project that ``start`` lies in.

        Raises:
            Misuse: ``NB_NO_PROJECT`` when no parent holds ``tasks/`` and ``environments/``.
        """
        for folder in (start, *start.parents):
            if (folder / "tasks").is_dir() and (folder / "environments").is_dir():
                return cls(folder)
        raise Misuse("NB_NO_PROJECT", f"no tasks/ and environments/ in {start} or above", hint="cd into the project")

    def task_ids(self) -> tuple[str, ...]:
        """Every task of the folder, sorted."""
        return tuple(sorted(p.parent.name for p in (self.root / "tasks").glob("*/task.toml")))

    def locked_ids(self) -> tuple[str, ...]:
        """Every task that has a lock, sorted."""
        return self._locked("locks")

    def harness_names(self) -> tuple[str, ...]:
        """Every harness that has a lock, sorted."""
        return self._locked("locks/harness")

    def task(self, task_id: str) -> Spec[Task]:
        """``tasks/<id>/task.toml``; its ``id`` must be the folder's name."""
        spec = self._spec(self.folder(task_id) / "task.toml", Task)
        if spec.value.id != task_id:
            where = f"{self.name(spec.path)}: id"
            hint = "a task's id is the name of its folder"
            raise Refused("NB_SCHEMA", f"{spec.value.id!r} in the folder {task_id!r}", where=where, hint=hint)
        return spec

    def folder(self, task_id: str) -> Path:
        """The folder of a task; a fixture's files are in it."""
        return self.root / "tasks" / task_id

    def environment(self, name: str) -> Spec[Environment]:
        """``environments/<name>.toml``."""
        spec = self._spec(self.root / "environments" / f"{name}.toml", Environment)
        if spec.value.name != name:
            where = f"{self.name(spec.path)}: name"
            hint = "an environment's name is that of its file"
            raise Refused("NB_SCHEMA", f"{spec.value.name!r} in the file of {name!r}", where=where, hint=hint)
        return spec

    def dataset(self) -> Spec[Dataset]:
        """``tasks/dataset.toml``.

        Raises:
            Refused: ``NB_DATASET_KINDS`` when its tasks are not all of one kind: figures over a mix mean nothing.
        """
        spec = self._spec(self.root / "tasks" / "dataset.toml", Dataset)
        kinds = {task: self.task(task).value.kind for task in spec.value.tasks}
        if len(set(kinds.values())) > 1:
            details = tuple(f"{task}: {kind}" for task, kind in kinds.items())
            hint = "a dataset holds merged-pr tasks, release-pair tasks or fixtures, and never two of them"
            where = f"{self.name(spec.path)}: tasks"
            raise Refused("NB_DATASET_KINDS", "tasks of several kinds", where=where, details=details, hint=hint)
        return spec

    def members(self) -> tuple[str, ...]:
        """The tasks of the dataset; none when there is no dataset."""
        return self.dataset().value.tasks if (self.root / "tasks" / "dataset.toml").is_file() else ()

    def cutoff(self) -> str:
        """The date after which a change must have been merged: the dataset's, else that of the first one."""
        return self.dataset().value.cutoff if (self.root / "tasks" / "dataset.toml").is_file() else FIRST_CUTOFF

    def statement(self, task_id: str) -> bytes:
        """The problem statement's bytes (UTF-8, not empty)."""
        path = self.folder(task_id) / "statement.md"
        data = self._read(path)
        if len(data) > MAX_STATEMENT or not data.strip():
            message = f"{len(data)} bytes; between 1 and {MAX_STATEMENT}, and not only white space"
            raise Refused("NB_STATEMENT", message, where=self.name(path), hint="say what is wrong and what must hold")
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused("NB_STATEMENT", f"not UTF-8: {error}", where=self.name(path)) from None
        return data

    def locked_statement(self, lock: TaskLock) -> bytes | None:
        """The statement's bytes, if they are those that were locked; None where they are not here."""
        if lock.task not in self.task_ids():
            return None
        statement = self.statement(lock.task)
        return statement if sha256_hex(statement) == lock.source.statement_sha256 else None

    def lock_path(self, kind: type[L], name: str) -> Path:
        """Where the lock of that kind and name lies."""
        folder = {TaskLock: "", EnvironmentLock: "environments", HarnessLock: "harness"}[kind]
        return self.root / "locks" / folder / f"{name}.lock.toml"

    def lock(self, kind: type[L], name: str) -> Locked[L]:
        """A lock, read strictly.

        Raises:
            CannotTell: ``NB_LOCK_MISSING`` when there is none.
        """
        path = self.lock_path(kind, name)
        if not path.is_file():
            raise CannotTell(
                "NB_LOCK_MISSING", "there is no lock", where=self.name(path), hint=self._lock_hint(kind, name)
            )
        return read_lock_file(path, kind, where=self.name(path))

    def _lock_hint(self, kind: type, name: str) -> str:
        """The command that makes a missing lock; of a task that is not here, the tasks that are."""
        if kind is not TaskLock:
            return "lock a task that uses it: nanobench lock TASK"
        known = self.task_ids()
        return f"nanobench lock {name}" if name in known else f"known tasks: {', '.join(known) or 'none'}"

    def has_lock(self, kind: type[L], name: str) -> bool:
        """Whether the lock's file exists."""
        return self.lock_path(kind, name).is_file()

    def write_lock(self, name: str, lock: L) -> bool:
        """Write a lock whole or not at all, read it back and compare. Returns whether a byte changed."""
        path, data = self.lock_path(type(lock), name), dump_lock(lock)
        if path.is_file() and path.read_bytes() == data:
            return False
        read_lock(data, type(lock), where=self.name(path))
        write_whole(path, data)
        return True

    def leftovers(self) -> tuple[Path, ...]:
        """Temporary files that writers of locks left behind when they were killed."""
        found = sorted((self.root / "locks").rglob(".*.lock.toml.*"))
        return tuple(path for path in found if abandoned(path))

    def _locked(self, folder: str) -> tuple[str, ...]:
        return tuple(sorted(p.name.removesuffix(".lock.toml") for p in (self.root / folder).glob("*.lock.toml")))

    def name(self, path: Path) -> str:
        """The path as messages show it."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)

    def _spec(self, path: Path, kind: type[S]) -> Spec[S]:
        where = self.name(path)
        document = toml.parse(self._read(path), where=where)
        return Spec(path=path, document=document, value=structure(document, kind, where=where))

    def _read(self, path: Path) -> bytes:
        """The bytes of a file of the project; a link could tell a model what the project never held."""
        try:
            return read_below(self.root, self.name(path), limit=toml.MAX_BYTES)
        except OSError as error:
            missing = isinstance(error, FileNotFoundError)
            why = "there is no such file" if missing else f"cannot be read: {error.strerror}"
            raise Misuse("NB_NO_FILE", why, where=self.name(path), hint=self._known(path)) from None

    def _known(self, path: Path) -> str:
        if path.name == "task.toml":
            return f"known tasks: {', '.join(self.task_ids()) or 'none'}"
        if path.parent.name == "environments":
            known = ", ".join(sorted(p.stem for p in path.parent.glob("*.toml")))
            return f"known environments: {known or 'none'}; or create {self.name(path)}"
        return f"create {self.name(path)}"


def read_lock_file(path: Path, kind: type[L], *, where: str) -> Locked[L]:
    """The lock in a file, wherever it lies.

    Raises:
        Misuse: ``NB_NO_FILE`` when there is no regular file that can be read.
    """
    try:
        if not path.is_file():
            raise Misuse("NB_NO_FILE", "there is no such file", where=where)
        with path.open("rb") as file:
            data = file.read(toml.MAX_BYTES + 1)  # the parser refuses what is longer
    except OSError as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=where) from None
    return Locked(path=path, value=read_lock(data, kind, where=where), sha256=sha256_hex(data))


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, mode 0644 whatever the umask."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            fcntl.flock(handle, fcntl.LOCK_EX)  # it is nobody's as soon as this process is dead
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(0o644)
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
