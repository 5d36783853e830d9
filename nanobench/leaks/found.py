"""What is found."""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class Found:
    """Something of the solution: where it lies, how it was recognised, and what it is. ``count``: how many of it."""

    place: str
    by: str
    what: str
    count: int = 1
