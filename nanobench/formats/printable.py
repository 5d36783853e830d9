"""Text of strangers, such that what is seen is what is there."""

from __future__ import annotations


def printable(text: str) -> str:
    """The text with every character that steers a terminal or a reader's eye spelled out: controls, escapes, what
    turns the direction of writing, what has no width. Line ends and tabs stay."""
    return "".join(c if c in "\n\t" or c.isprintable() else _spelled(ord(c)) for c in text)


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
