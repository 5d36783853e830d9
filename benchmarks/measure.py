"""What every benchmark shares: medians taken in turns, one row of the table, the facts of the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any, Literal

import psutil
from attrs import evolve, frozen

from nanobench.cli.locked import current
from nanobench.ecosystems.online import Online
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.runner.stage import Stage, bring_agent, set_stage
from nanobench.sandbox.interface import Engine


@frozen(kw_only=True)
class Row:
    """One figure beside its yardstick.

    ``unit`` is of both figures. ``aim`` is the largest value that satisfies, of the figure itself or of the ratio;
    None when nothing is promised. ``runs`` is how many runs the medians are of.
    """

    name: str
    unit: Literal["s", "MiB", "files", "layers", "gates", "cells/min"]
    value: float
    yardstick: str = ""
    against: float | None = None
    aim: float | None = None
    aim_of: Literal["value", "ratio"] = "value"
    runs: int = 1

    @property
    def ratio(self) -> float | None:
        """The figure divided by its yardstick's."""
        return self.value / self.against if self.against else None

    @property
    def met(self) -> bool | None:
        """Is the aim met? None without one."""
        measured = self.value if self.aim_of == "value" else self.ratio
        return None if self.aim is None or measured is None else measured <= self.aim


@frozen(kw_only=True)
class Place:
    """Where benchmarks run: the project, a warm store with its engine, and the tasks, each staged as for a run."""

    project: Project
    bench: Workbench
    stages: dict[str, Stage]
    repeats: int

    @property
    def first(self) -> Stage:
        """The first task."""
        return next(iter(self.stages.values()))


def staged(task: str, project: Project, bench: Workbench) -> Stage:
    """The task as a run would have it; what the store lacks is fetched and built, and not measured."""
    locked = current(project, task)
    with Online() as online:
        agent = bring_agent(locked.harness, online=online, bench=bench)
        return set_stage(locked, [agent], online=online, bench=bench)


def on_engine(stage: Stage, engine: Engine) -> Stage:
    """The same stage with another engine for its agent and its tests."""
    place = evolve(stage.place, arena=evolve(stage.place.arena, engine=engine))
    return evolve(stage, engine=engine, place=place)


def in_turns(repeats: int, *works: Callable[[], object]) -> list[float]:
    """The median seconds of each work. They take turns, so that what disturbs the machine disturbs all; the first
    round only warms the caches."""
    times: list[list[float]] = [[] for _ in works]
    for number in range(repeats + 1):
        for work, taken in zip(works, times, strict=True):
            start = perf_counter()
            work()
            if number:
                taken.append(perf_counter() - start)
    return [median(taken) for taken in times]


def machine() -> dict[str, Any]:
    """What a reader of the figures must know of this machine."""
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "load": [round(value, 2) for value in os.getloadavg()],
        "memory_mib": psutil.virtual_memory().total >> 20,
        "kernel": platform.release(),
        "python": platform.python_version(),
        "user": "root" if os.geteuid() == 0 else "ordinary",
    }
