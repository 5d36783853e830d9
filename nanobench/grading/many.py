"""Several patches, or one under several conditions: graded side by side where the CPUs allow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from attrs import frozen

from nanobench.errors import Refused
from nanobench.grading.trial import Arena, Trial, try_patch
from nanobench.sandbox.interface import Engine
from nanobench.store.store import Store

T = TypeVar("T")
R = TypeVar("R")


@frozen(kw_only=True)
class Attempt:
    """A patch to grade, where, and what it is called; ``said`` is the final text that goes with it."""

    name: str
    arena: Arena
    patch: bytes
    said: str | None = None


def try_all(attempts: Iterable[Attempt], *, store: Store) -> tuple[Trial | Refused, ...]:
    """What came of each, in order; a refusal for a patch that is no difference to the base.

    Raises:
        MachineFailure: a sandbox could not be started, or the run was interrupted.
    """
    asked = tuple(attempts)
    if not asked:
        return ()
    arena = asked[0].arena
    cpus = max(attempt.arena.limits.cpus for attempt in asked)
    return tuple(side_by_side(lambda attempt: _try(attempt, store), asked, cpus=cpus, engine=arena.engine))


def side_by_side(work: Callable[[T], R], items: Iterable[T], *, cpus: int, engine: Engine) -> Iterator[R]:
    """What comes of each item, in order; as many are worked on at once as have so many CPUs to themselves."""
    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // cpus)) as pool:
        try:
            yield from pool.map(work, items)
        except KeyboardInterrupt:
            engine.stop()
            raise


def _try(attempt: Attempt, store: Store) -> Trial | Refused:
    with store.scratch("trial") as scratch:
        try:
            return try_patch(attempt.arena, attempt.patch, said=attempt.said, scratch=scratch)
        except Refused as refusal:
            return refusal
