"""What ``run`` was asked for, as a plan: which locked tasks, with which harnesses, through which providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from nanobench import __version__
from nanobench.cli import common
from nanobench.cli.locked import brought_by, current, keep, keep_harness, of_task
from nanobench.cli.nanocoder import locked_harness
from nanobench.errors import Misuse
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock
from nanobench.model.matrix import Matrix
from nanobench.model.provider import Budgets
from nanobench.model.result import RunManifest
from nanobench.project.files import Locked, Project
from nanobench.runner.forecast import Forecast, forecast
from nanobench.runner.plan import plan
from nanobench.runner.providers import Provider
from nanobench.runner.stage import Agent, LockedTask, Stage, bring_agent, refuse_leaks, set_stage

Harnesses = tuple[Locked[HarnessLock], ...]


@frozen(kw_only=True)
class Planned:
    """A run before anything of it is brought or begun. ``tasks`` and ``harnesses`` are by task."""

    tasks: Mapping[str, LockedTask]
    harnesses: Mapping[str, Harnesses]
    providers: Mapping[str, Provider]
    manifest: RunManifest

    @property
    def forecast(self) -> Forecast:
        """What it uses at most."""
        return forecast(self.manifest, {name: locked.task.value.limits for name, locked in self.tasks.items()})

    def stages(self, bench: Workbench, *, offline: bool) -> dict[str, Stage]:
        """Every task ready to run, with no harness that holds its solution, and the store told to keep what it
        needs."""
        stages: dict[str, Stage] = {}
        agents: dict[str, Agent] = {}
        with common.network(offline=offline) as online:
            for name, lock in _by_name(self.harnesses).items():
                with brought_by(self._bringing(name)):
                    agents[name] = bring_agent(lock, online=online, bench=bench)
                keep_harness(lock, bench.store)
            for name, locked in self.tasks.items():
                own = [agents[lock.value.name] for lock in self.harnesses[name]]
                with of_task(name):
                    stages[name] = set_stage(locked, own, online=online, bench=bench)
                keep(locked, bench.store)
        refuse_leaks(stages.values(), bench=bench)
        return stages

    def _bringing(self, harness: str) -> str:
        """The command that brings a harness's files: with those of a task, if it is one's own."""
        owners = [name for name, locked in self.tasks.items() if locked.harness.value.name == harness]
        return f"nanobench fetch {owners[0]}" if owners else f"nanobench lock --nanocoder {harness}"


def planned(
    project: Project, axes: Matrix, providers: Mapping[str, Provider], budgets: Budgets, *, lock_file: Path | None
) -> Planned:
    """The plan that the axes span, over locks that must be current.

    Args:
        lock_file: stands in place of the lock of the one task.

    Raises:
        Misuse: ``NB_USAGE`` without a locked task, or for a lock file of several; ``NB_PLAN`` when nothing is to run.
        Refused: ``NB_LOCK_STALE``, ``NB_HARNESS_NOT_LOCKED``.
    """
    tasks = _locked_tasks(project, axes.tasks or project.locked_ids(), lock_file)
    asked = tuple(locked_harness(project, name) for name in axes.nanocoder)
    harnesses = {name: asked or (locked.harness,) for name, locked in tasks.items()}
    manifest = _manifest(tasks, harnesses, providers, axes, budgets)
    return Planned(tasks=tasks, harnesses=harnesses, providers=providers, manifest=manifest)


def _locked_tasks(project: Project, names: Sequence[str], lock_file: Path | None) -> dict[str, LockedTask]:
    if not names:
        raise Misuse("NB_USAGE", "there is no locked task", hint="nanobench lock TASK")
    if lock_file is not None and len(names) != 1:
        raise Misuse("NB_USAGE", "--lock goes with exactly one task", where="--lock")
    return {name: current(project, name, lock_file=lock_file) for name in names}


def _manifest(
    tasks: Mapping[str, LockedTask],
    harnesses: Mapping[str, Harnesses],
    providers: Mapping[str, Provider],
    axes: Matrix,
    budgets: Budgets,
) -> RunManifest:
    first, *others = (each.facts for each in providers.values())
    return RunManifest(
        schema=1,
        nanobench=__version__,
        provider=first,
        other_providers=tuple(others) or None,
        profiles=axes.profile or None,
        order_seed=axes.order_seed,
        budgets=budgets,
        locks={name: locked.task.sha256 for name, locked in tasks.items()},
        harnesses={name: lock.sha256 for name, lock in _by_name(harnesses).items()},
        cells=plan(
            {task: tuple(lock.value.name for lock in locks) for task, locks in harnesses.items()},
            models={facts.name: facts.models for facts in (first, *others)},
            modes=axes.modes,
            profiles=[profile.name for profile in axes.profile],
            repeats=axes.repeats,
        ),
    )


def _by_name(harnesses: Mapping[str, Harnesses]) -> dict[str, Locked[HarnessLock]]:
    return {lock.value.name: lock for locks in harnesses.values() for lock in locks}
