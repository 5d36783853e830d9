"""Which files are generated from the code, and their bytes: ``make golden`` writes them, a test compares them."""

from __future__ import annotations

from nanobench.formats import json
from nanobench.formats.documents import KINDS
from nanobench.formats.schema import emit


def schemas() -> dict[str, bytes]:
    """File name below ``schemas/`` → bytes, for every document kind of ours."""
    return {f"{name}.schema.json": json.pretty(emit(kind, name=name)) for name, kind in KINDS.items()}
