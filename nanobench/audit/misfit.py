"""Was a script rightly kept from its part? A cell whose behaviour does not fit the task is published as not run."""

from __future__ import annotations

from collections.abc import Iterator

from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.gateway.scripted.behaviours import BEHAVIOURS, part_of
from nanobench.gateway.scripted.scene import Scene
from nanobench.model.result import CellResult, RunManifest


def misfit(run: RunManifest, result: CellResult, scene: Scene) -> Iterator[str | NanobenchError]:
    """What speaks against a cell that was not run; nothing where its script refuses the part here in the same words.

    Where the run's cost had a bound, that may have been spent as well: nobody can tell. What is no script is a matter
    of the rescore.
    """
    cell, said = result.cell, result.attempts[-1].detail
    part = part_of(cell.provider, cell.model)
    if run.provider_of(cell).kind != "scripted" or part not in BEHAVIOURS:
        return
    found = _refusal(part, scene)
    if found == said:
        return
    if run.budgets.max_cost is None:
        yield f"{cell.id}: published as not run ({said:.200}); here {found or f'the part {part} fits'}"
    else:
        hint = "the cell is not scored; run it again to know"
        yield CannotTell("NB_CAUSE_UNSHOWN", f"published as not run: {said:.200}", where=cell.id, hint=hint)


def _refusal(part: str, scene: Scene) -> str | None:
    try:
        BEHAVIOURS[part](scene)
    except Refused as refusal:
        if refusal.code != "NB_PART":
            raise
        return refusal.message
    return None
