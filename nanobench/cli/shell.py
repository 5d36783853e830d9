"""``nanobench shell``: a command of your own in a task's locked image, as sealed as any other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from attrs import evolve

from nanobench.cli import common
from nanobench.cli.locked import current
from nanobench.cli.terminal import WRAPPER, joined
from nanobench.ecosystems.online import Online
from nanobench.grading.trial import fresh_workspace
from nanobench.image.realise import Locks, realise
from nanobench.sandbox.choose import EngineName
from nanobench.sandbox.interface import WORKSPACE, Ended, Engine, Mount, Request, SandboxLimits

_SECONDS = 86_400


@common.verb
def shell(
    task: Annotated[str, typer.Argument(help="A locked task.")],
    command: Annotated[list[str] | None, typer.Argument(help="A command in place of a shell, after --.")] = None,
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
    found, bench = common.project(project), common.workbench(store, engine)
    locked = current(found, task)
    locks = Locks(task=locked.task.value, environment=locked.environment.value)
    with Online(say=common.say) as network:
        image = realise(locks, online=None if offline else network, bench=bench)
    common.talk.end()
    limits = locked.task.value.limits
    with bench.store.scratch("shell") as scratch:
        workspace = fresh_workspace(image.workspace, scratch / "workspace")
        bench.engine.own(workspace)
        bench.engine.own(workspace)
        request = Request(
            layers=image.trees,
            argv=tuple(command or ("/bin/bash",)),
            limits=SandboxLimits(
                cpus=limits.cpus,
                memory_mib=limits.memory_mib,
                pids=limits.pids,
                disk_mib=limits.disk_mib,
                seconds=_SECONDS,
            ),
            stdout=scratch / "stdout",
            stderr=scratch / "stderr",
            env={**locked.task.value.env, "TERM": "xterm"},
            mounts=(Mount(source=workspace, target=WORKSPACE, writable=True),),
            phase="shell",
        )
        code = _interactive(bench.engine, request) if _at_terminal(command) else _captured(bench.engine, request)
    raise typer.Exit(code)


def _at_terminal(command: list[str] | None) -> bool:
    return not command and sys.stdin.isatty() and sys.stdout.isatty()


def _interactive(engine: Engine, request: Request) -> int:
    def run(terminal: Path) -> int:
        return engine.run(evolve(request, argv=(*WRAPPER, *request.argv), stdout=terminal, stderr=terminal)).exit_code

    return joined(run)


def _captured(engine: Engine, request: Request) -> int:
    finished = engine.run(request)
    sys.stdout.buffer.write(request.stdout.read_bytes())
    sys.stderr.buffer.write(request.stderr.read_bytes())
    if finished.ended is not Ended.EXITED:
        common.say(f"stopped: {finished.ended.value}")
    return finished.exit_code
