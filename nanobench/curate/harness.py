"""The harness lock that a task names: kept while nothing asks for another, else locked anew."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, Refused
from nanobench.harness.closure import build_closure
from nanobench.harness.lock import DEFAULT, lock_harness, lock_name
from nanobench.harness.realise import realise_closure
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock


def keep_or_lock_harness(
    name: str, old: HarnessLock | None, *, upgrade: Collection[str], online: Online | None, bench: Workbench
) -> tuple[HarnessLock, Path]:
    """The lock and the closure's tree.

    Raises:
        Refused: ``NB_HARNESS_VERSION`` for a name whose version this program cannot lock.
    """
    if old is not None and not {"harness", "recipe"} & set(upgrade):
        return old, realise_closure(old, online=online, bench=bench)
    request = old.original if old is not None else DEFAULT
    if lock_name(request) != name:
        raise Refused("NB_HARNESS_VERSION", f"no harness {name!r} can be locked", hint=f"use {lock_name(DEFAULT)}")
    if online is None:
        where = f"locks/harness/{name}.lock.toml"
        raise CannotTell("NB_OFFLINE", "the harness must be resolved", where=where, hint="leave out --offline")
    bench.say(f"locking {name}")
    lock = lock_harness(request, store=bench.store, online=online, say=bench.say)
    return lock, build_closure(lock, bench.store)
