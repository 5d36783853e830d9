"""One spelling of a word."""

from __future__ import annotations

import unicodedata


def folded(word: str) -> str:
    """The word without case, accents and the punctuation around it."""
    plain = unicodedata.normalize("NFKD", word.strip().strip(".,;:!?\"'()"))
    return "".join(c for c in plain if not unicodedata.combining(c)).casefold()
