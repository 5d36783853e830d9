"""How many messages went where."""

from __future__ import annotations

from collections.abc import Mapping

from mailroom.render.columns import aligned


def table(counts: Mapping[str, int]) -> str:
    """A line a folder, the fullest first."""
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return aligned([(folder, str(count)) for folder, count in rows])
