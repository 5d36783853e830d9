"""One reading of the gauge."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """The water level in millimetres; ``id`` grows with every reading."""

    id: int
    at: str
    mm: int

    def document(self) -> dict[str, object]:
        """As it goes over the wire."""
        return {"id": self.id, "at": self.at, "mm": self.mm}
