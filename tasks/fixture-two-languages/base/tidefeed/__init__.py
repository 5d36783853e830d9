"""Readings of a tide gauge, page by page."""

from tidefeed.feed import Feed, FeedError
from tidefeed.readings import Reading
from tidefeed.service import answer

__all__ = ["Feed", "FeedError", "Reading", "answer"]
