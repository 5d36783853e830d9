"""The command line: which verbs there are."""

from __future__ import annotations

import os
import signal
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from nanobench import __version__
from nanobench.cli import build, compare, doctor, gates, lock, report, run, selftest, shell, storage, task, verify

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure how well the coding agent Nanocoder solves real engineering tasks, so that anybody can check it.",
    epilog="Exit: 0 done, 1 a definite no, 2 wrong usage or our bug, 3 cannot tell, 4 the machine, 130 interrupted."
    " A pipe that is closed early changes none of them.",
)
app.command()(lock.lock)
app.command()(gates.gates)
app.command()(build.build)
app.command()(build.fetch)
app.command()(run.run)
app.command()(report.report)
app.command()(verify.verify)
app.command()(compare.compare)
app.add_typer(task.app, name="task")
app.add_typer(storage.app, name="store")
app.command()(shell.shell)
app.command()(doctor.doctor)
app.command()(selftest.selftest)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"nanobench {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure how well the coding agent Nanocoder solves real engineering tasks, so that anybody can check it."""


def main() -> None:
    """The entry point of the ``nanobench`` script. A polite kill is an interruption: what runs is cleaned up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _furnish_streams()
    app()


def _furnish_streams() -> None:
    """A closed standard stream leads to nowhere, lest a file of ours gets its number; what an encoding lacks is
    spelled out."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
