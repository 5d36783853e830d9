"""Why does bubblewrap not start here, and what helps? Words for the errors that the kernel gives."""

from __future__ import annotations


def remedy(message: str) -> str:
    """What to do about this message of bubblewrap or the launcher."""
    return "nanobench doctor says what this machine lacks"
