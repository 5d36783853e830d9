"""What every verb shares: where things are, how to talk, and how an error becomes an exit code."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from nanobench import __version__
from nanobench.cli.talk import Talk, printable
from nanobench.errors import MachineFailure, NanobenchError
from nanobench.formats import json
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Engine
from nanobench.store.store import Store, default_root

EXIT_BUG = 2
EXIT_INTERRUPTED = 130

AsJson = Annotated[bool, typer.Option("--json", help="Print the verdict as JSON on stdout.")]
StorePath = Annotated[
    Path | None, typer.Option("--store", help="The content store (default: $NANOBENCH_STORE, else the user's cache).")
]
ProjectPath = Annotated[
    Path | None, typer.Option("--project", help="The project folder (default: found from the current folder).")
]
Offline = Annotated[bool, typer.Option("--offline", help="Make no connection; what is missing is an error (exit 3).")]

talk = Talk()
say = talk.say


def show(document: Any, text: str, *, as_json: bool) -> None:
    """The verdict on stdout: the document as JSON, or its text for people."""
    talk.end()
    sys.stdout.write(json.pretty(document).decode() if as_json else printable(text).rstrip("\n") + "\n")
    sys.stdout.flush()


def project(path: Path | None) -> Project:
    """The project named, or the one that the current folder lies in."""
    return Project.find((path or Path.cwd()).resolve())


def store(path: Path | None) -> Store:
    """The store named, or the default one."""
    return Store((path or default_root()).absolute(), say=say)


def workbench(store_path: Path | None) -> Workbench:
    """Store and engine, ready; an engine that cannot work here is an error with its remedy."""
    engine: Engine = Bubblewrap()
    problems = engine.check()
    if problems:
        raise MachineFailure(
            "NB_NO_ENGINE", "no sandbox engine works here", details=problems, hint="nanobench doctor"
        )
    talk.begin()
    return Workbench(store=store(store_path), engine=engine, say=say, fetched=talk.fetched)


@contextmanager
def exits(*, as_json: bool = False) -> Iterator[None]:
    """Turns every way to fail into its exit code and words; nothing leaves with a bare traceback."""
    try:
        yield
    except NanobenchError as error:
        say(str(error))
        if as_json:
            show({"error": error.document()}, "", as_json=True)
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        say("interrupted; nothing is left half-done")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except OSError as error:
        failure = MachineFailure("NB_OS", f"{error.strerror or error}", where=str(error.filename or ""), hint=_DISK)
        say(str(failure))
        raise typer.Exit(failure.exit_code) from None
    except Exception as error:
        raise typer.Exit(_bug(error)) from None
    finally:
        talk.end()


_DISK = "see free space and permissions there; nanobench store gc frees space, nanobench doctor looks further"


def _bug(error: BaseException) -> int:
    handle, name = tempfile.mkstemp(prefix="nanobench-bug-", suffix=".log")
    with os.fdopen(handle, "w") as file:
        file.write(f"nanobench {__version__}, Python {platform.python_version()}, {platform.platform()}\n")
        file.write(f"arguments: {sys.argv[1:]}\n\n")
        file.write("".join(traceback.format_exception(error)))
    say(f"NB_BUG: this is a bug of ours ({type(error).__name__}: {error}). Please report it with {name}")
    return EXIT_BUG


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Runs a command's body inside :func:`exits` (typer reads the wrapped signature)."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        with exits(as_json=bool(kwargs.get("as_json"))):
            function(*args, **kwargs)

    return run
