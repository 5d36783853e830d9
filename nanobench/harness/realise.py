"""From a harness lock alone to the closure's tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.harness.build import check_here
from nanobench.harness.closure import build_closure, closure_key
from nanobench.harness.contract import contract_of
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock
from nanobench.store.store import Store


def realise_closure(lock: HarnessLock, *, online: Online | None, bench: Workbench) -> Path:
    """The tree of a locked closure, from its pinned files; this program must know the locked report's contract.

    Raises:
        Refused: ``NB_HARNESS_VERSION``, ``NB_REPORT_SCHEMA``, ``NB_CLOSURE``.
        CannotTell: a pinned file is missing and may not or cannot be fetched.
    """
    contract_of(lock)
    if bench.store.tree(closure_key(lock)) is None:
        fetch_closure(lock, bench.store, online=online, say=bench.say, progress=bench.fetched)
    return build_closure(lock, bench.store)


def fetch_closure(
    lock: HarnessLock,
    store: Store,
    *,
    online: Online | None,
    say: Callable[[str], None],
    progress: Callable[[int], None] | None = None,
) -> None:
    """Make sure that the store holds every pinned file of a closure.

    Raises:
        CannotTell: ``NB_BUILD_MISSING`` for a packed build, which nothing can fetch; and as
            :func:`nanobench.ecosystems.fetch.fetch` says, which raises ``Refused`` too.
    """
    if lock.original.tarball is not None:
        check_here(lock.original.tarball, store)
    fetch(lock.package, store, online=online, say=say, progress=progress)
