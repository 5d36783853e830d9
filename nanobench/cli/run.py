"""``nanobench run``: the locked tasks, their arms, and a bundle of results at the end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from nanobench import __version__
from nanobench.bundle.read import open_bundle
from nanobench.bundle.write import MANIFEST
from nanobench.cli import common, run_options
from nanobench.cli.budgets import budgets_of
from nanobench.cli.locked import brought_by, current, keep, keep_harness, of_task
from nanobench.cli.matrix import matrix_of, told_of
from nanobench.cli.nanocoder import locked_harness
from nanobench.cli.provider import AD_HOC, check_reach, providers_of
from nanobench.cli.run_results import tell, teller
from nanobench.errors import Misuse
from nanobench.formats.converter import unstructure
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock
from nanobench.model.matrix import Matrix
from nanobench.model.provider import Budgets
from nanobench.model.result import CellResult, ProviderFacts, RunManifest
from nanobench.project.files import Locked, Project
from nanobench.runner.forecast import forecast
from nanobench.runner.plan import plan
from nanobench.runner.run import Run, jobs_for, publish
from nanobench.runner.stage import Agent, LockedTask, Stage, bring_agent, refuse_leaks, set_stage
from nanobench.runner.state import RunState
from nanobench.sandbox.choose import EngineName

Harnesses = tuple[Locked[HarnessLock], ...]


@common.verb
def run(
    tasks: run_options.Tasks = None,
    matrix: run_options.MatrixFile = None,
    provider: run_options.ProviderNames = None,
    model: run_options.Models = None,
    base_url: run_options.BaseUrl = None,
    key_env: run_options.KeyEnv = None,
    key_file: run_options.KeyFile = None,
    providers: run_options.ProvidersFile = None,
    mode: run_options.Modes = None,
    nanocoder: run_options.Nanocoders = None,
    profile: run_options.Profiles = None,
    repeats: run_options.Repeats = None,
    order_seed: run_options.OrderSeed = None,
    out: run_options.Out = None,
    lock_file: run_options.LockFile = None,
    locked: run_options.LockedFlag = True,
    offline: common.Offline = False,
    frozen: run_options.Frozen = False,
    max_tokens: run_options.MaxTokens = None,
    max_seconds: run_options.MaxSeconds = None,
    max_cost: run_options.MaxCost = None,
    dry_run: run_options.DryRun = False,
    jobs: run_options.Jobs = None,
    store: common.StorePath = None,
    engine: common.Engines = EngineName.AUTO,
    project: common.ProjectPath = None,
    as_json: common.AsJson = False,
) -> None:
    """Run locked tasks through providers; grade; write a bundle that anybody can verify.

    A run that was interrupted goes on when the same command is given again with its --out.

    Exit 0: cells were scored, whatever the scores. 1: some were though no model has shown itself. 3: no cell was, so
    nothing was measured.

    Examples:

        nanobench run --locked tomlkit-0.15.2 --provider oracle

        nanobench run --base-url http://127.0.0.1:11434/v1 --model qwen3:8b

        nanobench run --provider oracle --nanocoder 1.29.0 --nanocoder 1.30.0

        nanobench run --matrix matrix.toml --repeats 5

        nanobench run --provider hosted=large,small --max-cost 20 --dry-run
    """
    found = common.project(project)
    axes = matrix_of(
        matrix,
        providers=provider or ([AD_HOC] if base_url else []),
        models=model or [],
        profiles=profile or [],
        tasks=tasks,
        modes=mode,
        nanocoder=nanocoder,
        repeats=repeats,
        order_seed=order_seed,
    )
    with told_of(matrix, {"--provider": provider or base_url, "--model": model, "--nanocoder": nanocoder}):
        chosen = providers_of(
            axes.provider, base_url=base_url, key_env=key_env, key_file=key_file, file=providers, folder=found.root
        )
        locked_tasks = _locked_tasks(found, axes.tasks or found.locked_ids(), lock_file)
        harnesses = _harnesses(found, locked_tasks, axes.nanocoder)
    facts = [each.facts for each in chosen.values()]
    budgets = budgets_of(facts, max_tokens=max_tokens, max_seconds=max_seconds, max_cost=max_cost)
    manifest = _manifest(locked_tasks, harnesses, facts, axes, budgets)
    expected = forecast(manifest, {name: locked.task.value.limits for name, locked in locked_tasks.items()})
    if dry_run:
        return common.show(unstructure(expected), expected.text(), as_json=as_json)
    destination = _destination(found, out)
    if not RunState.place(destination).exists():  # what was begun may have nothing left to ask
        check_reach(facts)
    common.say(f"{expected.text()}\nbundle: {destination}")
    bench = common.workbench(store, engine)
    stages = _stages(locked_tasks, harnesses, bench=bench, offline=offline or frozen)
    state = RunState(RunState.place(destination), manifest)
    work = Run(state=state, stages=stages, providers=chosen, bench=bench, finished=teller(len(state.pending())))
    results = _carry_out(work, destination, jobs=jobs or jobs_for(stages))
    tell(results, destination, as_json=as_json)


def _locked_tasks(project: Project, names: Sequence[str], lock_file: Path | None) -> dict[str, LockedTask]:
    """Each task's locks, which must be current."""
    if not names:
        raise Misuse("NB_USAGE", "there is no locked task", hint="nanobench lock TASK")
    if lock_file is not None and len(names) != 1:
        raise Misuse("NB_USAGE", "--lock goes with exactly one task", where="--lock")
    return {name: current(project, name, lock_file=lock_file) for name in names}


def _harnesses(project: Project, tasks: dict[str, LockedTask], asked: Sequence[str]) -> dict[str, Harnesses]:
    """Which harnesses each task is run with: those asked for, else the one that it was locked with."""
    named = tuple(locked_harness(project, name) for name in asked)
    return {name: named or (locked.harness,) for name, locked in tasks.items()}


def _manifest(
    tasks: dict[str, LockedTask],
    harnesses: dict[str, Harnesses],
    providers: list[ProviderFacts],
    axes: Matrix,
    budgets: Budgets,
) -> RunManifest:
    names = {task: tuple(lock.value.name for lock in locks) for task, locks in harnesses.items()}
    first, *others = providers
    return RunManifest(
        schema=1,
        nanobench=__version__,
        provider=first,
        other_providers=tuple(others) or None,
        profiles=axes.profile or None,
        order_seed=axes.order_seed,
        budgets=budgets,
        locks={name: locked.task.sha256 for name, locked in tasks.items()},
        harnesses={lock.value.name: lock.sha256 for locks in harnesses.values() for lock in locks},
        cells=plan(
            names,
            models={facts.name: facts.models for facts in providers},
            modes=axes.modes,
            profiles=[profile.name for profile in axes.profile],
            repeats=axes.repeats,
        ),
    )


def _destination(project: Project, out: Path | None) -> Path:
    """Where the bundle will be; nothing may be there but what an earlier run of the same plan left."""
    destination = (out or project.root / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    if destination.exists() and not RunState.place(destination).exists():
        raise _exists(destination)
    return destination


def _stages(
    tasks: dict[str, LockedTask], harnesses: dict[str, Harnesses], *, bench: Workbench, offline: bool
) -> dict[str, Stage]:
    """Every task ready to run, with no harness that holds its solution, and the store told to keep what it needs."""
    stages: dict[str, Stage] = {}
    agents: dict[str, Agent] = {}
    with common.network(offline=offline) as online:
        for name, lock in {lock.value.name: lock for locks in harnesses.values() for lock in locks}.items():
            with brought_by(_bringing(name, tasks)):
                agents[name] = bring_agent(lock, online=online, bench=bench)
            keep_harness(lock, bench.store)
        for name, locked in tasks.items():
            own = [agents[lock.value.name] for lock in harnesses[name]]
            with of_task(name):
                stages[name] = set_stage(locked, own, online=online, bench=bench)
            keep(locked, bench.store)
    refuse_leaks(stages.values(), bench=bench)
    return stages


def _bringing(harness: str, tasks: dict[str, LockedTask]) -> str:
    """The command that brings a harness's files: with those of a task, if it is one's own."""
    owners = [name for name, locked in tasks.items() if locked.harness.value.name == harness]
    return f"nanobench fetch {owners[0]}" if owners else f"nanobench lock --nanocoder {harness}"


def _carry_out(work: Run, destination: Path, *, jobs: int) -> tuple[CellResult, ...]:
    """Run what is pending and publish the bundle, unless an earlier run got as far; its results."""
    with work.state.alone():
        if not destination.exists():
            work.go(jobs=jobs)
            publish(work, destination)
        results = _published(destination, work.state.manifest)
        if work.purse is not None:
            common.say(f"spent: {work.purse.spent} USD")
        work.state.remove()
    return results


def _published(destination: Path, manifest: RunManifest) -> tuple[CellResult, ...]:
    """The results of a bundle, read back; it may be of an earlier run that was killed before it could say so."""
    bundle = open_bundle(destination)
    if bundle.run != manifest:
        raise _exists(destination)
    return tuple(bundle.result(cell) for cell in manifest.cells)


def _exists(destination: Path) -> Misuse:
    where, another = str(destination), "choose another --out"
    if not (destination / MANIFEST).is_file():
        return Misuse("NB_EXISTS", "already exists", where=where, hint=another)
    return Misuse(
        "NB_EXISTS",
        "holds a finished run, which nothing is added to",
        where=where,
        hint=f"nanobench verify {where} checks it; for more cells {another}",
    )
