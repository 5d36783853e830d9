"""Which cells does a run consist of? Planned from the locks before anything runs, so that a missing one is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nanobench.errors import Misuse
from nanobench.model.fields import FieldError
from nanobench.model.result import Cell, Mode


def plan(
    harnesses: Mapping[str, Sequence[str]],
    *,
    provider: str,
    models: Sequence[str],
    modes: Sequence[Mode],
    repeats: int,
) -> tuple[Cell, ...]:
    """Task × harness × model × mode × repeat, in that order, for one provider.

    Args:
        harnesses: each task's, by the names of their locks.

    Raises:
        Misuse: ``NB_PLAN`` when a model, mode or harness stands twice, when there is nothing to run, or for a name
            that no provider or model has.
    """
    try:
        cells = tuple(
            Cell(task=task, harness=harness, provider=provider, model=model, mode=mode, repeat=repeat)
            for task, names in harnesses.items()
            for harness in names
            for model in models
            for mode in modes
            for repeat in range(repeats)
        )
    except FieldError as error:
        raise Misuse("NB_PLAN", str(error), where=error.field) from None
    ids = [cell.id for cell in cells]
    if not cells or len(set(ids)) != len(ids):
        twice = sorted({i for i in ids if ids.count(i) > 1})
        raise Misuse(
            "NB_PLAN", "nothing to run" if not cells else "a cell stands twice in the plan", details=tuple(twice)
        )
    return cells
