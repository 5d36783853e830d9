"""The gates of one task: side by side on all CPUs, on a single one, and recalled because nothing has changed.

All run in a store of their own, after the image was built there and every gate was asked once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from attrs import evolve

from benchmarks.errands import lay
from benchmarks.measure import Place, Row
from nanobench.gates.interface import Case
from nanobench.gates.judge import Judged, judge_all
from nanobench.gates.relock import case_of, locked_inputs
from nanobench.store.store import Store


def rows(place: Place) -> Iterator[Row]:
    """The whole, each gate that takes a second or more, and how many are asked when nothing, or one file, changed."""
    locked, name = place.first.locked, place.first.locked.task.value.task
    with place.bench.store.scratch("bench") as scratch:
        bench = evolve(place.bench, store=Store(scratch / "store"))
        lay(locked, place.bench.store, bench.store)
        statement = locked.statement.encode()
        inputs = locked_inputs(locked.locks, locked.harness.value, statement, online=None, bench=bench)
        case = case_of(inputs, bench=bench)
        judge_all(case)  # not measured: afterwards caches are warm, and what lies in each layer is known
        with _one_cpu():
            alone, judged_alone = _timed(case, afresh=True)
        whole, judged = _timed(case, afresh=True)
        again, recalled = _timed(case)
        reworded = evolve(case, statement=statement + b"\n")
        changed, asked = _timed(reworded)
    yield Row(name=f"{name}, all gates", unit="s", value=whole, yardstick="on one CPU", against=alone)
    for one, other in zip(judged, judged_alone, strict=True):
        if (seconds := one.seconds or 0) >= 1:
            what = f"{name}, gate {one.name}"
            yield Row(name=what, unit="s", value=seconds, yardstick="on one CPU", against=other.seconds)
    for what, seconds, found in (("nothing", again, recalled), ("the statement", changed, asked)):
        yield Row(name=f"{name}, gates after {what} changed", unit="s", value=seconds, yardstick="all", against=whole)
        yield Row(
            name=f"{name}, gates asked after {what} changed",
            unit="gates",
            value=sum(one.seconds is not None for one in found),
            yardstick="all",
            against=len(found),
        )


def _timed(case: Case, *, afresh: bool = False) -> tuple[float, tuple[Judged, ...]]:
    begun = perf_counter()
    judged = judge_all(case, afresh=afresh)
    assert all(one.finding.verdict == "pass" for one in judged), [one.lines() for one in judged]
    return perf_counter() - begun, judged


@contextmanager
def _one_cpu() -> Iterator[None]:
    """This thread, and all that it starts, on one of its CPUs."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)
