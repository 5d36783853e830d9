"""The command line: which verbs there are."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from nanobench import __version__
from nanobench.cli import build, doctor, lock, run, shell, storage, task, verify

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure how well the coding agent Nanocoder solves real engineering tasks, so that anybody can check it.",
    epilog="Exit: 0 done, 1 a definite no, 2 wrong usage or our bug, 3 cannot tell, 4 the machine, 130 interrupted.",
)
app.command()(lock.lock)
app.command()(build.build)
app.command()(build.fetch)
app.command()(run.run)
app.command()(verify.verify)
app.add_typer(task.app, name="task")
app.add_typer(storage.app, name="store")
app.command()(shell.shell)
app.command()(doctor.doctor)


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
    app()
