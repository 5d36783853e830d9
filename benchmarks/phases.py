"""Real pull requests: what is fetched and stored for them, and one lock and one cell of each, split by phase.

A lock is made from the pins in an empty store. A cell is the oracle's: agent, patch, tests, as in a run. Each is one
run, so read shares and not seconds. A task whose repository cannot be reached, here or from a mirror, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from time import perf_counter

from attrs import evolve, frozen

from benchmarks.errands import held, lay
from benchmarks.measure import Place, Row, on_engine, staged
from nanobench.cli.common import say
from nanobench.curate.lock import lock_task
from nanobench.errors import CannotTell
from nanobench.gateway.budget import Budget
from nanobench.image.workbench import Workbench
from nanobench.model.result import Cell
from nanobench.runner.cell import attempt_cell
from nanobench.runner.providers import Scripted
from nanobench.runner.stage import Stage
from nanobench.sandbox.interface import Engine, Finished, Request
from nanobench.store.store import Store

TASKS = ("anyio-1153", "zod-6371")
STAGING, SANDBOXES, TEARDOWN = "staging", "start and end of the sandboxes", "teardown"
PARTS = {
    "shadow": STAGING,
    "agent": "agent",
    "git": "patch",
    "git:final": "second workspace",
    "tests": "tests",
}
"""Phase of a sandbox → what its time, and the time since the one before, counts as; all before the agent: staging."""

STEPS = ("gate ", "running the tests")
"""How the lines begin that ``lock`` says at the start of a step; what goes before is fetching and building."""


@frozen(kw_only=True)
class Span:
    """One sandbox: when it was asked for and over, the seconds of its command, its peak memory."""

    phase: str
    begun: float
    ended: float
    inside: float
    peak_mib: int


class Timed:
    """An engine, and a span of each of its runs."""

    def __init__(self, inner: Engine) -> None:
        self.inner, self.name = inner, inner.name
        self.spans: list[Span] = []

    def run(self, request: Request) -> Finished:
        """Run the request and note its span."""
        begun = perf_counter()
        finished = self.inner.run(request)
        span = Span(
            phase=request.phase,
            begun=begun,
            ended=perf_counter(),
            inside=finished.wall_ms / 1000,
            peak_mib=finished.peak_mib or 0,
        )
        self.spans.append(span)
        return finished

    def own(self, path: Path) -> None:
        """As the engine does."""
        self.inner.own(path)

    def stop(self) -> None:
        """As the engine does."""
        self.inner.stop()

    def check(self) -> tuple[str, ...]:
        """As the engine does."""
        return self.inner.check()


def rows(place: Place) -> Iterator[Row]:
    """The rows of every task that can be had."""
    for name in TASKS:
        try:
            stage = staged(name, place.project, place.bench)
        except CannotTell as lacking:
            say(f"left out: {name}: {lacking.message}")
            continue
        yield from lock_rows(place, stage)
        yield from cell_rows(place.bench, stage)


def lock_rows(place: Place, stage: Stage) -> Iterator[Row]:
    """``lock`` from the pins in an empty store, without network, and what the store holds afterwards."""
    name, marks = stage.locked.task.value.task, [("fetching and building", perf_counter())]

    def note(line: str) -> None:
        if line.startswith(STEPS):
            marks.append((line, perf_counter()))

    with place.bench.store.scratch("bench") as scratch:
        bench = evolve(place.bench, store=Store(scratch / "store"), say=note)
        needed = lay(stage.locked, place.bench.store, bench.store)
        marks[0] = (marks[0][0], perf_counter())
        lock_task(place.project, name, upgrade=(), online=None, bench=bench, dry_run=True)
        ended, stored = perf_counter(), held(scratch / "store")
    yield Row(name=f"{name}: fetched", unit="files", value=len(needed))
    yield Row(name=f"{name}: fetched", unit="MiB", value=sum(file.size for file in needed) / (1 << 20))
    yield Row(name=f"{name}: stored", unit="MiB", value=stored)
    ends = [*(when for _, when in marks[1:]), ended]
    parts = {step: end - begun for (step, begun), end in zip(marks, ends, strict=True)}
    yield from _shares(f"{name}, lock", parts, ended - marks[0][1])


def cell_rows(bench: Workbench, stage: Stage) -> Iterator[Row]:
    """The oracle's cell, and the largest memory of the agent and of the tests beside their limit."""
    lock, engine = stage.locked.task.value, Timed(bench.engine)
    timed, harness = on_engine(stage, engine), stage.locked.harness.value.name
    cell = Cell(task=lock.task, harness=harness, provider="oracle", model="oracle", mode="hinted", repeat=0)
    provider = Scripted(behaviour="oracle", models=("oracle",))
    begun = perf_counter()
    result = attempt_cell(timed, cell, provider, number=1, budget=Budget(), bench=evolve(bench, engine=engine))
    ended = perf_counter()
    assert result.score is not None and result.score.resolved, result
    yield from _shares(f"{lock.task}, cell", split(begun, engine.spans, ended), ended - begun)
    for part in ("agent", "tests"):
        peak = max(span.peak_mib for span in engine.spans if _part(span) == part)
        yield Row(
            name=f"{lock.task}: memory of {part}",
            unit="MiB",
            value=peak,
            yardstick="its limit",
            against=lock.limits.memory_mib,
        )


def split(begun: float, spans: Iterable[Span], ended: float) -> dict[str, float]:
    """The seconds from ``begun`` to ``ended`` by part; they add up."""
    parts = dict.fromkeys((*PARTS.values(), SANDBOXES, TEARDOWN), 0.0)
    at, working = begun, False
    for span in spans:
        part = _part(span)
        parts[part if working else STAGING] += span.begun - at
        working = working or part == "agent"
        parts[part if working else STAGING] += span.inside
        parts[SANDBOXES] += span.ended - span.begun - span.inside
        at = span.ended
    parts[TEARDOWN] += ended - at
    return parts


def _part(span: Span) -> str:
    return PARTS.get(span.phase) or PARTS[span.phase.partition(":")[0]]


def _shares(what: str, parts: dict[str, float], whole: float) -> Iterator[Row]:
    yield Row(name=what, unit="s", value=whole)
    for part, seconds in parts.items():
        yield Row(name=f"{what}: {part}", unit="s", value=seconds, yardstick="the whole", against=whole)
