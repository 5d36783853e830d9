"""What every verb shares: where things are, how to talk, and how an error becomes an exit code."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeVar

import typer

from nanobench import __version__
from nanobench.bundle.write import MANIFEST
from nanobench.cli.talk import Talk
from nanobench.ecosystems.online import Online
from nanobench.errors import MAX_DETAILS, MachineFailure, Misuse, NanobenchError, Refused
from nanobench.formats.documents import read_spec
from nanobench.formats.printable import printable
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.sandbox.choose import EngineName, engine_named, untried_engine
from nanobench.store.store import Store, default_root

AsJson = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON on stdout.")]
StorePath = Annotated[
    Path | None, typer.Option("--store", help="The content store (default: $NANOBENCH_STORE, else the user's cache).")
]
ProjectPath = Annotated[
    Path | None, typer.Option("--project", help="The project folder (default: found from the current folder).")
]
Engines = Annotated[
    EngineName, typer.Option("--engine", help="What runs commands sealed (auto: bubblewrap, else Docker).")
]
Offline = Annotated[bool, typer.Option("--offline", help="Make no connection; what is missing is an error (exit 3).")]

T = TypeVar("T")

talk = Talk()
say = talk.say


def show(document: Any, text: str, *, as_json: bool) -> None:
    """The verdict on stdout: the document as JSON in ASCII, or its text for people."""
    talk.end()
    said = json.dumps(document, indent=2, sort_keys=True) if as_json else printable(text).rstrip("\n")
    put(said + "\n")


def put(said: str | bytes, to: TextIO | None = None) -> None:
    """Text or bytes on stdout, or another stream. A reader that has gone away changes no verdict: what it did not
    want is dropped."""
    stream = to or sys.stdout
    try:
        if isinstance(said, bytes):
            stream.buffer.write(said)
        else:
            stream.write(said)
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python flushes once more at its end
        if not isinstance(error, BrokenPipeError):
            raise


def screen() -> tuple[int, bool]:
    """How many columns stdout has, and whether it shows colours. What is no terminal has as many as a wide one."""
    if not sys.stdout.isatty():
        return 120, False
    return shutil.get_terminal_size().columns, "NO_COLOR" not in os.environ


def project(path: Path | None) -> Project:
    """The project named, or the one that the current folder lies in."""
    return Project.find((path or Path.cwd()).resolve())


@contextmanager
def network(*, offline: bool) -> Iterator[Online | None]:
    """The permission to use the network for the block; offline there is no client at all."""
    if offline:
        yield None
        return
    with Online(say=say) as online:
        yield online


def project_if_any(path: Path | None) -> Project | None:
    """The project named, or the one that the current folder lies in; None when it lies in none."""
    try:
        return project(path)
    except Misuse:
        if path is not None:
            raise
        return None


def bundle(path: Path) -> Path:
    """The folder that a user gives as a bundle.

    Raises:
        Misuse: ``NB_NO_BUNDLE`` when it is none.
    """
    if not (path / MANIFEST).is_file():
        inside = sorted(str(found.parent) for found in path.glob(f"*/{MANIFEST}"))[:MAX_DETAILS]
        hint = f"give one of {', '.join(inside)}" if inside else "give the folder that `run` wrote"
        raise Misuse("NB_NO_BUNDLE", f"there is no {MANIFEST}", where=str(path), hint=hint)
    return path


def asked_in_file(data: bytes, kind: type[T], file: Path) -> T:
    """What a file says that stands in place of options: what is wrong with it is wrong usage.

    Raises:
        Misuse: as :func:`nanobench.formats.documents.read_spec` refuses.
    """
    try:
        return read_spec(data, kind, where=str(file))
    except Refused as error:
        raise Misuse(error.code, error.message, where=error.where, hint=error.hint, details=error.details) from None


def store(path: Path | None) -> Store:
    """The store named, or the default one."""
    return Store((path or default_root()).absolute(), say=say)


def workbench(store_path: Path | None, engine: EngineName = EngineName.AUTO) -> Workbench:
    """Store and engine, ready; an engine that cannot work here is an error with its remedy."""
    place = store(store_path)
    chosen = engine_named(engine, place)
    talk.begin()
    return Workbench(store=place, engine=chosen, say=say, fetched=talk.fetched)


def untried_workbench(store_path: Path | None, engine: EngineName = EngineName.AUTO) -> Workbench:
    """Store and engine, for work that is of use without the engine too."""
    place = store(store_path)
    return Workbench(store=place, engine=untried_engine(engine, place), say=say, fetched=talk.fetched)


@contextmanager
def exits(*, as_json: bool = False) -> Iterator[None]:
    """Turns every way to fail into its exit code and words; nothing leaves with a bare traceback."""
    try:
        yield
    except NanobenchError as error:
        raise _told(error, as_json=as_json) from None
    except KeyboardInterrupt:
        hint = "give the same command again; a run goes on where it stopped when its folder is given as --out"
        stopped = _Interrupted("NB_INTERRUPTED", "nothing is left half-done", hint=hint)
        raise _told(stopped, as_json=as_json) from None
    except typer.Exit:
        raise
    except OSError as error:
        where = str(error.filename or "")
        hint = _PROC if where.startswith("/proc/") else _DISK
        failure = MachineFailure("NB_OS", f"{error.strerror or error}", where=where, hint=hint)
        raise _told(failure, as_json=as_json) from None
    except MemoryError:
        raise _told(MachineFailure("NB_MEMORY", "there is not enough memory"), as_json=as_json) from None
    except Exception as error:
        raise _told(_bug(error), as_json=as_json) from None
    finally:
        talk.end()


class _Interrupted(NanobenchError):
    exit_code = 130


class _Bug(NanobenchError):
    exit_code = 2


def _told(error: NanobenchError, *, as_json: bool) -> typer.Exit:
    """Say the error, as JSON too where that was asked for, and leave with its code."""
    say(str(error))
    if as_json:
        show({"error": error.document()}, "", as_json=True)
    return typer.Exit(error.exit_code)


_PROC = "mount /proc here: mount -t proc proc /proc (a chroot has none of itself)"
_DISK = "see free space and permissions there; nanobench store gc frees space, nanobench doctor looks further"


def _bug(error: BaseException) -> _Bug:
    handle, name = tempfile.mkstemp(prefix="nanobench-bug-", suffix=".log")
    with os.fdopen(handle, "w") as file:
        file.write(f"nanobench {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
        file.write(f"arguments: {sys.argv[1:]}\n\n")
        file.write("".join(traceback.format_exception(error)))
    return _Bug("NB_BUG", f"this is a bug of ours ({type(error).__name__}: {error})", hint=f"report it with {name}")


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Runs a command's body inside :func:`exits` (typer reads the wrapped signature)."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        with exits(as_json=bool(kwargs.get("as_json"))):
            function(*args, **kwargs)

    return run
