"""What the person allows a run to use up."""

from __future__ import annotations

from collections.abc import Mapping

from nanobench.errors import Misuse
from nanobench.model.fields import FieldError
from nanobench.model.provider import Budgets
from nanobench.runner.forecast import unpriced
from nanobench.runner.providers import Provider


def budgets_of(
    providers: Mapping[str, Provider], *, max_tokens: int | None, max_seconds: int | None, max_cost: str | None
) -> Budgets:
    """The budgets that were asked for.

    Raises:
        Misuse: ``NB_USAGE`` for a number that is none, ``NB_PRICE`` when money is bounded that cannot be counted.
    """
    try:
        budgets = Budgets(max_tokens=max_tokens, max_seconds=max_seconds, max_cost=max_cost)
    except FieldError as error:
        raise Misuse("NB_USAGE", str(error), where="--" + error.field.replace("_", "-")) from None
    if max_cost is not None and (missing := unpriced(each.facts for each in providers.values())):
        raise Misuse(
            "NB_PRICE",
            f"no price is known of {', '.join(missing)}",
            where="--max-cost",
            hint="add [[provider.price]] with model, input and output (USD a million tokens) to the provider's entry",
        )
    return budgets
