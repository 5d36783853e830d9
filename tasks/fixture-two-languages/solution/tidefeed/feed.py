"""All readings, and pages of them."""

from __future__ import annotations

from tidefeed.readings import Reading

MOST = 100


class FeedError(ValueError):
    """A page that cannot be asked for."""


class Feed:
    """Readings in the order in which they came."""

    def __init__(self) -> None:
        self._readings: list[Reading] = []

    def add(self, at: str, mm: int) -> Reading:
        """One more reading; ids begin at 1."""
        reading = Reading(id=len(self._readings) + 1, at=at, mm=mm)
        self._readings.append(reading)
        return reading

    def page(self, before: int | None = None, limit: int = 50) -> dict[str, object]:
        """A page, newest first: of the readings that are older than ``before``."""
        if not 1 <= limit <= MOST:
            raise FeedError(f"limit must be between 1 and {MOST}")
        older = [r for r in reversed(self._readings) if before is None or r.id < before]
        chosen = older[:limit]
        page: dict[str, object] = {
            "readings": [reading.document() for reading in chosen],
            "total": len(self._readings),
        }
        if len(older) > limit:
            page["next"] = chosen[-1].id
        return page
