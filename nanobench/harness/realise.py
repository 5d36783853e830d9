"""From a harness lock alone to the closure's tree."""

from __future__ import annotations

from pathlib import Path

from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.harness.closure import build_closure, closure_key
from nanobench.harness.lock import check_contract
from nanobench.image.workbench import Workbench
from nanobench.model.lock import HarnessLock


def realise_closure(lock: HarnessLock, *, online: Online | None, bench: Workbench) -> Path:
    """The tree of a locked closure, from its pinned files; this program must know the locked version's report.

    Raises:
        Refused: ``NB_HARNESS_VERSION``, ``NB_REPORT_SCHEMA``, ``NB_CLOSURE``.
        CannotTell: a pinned file is missing and may not or cannot be fetched.
    """
    check_contract(lock)
    if bench.store.tree(closure_key(lock)) is None:
        fetch(lock.package, bench.store, online=online, say=bench.say, progress=bench.fetched)
    return build_closure(lock, bench.store)
