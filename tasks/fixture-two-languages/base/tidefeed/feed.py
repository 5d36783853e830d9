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

    def page(self, offset: int = 0, limit: int = 50) -> dict[str, object]:
        """A page, newest first."""
        if not 1 <= limit <= MOST:
            raise FeedError(f"limit must be between 1 and {MOST}")
        if offset < 0:
            raise FeedError("offset must not be negative")
        newest = self._readings[::-1]
        chosen = newest[offset : offset + limit]
        page: dict[str, object] = {
            "readings": [reading.document() for reading in chosen],
            "total": len(newest),
        }
        if offset + limit < len(newest):
            page["nextOffset"] = offset + limit
        return page
