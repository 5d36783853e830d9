"""What building and running need at hand: the store, an engine, and a way to say what goes on."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from nanobench.sandbox.interface import Engine
from nanobench.store.store import Store


def _ignore(_: int) -> None:
    pass


@frozen(kw_only=True)
class Workbench:
    """Store, engine and talk; handed down, never global. ``fetched`` is told the bytes of each piece that arrives."""

    store: Store
    engine: Engine
    say: Callable[[str], None]
    fetched: Callable[[int], None] = _ignore
