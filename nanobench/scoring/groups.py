"""What tasks are grouped by: the facts that their curators state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nanobench.model.task import Curation

FACTS: Final[dict[str, Callable[[Curation], tuple[str, ...]]]] = {
    "tier": lambda stated: (str(stated.complexity_tier),),
    "domain": lambda stated: (stated.domain,),
    "language": lambda stated: tuple(sorted(stated.languages)),
    "reasoning category": lambda stated: (stated.reasoning_category,),
}
"""By each fact's name, the groups in which a task stands: one of two languages stands in both."""
