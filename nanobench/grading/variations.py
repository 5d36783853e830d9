"""The same tests under other conditions: what a stable test's outcome does not depend on.

Each variation changes one thing of an arena. The order is each runner's own affair: pytest, jest and mocha take a
file of ours that makes another order, vitest shuffles with a fixed seed, and Node's own runner has no way to do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import evolve

from nanobench.grading.interface import GRADE, ReportFormat
from nanobench.grading.javascript import JEST, MOCHA, VITEST
from nanobench.grading.pytest import Pytest
from nanobench.grading.suites import FORMATS
from nanobench.grading.trial import Arena
from nanobench.sandbox.interface import MOUNTS, Mount

SHUFFLED: Mapping[str, ReportFormat] = {
    "pytest": Pytest(plugins=("nanobench_order",)),
    "vitest": evolve(VITEST, arguments=(*VITEST.arguments, "--sequence.shuffle", "--sequence.seed=1")),
    "jest": evolve(
        JEST,
        beside=("nanobench_order_jest.cjs",),
        arguments=(*JEST.arguments, f"--testSequencer={GRADE}/nanobench_order_jest.cjs"),
    ),
    "mocha": evolve(MOCHA, reporter="nanobench_order_mocha.cjs", beside=("nanobench_mocha.cjs",)),
}
"""Formats whose order can be changed."""

LATER = "+365d"
"""By how much the clock is moved."""

_CLOCK = f"{MOUNTS}/clock"


def shuffled(arena: Arena) -> Arena:
    """Another order of tests, the same one everywhere; as it is where the runner knows no other."""
    return evolve(arena, formats={**FORMATS, **SHUFFLED})


def one_cpu(arena: Arena) -> Arena:
    """A single CPU."""
    return evolve(arena, limits=evolve(arena.limits, cpus=1))


def other_hashes(arena: Arena) -> Arena:
    """Another seed for the hashes of Python's strings, on which the order of sets hangs."""
    return evolve(arena, env={**arena.env, "PYTHONHASHSEED": "1"})


def year_later(arena: Arena, library: Path) -> Arena:
    """The clock a year on; what measures spans of time is left alone.

    Args:
        library: libfaketime, as a file in a folder of its own.
    """
    clock = {
        "LD_PRELOAD": f"{_CLOCK}/{library.name}",
        "FAKETIME": LATER,
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        # Else a wait of a few milliseconds, as Python's threads have for their lock, is none at all, and they spin.
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",
    }
    mount = Mount(source=library.parent, target=_CLOCK)
    return evolve(arena, env={**arena.env, **clock}, mounts=(*arena.mounts, mount))
