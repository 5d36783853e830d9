"""``nanobench run``: the locked tasks, their arms, and a bundle of results at the end."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from nanobench.bundle.read import open_bundle
from nanobench.bundle.write import MANIFEST
from nanobench.cli import common, run_options
from nanobench.cli.budgets import budgets_of
from nanobench.cli.matrix import matrix_of, told_of
from nanobench.cli.provider import Access, check_reach, providers_of
from nanobench.cli.run_plan import Planned, planned
from nanobench.cli.run_results import tell, teller
from nanobench.errors import Misuse
from nanobench.formats.converter import unstructure
from nanobench.image.workbench import Workbench
from nanobench.model.result import CellResult, RunManifest
from nanobench.project.files import Project
from nanobench.runner.run import Run, jobs_for, publish
from nanobench.runner.state import RunState
from nanobench.sandbox.choose import EngineName


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

    Exit 0: cells were scored, whatever the scores. 1: some were though no model has shown itself. 3: no cell was.

    Examples:

        nanobench run --locked tomlkit-0.15.2 --provider oracle

        nanobench run --base-url http://127.0.0.1:11434/v1 --model qwen3:8b

        nanobench run --provider oracle --nanocoder 1.29.0 --nanocoder 1.30.0

        nanobench run --matrix matrix.toml --repeats 5

        nanobench run --provider hosted=large,small --max-cost 20 --dry-run
    """
    found = common.project(project)
    others = {"tasks": tasks, "modes": mode, "nanocoder": nanocoder, "repeats": repeats, "order_seed": order_seed}
    axes = matrix_of(matrix, providers=provider, base_url=base_url, models=model, profiles=profile, **others)
    access = Access(base_url=base_url, key_env=key_env, key_file=key_file, file=providers)
    with told_of(matrix, {"--provider": provider or base_url, "--model": model, "--nanocoder": nanocoder}):
        chosen = providers_of(axes.provider, access, folder=found.root)
        budgets = budgets_of(chosen, max_tokens=max_tokens, max_seconds=max_seconds, max_cost=max_cost)
        plan = planned(found, axes, chosen, budgets, lock_file=lock_file)
    if dry_run:
        return common.show(unstructure(plan.forecast), plan.forecast.text(), as_json=as_json)
    destination = _announced(plan, found, out)
    results = _carry_out(plan, destination, common.workbench(store, engine), offline=offline or frozen, jobs=jobs)
    tell(results, destination, as_json=as_json)


def _announced(plan: Planned, project: Project, out: Path | None) -> Path:
    """Where the bundle will be, said with what the run uses at most; nothing may be there but what an earlier run of
    the same plan left."""
    destination = (out or project.root / "runs" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    begun = RunState.place(destination).exists()
    if destination.exists() and not begun:
        raise _exists(destination)
    if not begun:  # what was begun may have nothing left to ask
        check_reach(plan.manifest.providers)
    common.say(f"{plan.forecast.text()}\nbundle: {destination}")
    return destination


def _carry_out(
    plan: Planned, destination: Path, bench: Workbench, *, offline: bool, jobs: int | None
) -> tuple[CellResult, ...]:
    """Run what is pending and publish the bundle, unless an earlier run got as far; its results."""
    stages = plan.stages(bench, offline=offline)
    state = RunState(RunState.place(destination), plan.manifest)
    finished = teller(len(state.pending()))
    work = Run(state=state, stages=stages, providers=plan.providers, bench=bench, finished=finished)
    with state.alone():
        if not destination.exists():
            work.go(jobs=jobs or jobs_for(stages))
            publish(work, destination)
        results = _published(destination, plan.manifest)
        if work.purse is not None:
            common.say(f"spent: {work.purse.spent} USD")
        state.remove()
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
