"""A page for a query string, as JSON."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

from tidefeed.feed import Feed, FeedError

KNOWN = {"before", "limit"}


def answer(feed: Feed, query: str) -> tuple[int, str]:
    """Status and body for what stands behind the ``?``."""
    try:
        asked = {name: _number(name, values) for name, values in parse_qs(query, keep_blank_values=True).items()}
        return 200, json.dumps(feed.page(**asked))
    except FeedError as error:
        return 400, json.dumps({"error": str(error)})


def _number(name: str, values: list[str]) -> int:
    if name not in KNOWN:
        raise FeedError(f"{name} is not known")
    if len(values) != 1 or not values[0].isdecimal():
        raise FeedError(f"{name} must be one number")
    return int(values[0])
