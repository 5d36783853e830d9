"""``nanobench shell``: a command of your own in a task's locked image, as sealed as any other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer
from attrs import evolve

from nanobench.cli import common
from nanobench.cli.locked import current, of_task
from nanobench.cli.terminal import WRAPPER, joined
from nanobench.errors import Misuse
from nanobench.formats.printable import printable
from nanobench.grading.trial import fresh_workspace
from nanobench.image.realise import realise
from nanobench.sandbox.choose import EngineName
from nanobench.sandbox.interface import WORKSPACE, Ended, Engine, Mount, Request, SandboxLimits

_SECONDS = 86_400


@common.verb
def shell(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A locked task.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="A command in place of a shell, after --."),
    ] = None,
    offline: common.Offline = False,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
) -> None:
    """Look around in a task's locked image: a copy of its workspace, no network, and nothing kept.

    Examples:

        nanobench shell tomlkit-0.15.2

        nanobench shell unidiff-1.0.1 -- python -m pytest -q
    """
    if not command and not _at_terminal():
        raise Misuse("NB_USAGE", "no terminal: give a command after --", hint=f"nanobench shell {task} -- ls")
    found, bench = common.project(project), common.workbench(store, engine)
    locked = current(found, task)
    with common.network(offline=offline) as online, of_task(task):
        image = realise(locked.locks, online=online, bench=bench)
    common.talk.end()
    with bench.store.scratch("shell") as scratch:
        workspace = fresh_workspace(image.workspace, scratch / "workspace")
        bench.engine.own(workspace)
        request = Request(
            layers=image.trees,
            argv=tuple(command or ("/bin/bash",)),
            limits=SandboxLimits.of(locked.task.value.limits, seconds=_SECONDS),
            stdout=scratch / "stdout",
            stderr=scratch / "stderr",
            env={**locked.task.value.env, "TERM": "xterm"},
            mounts=(Mount(source=workspace, target=WORKSPACE, writable=True),),
            phase="shell",
        )
        code = _captured(bench.engine, request) if command else _interactive(bench.engine, request)
    raise typer.Exit(code)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _interactive(engine: Engine, request: Request) -> int:
    def run(terminal: Path) -> int:
        return engine.run(evolve(request, argv=(*WRAPPER, *request.argv), stdout=terminal, stderr=terminal)).exit_code

    return joined(run)


def _captured(engine: Engine, request: Request) -> int:
    finished = engine.run(request)
    common.put(_shown(request.stdout, sys.stdout))
    common.put(_shown(request.stderr, sys.stderr), to=sys.stderr)
    if finished.ended is not Ended.EXITED:
        common.say(f"stopped: {finished.ended.value}")
    return finished.exit_code


def _shown(output: Path, stream: TextIO) -> str | bytes:
    """A command's output: its very bytes for a file or a pipe, harmless ones for a terminal."""
    data = output.read_bytes()
    return printable(data.decode("utf-8", "backslashreplace")) if stream.isatty() else data
