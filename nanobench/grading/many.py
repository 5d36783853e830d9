"""Several patches, or one under several conditions: graded side by side where the CPUs allow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from attrs import frozen

from nanobench.errors import Refused
from nanobench.grading.trial import Arena, Trial, try_patch
from nanobench.store.store import Store


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
    with ThreadPoolExecutor(_at_once(asked)) as pool:
        try:
            return tuple(pool.map(lambda attempt: _try(attempt, store), asked))
        except KeyboardInterrupt:
            for attempt in asked:
                attempt.arena.engine.stop()
            raise


def _at_once(attempts: Sequence[Attempt]) -> int:
    """As many as have their CPUs to themselves."""
    needed = max((attempt.arena.limits.cpus for attempt in attempts), default=1)
    return max(1, len(os.sched_getaffinity(0)) // needed)


def _try(attempt: Attempt, store: Store) -> Trial | Refused:
    with store.scratch("trial") as scratch:
        try:
            return try_patch(attempt.arena, attempt.patch, said=attempt.said, scratch=scratch)
        except Refused as refusal:
            return refusal
