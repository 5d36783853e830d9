"""A run: every pending cell of the plan, some at once, each kept the moment it is finished; then the bundle."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from decimal import Decimal
from pathlib import Path
from threading import Lock

from attrs import evolve, field, frozen

from nanobench.bundle.write import blobs_of, write_bundle
from nanobench.errors import MachineFailure, Refused
from nanobench.formats.documents import dump_lock
from nanobench.gateway.budget import Budget, Purse
from nanobench.harness.setting import setting_sha256
from nanobench.image.workbench import Workbench
from nanobench.model.fields import Digest
from nanobench.model.result import Attempt, Cause, Cell, CellResult
from nanobench.runner.cell import attempt_cell, failed_cell
from nanobench.runner.forecast import unpriced
from nanobench.runner.plan import interleaved
from nanobench.runner.providers import Provider
from nanobench.runner.stage import Stage
from nanobench.runner.state import RunState
from nanobench.scoring.causes import policy

_CAUSES = {"NB_INTERRUPTED": Cause.INTERRUPTED, "NB_STARVED": Cause.STARVED}
"""By the code of a machine's failure; of all others the engine is to blame."""


@frozen(kw_only=True)
class Run:
    """What a run needs: its state, a stage for every task of the plan, the providers by name.

    ``finished`` is told each result as it is kept (from several threads).
    """

    state: RunState
    stages: Mapping[str, Stage]
    providers: Mapping[str, Provider]
    bench: Workbench
    finished: Callable[[CellResult], None]
    purse: Purse | None = field(init=False, repr=False, eq=False)
    _keeping: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    @purse.default
    def _(self) -> Purse | None:
        """The run's money, where every model has a price."""
        limit = self.state.manifest.budgets.max_cost
        if unpriced(self.state.manifest.providers):
            return None
        return Purse(Decimal(limit) if limit else None, spent=self.state.paid(), keep=self.state.pay)

    def go(self, *, jobs: int) -> tuple[CellResult, ...]:
        """Run what is pending, ``jobs`` cells at once, the arms interleaved; the results of the whole plan.

        An interruption or a machine that fails ends the cells that run; what is finished stays finished.
        """
        pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="cell")
        order = interleaved(self.state.pending(), self.state.manifest.order_seed or 0)
        futures = [pool.submit(self._cell, cell) for cell in order]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            _raise_first(future.exception() for future in done)
        except BaseException:
            self.bench.engine.stop()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
        return self.state.results()

    def _cell(self, cell: Cell) -> None:
        try:
            self._attempts(cell)
        except BaseException:
            self.bench.engine.stop()  # before this thread takes the next cell
            raise

    def _attempts(self, cell: Cell) -> None:
        stage = self.stages[cell.task]
        while True:
            number = len(self.state.attempts(cell)) + 1
            result = self._attempt(stage, cell, number)
            attempt = result.attempts[-1]
            if attempt.cause is Cause.INTERRUPTED:
                raise KeyboardInterrupt
            if number > policy(attempt.cause).retries:
                break
            self.state.record_attempt(cell, attempt)
            self.bench.say(f"{cell.id}: {attempt.cause.value} ({attempt.detail}); trying again")
        run = self.state.manifest
        setting = setting_sha256(run.provider_of(cell), run.profile_of(cell))
        result = evolve(result, attempts=(*self.state.attempts(cell), attempt), setting=setting)
        with self._keeping:
            self.bench.store.register_root(self.state.folder, self._kept(result))
            self.state.finish(result)
        self.finished(result)

    def _attempt(self, stage: Stage, cell: Cell, number: int) -> CellResult:
        provider, profile = self.providers[cell.provider], self.state.manifest.profile_of(cell)

        def failed(cause: Cause, detail: str) -> CellResult:
            attempt = Attempt(number=number, cause=cause, detail=detail[:500])
            return failed_cell(stage, cell, provider, attempt, bench=self.bench)

        if self.purse is not None and (words := self.purse.exhausted()):
            return failed(Cause.NOT_RUN, words)
        try:
            return attempt_cell(
                stage,
                cell,
                provider,
                number=number,
                budget=self._budget(cell),
                bench=self.bench,
                profile=profile,
            )
        except Refused as error:
            if error.code != "NB_PART":
                raise
            return failed(Cause.NOT_RUN, error.message)
        except MachineFailure as error:
            return failed(_CAUSES.get(error.code, Cause.ENGINE), str(error))

    def _budget(self, cell: Cell) -> Budget:
        run = self.state.manifest
        profile = run.profile_of(cell)
        return Budget(
            tokens=run.budgets.max_tokens,
            seconds=run.budgets.max_seconds,
            context=profile.context_limit if profile else None,
            purse=self.purse,
            price=run.provider_of(cell).price_of(cell.model),
        )

    def _kept(self, result: CellResult) -> tuple[str, ...]:
        results = (*self.state.results(), result)
        return tuple(sorted({f"sha256:{blob}" for r in results for blob in blobs_of(r.blobs)}))


def _raise_first(errors: Iterable[BaseException | None]) -> None:
    """Raise one of the errors, if there is any: an interruption last, since it may follow from another."""
    for error in sorted((e for e in errors if e), key=lambda e: isinstance(e, KeyboardInterrupt)):
        raise error


def publish(run: Run, destination: Path) -> Path:
    """Write the bundle of a run whose cells are all finished."""
    results = run.state.results()
    blobs = {blob for result in results for blob in blobs_of(result.blobs)}
    locks: dict[str, bytes] = {}
    for task, stage in run.stages.items():
        locked = stage.locked
        locks[f"{task}.lock.toml"] = dump_lock(locked.task.value)
        locks[f"environments/{locked.environment.value.name}.lock.toml"] = dump_lock(locked.environment.value)
        for harness in (locked.harness, *(agent.lock for agent in stage.agents.values())):
            locks[f"harness/{harness.value.name}.lock.toml"] = dump_lock(harness.value)
    paths = {blob: run.bench.store.blob(Digest(f"sha256:{blob}")) for blob in sorted(blobs)}
    return write_bundle(destination, run.state.manifest, results, locks, paths, building=run.state.building)


def jobs_for(stages: Mapping[str, Stage]) -> int:
    """How many cells this machine runs at once without taking a CPU from any."""
    most = max(stage.locked.task.value.limits.cpus for stage in stages.values())
    return max(1, len(os.sched_getaffinity(0)) // most)
