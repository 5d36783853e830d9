"""Which engine? Bubblewrap, which needs neither a daemon nor root, unless it does not work here and Docker does."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from nanobench.errors import MachineFailure
from nanobench.sandbox.bubblewrap import Bubblewrap
from nanobench.sandbox.interface import Engine
from nanobench.store.store import Store


class EngineName(StrEnum):
    """The words of ``--engine``."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    DOCKER = "docker"


def engine_named(name: EngineName, store: Store) -> Engine:
    """The engine of this name, tried; ``auto`` is the first that works.

    Raises:
        MachineFailure: ``NB_NO_ENGINE`` with what keeps each one asked for from working, and its remedy.
    """
    problems: list[str] = []
    for engine in _engines(name, store):
        found = engine.check()
        if not found:
            return engine
        problems += (f"{engine.name}: {problem}" for problem in found)
    asked = "no sandbox engine works here" if name is EngineName.AUTO else f"the engine {name} does not work here"
    raise MachineFailure("NB_NO_ENGINE", asked, details=tuple(problems), hint="nanobench doctor")


def untried_engine(name: EngineName, store: Store) -> Engine:
    """The same engine, even when none works: its first run will tell."""
    try:
        return engine_named(name, store)
    except MachineFailure:
        return next(_engines(name, store))


def _engines(name: EngineName, store: Store) -> Iterator[Engine]:
    if name is not EngineName.DOCKER:
        yield Bubblewrap()
    if name is not EngineName.BUBBLEWRAP:
        from nanobench.sandbox.docker import Docker  # its libraries are slow to load, and seldom needed

        yield Docker(store)
