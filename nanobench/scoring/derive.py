"""Target tests from outcomes: derived from runs, never written by hand."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from nanobench.errors import Refused
from nanobench.model.lock import LockedTests
from nanobench.model.result import Outcome
from nanobench.scoring.score import passes


def derive_tests(
    base: Mapping[str, Outcome],
    golden: Mapping[str, Outcome],
    *,
    quarantine: Collection[str] = (),
    where: str = "",
    seen: tuple[str, ...] = (),
) -> LockedTests:
    """Which tests tell the solution from the base?

    ``fail_to_pass`` pass with the golden patch and not at base; ``pass_to_pass`` pass in both. A quarantined
    test is in neither; it stands in ``unstable``.

    Args:
        base: outcomes at base with the test patch.
        golden: outcomes with the golden patch and the test patch.
        quarantine: test ids of the task file that are left out of grading.
        where: the task file, for messages.
        seen: how the runs went, said when there is no target.

    Raises:
        Refused: ``NB_QUARANTINE`` for an id that no run named; ``NB_NO_TARGET`` when no test turns green.
    """
    left_out = set(quarantine)
    unknown = sorted(left_out - base.keys() - golden.keys())
    if unknown:
        raise Refused(
            "NB_QUARANTINE",
            "quarantined tests that no run reported",
            where=f"{where}: quarantine".lstrip(": "),
            details=tuple(unknown),
            hint="an id is `suite|node id`, as the outcomes of the verification gate spell it",
        )
    targets = turned_green(base, golden, quarantine=quarantine)
    if not targets:
        raise Refused(
            "NB_NO_TARGET",
            "no test fails at base and passes with the golden patch",
            where=where,
            details=seen,
            hint="check the suite's command and the path rules: the test patch must hold a test of the change",
        )
    return LockedTests(
        fail_to_pass=targets,
        pass_to_pass=stayed_green(base, golden, quarantine=quarantine),
        unstable=tuple(sorted(left_out)),
    )


def turned_green(
    base: Mapping[str, Outcome], golden: Mapping[str, Outcome], *, quarantine: Collection[str] = ()
) -> tuple[str, ...]:
    """Which tests pass with the golden patch and not at base?"""
    return tuple(test for test in _green(golden, quarantine) if not passes(base, test))


def stayed_green(
    base: Mapping[str, Outcome], golden: Mapping[str, Outcome], *, quarantine: Collection[str] = ()
) -> tuple[str, ...]:
    """Which tests pass in both states?"""
    return tuple(test for test in _green(golden, quarantine) if passes(base, test))


def _green(golden: Mapping[str, Outcome], quarantine: Collection[str]) -> list[str]:
    return sorted(test for test in golden if passes(golden, test) and test not in quarantine)


def regressions(
    base: Mapping[str, Outcome], golden: Mapping[str, Outcome], *, quarantine: Collection[str] = ()
) -> tuple[str, ...]:
    """Which tests pass at base and not with the golden patch? There must be none."""
    return tuple(
        sorted(test for test in base if passes(base, test) and not passes(golden, test) and test not in quarantine)
    )
