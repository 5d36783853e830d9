"""Names inside archives: bytes on disk and in a tar, text with escaped surrogates everywhere else.

The file system encoding of the locale is never used, so a name is the same under every locale.
"""

from __future__ import annotations

import re

MAX_PATH = 4095
MAX_COMPONENT = 255
MAX_DEPTH = 100

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def to_bytes(path: str) -> bytes:
    """The bytes of ``path`` on disk and in a tar."""
    return path.encode("utf-8", "surrogateescape")


def to_text(raw: bytes) -> str:
    """The text of ``raw``; ``to_bytes(to_text(raw)) == raw`` for all bytes."""
    return raw.decode("utf-8", "surrogateescape")


def shown(path: str) -> str:
    """``path`` for a message: printable and not longer than a line."""
    text = path.encode("unicode_escape", "surrogatepass").decode("ascii")
    return text if len(text) <= 200 else f"{text[:197]}..."


def plain(name: str) -> str:
    """A tar member's name without the leading ``./`` and a final slash; empty for the root."""
    return name.removeprefix("./").rstrip("/") if name != "." else ""


def problem(path: str) -> str | None:
    """What keeps ``path`` from naming something below a root; None when it does."""
    parts = path.split("/")
    if path.startswith("/"):
        return "an absolute path"
    if ".." in parts:
        return "a path with '..'"
    if "" in parts or "." in parts:
        return "a path with an empty or '.' component"
    return _odd(path, parts)


def _odd(path: str, parts: list[str]) -> str | None:
    if _CONTROL.search(path):
        return "a name with a control character"
    try:
        raw = to_bytes(path)
    except UnicodeEncodeError:
        return "a name that has no bytes"
    if len(raw) > MAX_PATH or len(parts) > MAX_DEPTH:
        return f"a path of {len(raw)} bytes and {len(parts)} components"
    if len(raw) > MAX_COMPONENT and max(len(to_bytes(part)) for part in parts) > MAX_COMPONENT:
        return f"a name longer than {MAX_COMPONENT} bytes"
    return None
