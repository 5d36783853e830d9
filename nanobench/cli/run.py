"""``nanobench run``: the locked tasks, a provider, and a bundle of results at the end."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from nanobench import __version__
from nanobench.bundle.read import open_bundle
from nanobench.cli import common
from nanobench.cli.locked import current, keep, of_task
from nanobench.cli.provider import FILE, Asked, provider_of
from nanobench.errors import Misuse
from nanobench.formats.converter import unstructure
from nanobench.gateway.scripted.behaviours import BEHAVIOURS
from nanobench.model.result import CellResult, Mode, RunManifest
from nanobench.runner.plan import plan
from nanobench.runner.providers import Provider
from nanobench.runner.run import Run, jobs_for, publish
from nanobench.runner.stage import LockedTask, set_stage
from nanobench.runner.state import RunState
from nanobench.sandbox.choose import EngineName


@common.verb
def run(
    tasks: Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Locked tasks (default: all).")] = None,
    provider: Annotated[
        str, typer.Option("--provider", help=f"{', '.join(sorted(BEHAVIOURS))} (scripted), or a name.")
    ] = "",
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="MODEL", help="A model; may be given several times.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="An OpenAI-compatible endpoint, up to and with /v1.")
    ] = None,
    key_env: Annotated[
        str | None, typer.Option("--key-env", help="The environment variable that holds the provider's key.")
    ] = None,
    key_file: Annotated[Path | None, typer.Option("--key-file", help="A file that holds only the key.")] = None,
    providers: Annotated[
        Path | None, typer.Option("--providers", help=f"Endpoints by name (default: {FILE} of the project).")
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", metavar="MODE", help="hinted (default) or navigation; or both."),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, max=1000, help="Runs of each cell.")] = 1,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the bundle (default: runs/<date>).")] = None,
    lock_file: Annotated[
        Path | None, typer.Option("--lock", help="Use this task lock in place of the project's.")
    ] = None,
    locked: Annotated[bool, typer.Option("--locked", help="Run only what is locked and current (always so).")] = True,
    offline: common.Offline = False,
    frozen: Annotated[bool, typer.Option("--frozen", help="--locked and --offline.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Cells at once (default: what the CPUs hold).")
    ] = None,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Run locked tasks through a provider; grade; write a bundle that anybody can verify.

    A run that was interrupted goes on when the same command is given again with the same --out.

    Exit 0: cells were scored, whatever the scores. 3: no cell was, so nothing was measured.

    Examples:

        nanobench run --locked tomlkit-0.15.2 --provider oracle

        nanobench run unidiff-1.0.1 --provider ollama --base-url http://127.0.0.1:11434/v1 --model qwen2.5-coder:7b

        nanobench run --frozen --provider nop --mode hinted --mode navigation --out runs/nop
    """
    found = common.project(project)
    asked = Asked(
        name=provider,
        base_url=base_url,
        models=tuple(model or ()),
        key_env=key_env,
        key_file=key_file,
        file=providers,
    )
    chosen = provider_of(asked, folder=found.root)
    names = _tasks(tasks or list(found.locked_ids()), lock_file)
    task_locks = {name: current(found, name, lock_file=lock_file) for name in names}
    destination = (out or found.root / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    manifest = _manifest(task_locks, chosen, _modes(mode or ["hinted"]), repeats)
    if destination.exists() and not RunState.place(destination).exists():
        raise _exists(destination)
    bench = common.workbench(store, engine)
    with common.network(offline=offline or frozen) as online:
        stages = {}
        for name, each in task_locks.items():
            with of_task(name):
                stages[name] = set_stage(each, online=online, bench=bench)
    for each in task_locks.values():
        keep(each, bench.store)
    state = RunState(RunState.place(destination), manifest)
    with state.alone():
        work = Run(state=state, stages=stages, provider=chosen, bench=bench, finished=_teller(len(state.pending())))
        if not destination.exists():
            work.go(jobs=jobs or jobs_for(stages))
            publish(work, destination)
        results = _published(destination, manifest)
        state.remove()
    common.show(
        {"bundle": str(destination), "results": [unstructure(r) for r in results]},
        "\n".join((*(_line(r) for r in results), f"bundle: {destination}", f"  → nanobench verify {destination}")),
        as_json=as_json,
    )
    _warn(results)
    if all(result.score is None for result in results):
        raise typer.Exit(3)


def _warn(results: Iterable[CellResult]) -> None:
    """Say how many cells were not measured."""
    unscored = Counter(result.cause.value for result in results if result.score is None)
    if unscored:
        causes = ", ".join(f"{count} {cause}" for cause, count in sorted(unscored.items()))
        common.say(f"not scored, and no part of any figure: {causes}")


def _tasks(names: list[str], lock_file: Path | None) -> list[str]:
    if not names:
        raise Misuse("NB_USAGE", "there is no locked task", hint="nanobench lock TASK")
    if lock_file is not None and len(names) != 1:
        raise Misuse("NB_USAGE", "--lock goes with exactly one task", where="--lock")
    return names


def _modes(names: Iterable[str]) -> tuple[Mode, ...]:
    unknown = sorted(set(names) - set(get_args(Mode)))
    if unknown:
        raise Misuse("NB_USAGE", f"no mode {unknown[0]!r}", where="--mode", hint="hinted or navigation")
    return tuple(cast(Mode, name) for name in names)


def _manifest(tasks: dict[str, LockedTask], provider: Provider, modes: tuple[Mode, ...], repeats: int) -> RunManifest:
    facts = provider.facts
    return RunManifest(
        schema=1,
        nanobench=__version__,
        provider=facts,
        locks={name: locked.task.sha256 for name, locked in tasks.items()},
        cells=plan(tasks, provider=facts.name, models=facts.models, modes=modes, repeats=repeats),
    )


def _published(destination: Path, manifest: RunManifest) -> tuple[CellResult, ...]:
    """The results of a bundle, read back; it may be of an earlier run that was killed before it could say so."""
    bundle = open_bundle(destination)
    if bundle.run != manifest:
        raise _exists(destination)
    return tuple(bundle.result(cell) for cell in manifest.cells)


def _exists(destination: Path) -> Misuse:
    return Misuse("NB_EXISTS", "already exists", where=str(destination), hint="choose another --out")


def _teller(cells: int) -> Callable[[CellResult], None]:
    done = itertools.count(1)
    return lambda result: common.say(f"cell {next(done)} of {cells}: {_line(result)}")


def _line(result: CellResult) -> str:
    cell, score = result.cell, result.score
    name = f"{cell.task} {cell.provider}/{cell.model} {cell.mode} #{cell.repeat}"
    if score is None:
        return f"{name}: not scored ({result.cause.value}: {result.attempts[-1].detail})"
    tests = f"{score.targets_passed}/{score.targets} target tests, {len(score.broken)} broken"
    return f"{name}: {score.value} {score.label} ({tests}; {result.cause.value}, {result.usage.steps} steps)"
