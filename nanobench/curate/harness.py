"""Harness locks: the one that a task names, or one that is asked for alone. Kept while nothing asks for another."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from attrs import evolve, frozen

from nanobench.curate.lock_files import old_lock, put_lock
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, Refused
from nanobench.harness.closure import build_closure
from nanobench.harness.lock import lock_harness, lock_name, request_named
from nanobench.harness.realise import realise_closure
from nanobench.image.workbench import Workbench
from nanobench.model.lock import LOCK_REVISION, HarnessLock, HarnessRequest
from nanobench.project.files import Project


@frozen(kw_only=True)
class HarnessOutcome:
    """What locking a harness came to. ``written`` names the file whose bytes changed (or would, in a dry run)."""

    lock: HarnessLock
    written: tuple[str, ...]


def lock_harness_alone(
    project: Project,
    name: str,
    request: HarnessRequest,
    *,
    upgrade: Collection[str],
    online: Online | None,
    bench: Workbench,
    dry_run: bool = False,
) -> HarnessOutcome:
    """Lock a harness that no task need name, or look whether what its lock pins can be had and gives its closure."""
    old = old_lock(project, HarnessLock, name, upgrade)
    if old is None:
        lock, _ = _lock(name, request, online=online, bench=bench)
    else:
        lock, _ = keep_or_lock_harness(name, old, upgrade=upgrade, online=online, bench=bench)
    return HarnessOutcome(lock=lock, written=put_lock(project, name, lock, dry_run=dry_run))


def keep_or_lock_harness(
    name: str, old: HarnessLock | None, *, upgrade: Collection[str], online: Online | None, bench: Workbench
) -> tuple[HarnessLock, Path]:
    """The lock and the closure's tree.

    Raises:
        Refused: ``NB_HARNESS_VERSION`` for a name whose version this program cannot lock.
    """
    if old is not None and not {"harness", "recipe"} & set(upgrade):
        return evolve(old, revision=LOCK_REVISION), realise_closure(old, online=online, bench=bench)
    request = old.original if old is not None else request_named(name)
    names = [lock_name(request, dated=dated) for dated in (False, True)]
    if name not in names:
        raise Refused("NB_HARNESS_VERSION", f"no harness is called {name!r}", hint=f"use {names[0]}")
    return _lock(name, request, online=online, bench=bench)


def _lock(name: str, request: HarnessRequest, *, online: Online | None, bench: Workbench) -> tuple[HarnessLock, Path]:
    if online is None:
        where = f"locks/harness/{name}.lock.toml"
        raise CannotTell("NB_OFFLINE", "the harness must be resolved", where=where, hint="leave out --offline")
    bench.say(f"locking {name}")
    lock = lock_harness(name, request, store=bench.store, online=online, say=bench.say)
    return lock, build_closure(lock, bench.store)
