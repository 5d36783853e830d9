"""Which cells does a run consist of? Planned from the locks before anything runs, so that a missing one is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import product

from nanobench.errors import Misuse
from nanobench.model.fields import FieldError
from nanobench.model.result import Cell, Mode


def plan(
    harnesses: Mapping[str, Sequence[str]],
    *,
    models: Mapping[str, Sequence[str]],
    modes: Sequence[Mode],
    profiles: Sequence[str] = (),
    repeats: int,
) -> tuple[Cell, ...]:
    """Task × harness × provider and model × mode × profile × repeat, in that order.

    Args:
        harnesses: each task's, by the names of their locks.
        models: each provider's, by its name.
        profiles: none is one setting too: Nanocoder as ever.

    Raises:
        Misuse: ``NB_PLAN`` when a model, mode or harness stands twice, when there is nothing to run, or for a name
            that no provider or model has.
    """
    try:
        cells = tuple(
            Cell(
                task=task, harness=harness, provider=provider, model=model, mode=mode, profile=profile, repeat=repeat
            )
            for task, names in harnesses.items()
            for harness in names
            for provider, own in models.items()
            for model, mode, profile, repeat in product(own, modes, profiles or (None,), range(repeats))
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


def interleaved(cells: Iterable[Cell], seed: int) -> tuple[Cell, ...]:
    """The order in which cells are begun: all first repeats, then all second ones, …; of a repeat task by task, in
    drawn order; of a task all arms, in drawn order.

    So the arms that are compared run close together, and a provider that drifts meets all of them alike. Drawn is the
    sha256 of seed and name: the same on every machine, and for what is left of a plan the same as for the whole.
    """

    def drawn(name: str) -> str:
        return sha256(f"{seed} {name}".encode()).hexdigest()

    return tuple(sorted(cells, key=lambda c: (c.repeat, drawn(f"{c.task} {c.repeat}"), c.task, drawn(c.id))))
