"""Takes a key out of a stream of bytes, whatever the chunks, holding back only what may be its beginning."""

from __future__ import annotations

from nanobench.gateway.upstream import Secret

MASK = b"***"
_SHORTEST = 8
"""Shorter keys (``none``, ``ollama``) are placeholders of local servers, and would hit ordinary text."""


class Redactor:
    """One stream. A provider that echoes the key in an error must not tell it to the sandbox."""

    def __init__(self, key: Secret | None) -> None:
        value = key.reveal().encode("ascii") if key is not None else b""
        self._key = value if len(value) >= _SHORTEST else b""
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What of the bytes so far may go on."""
        if not self._key:
            return data
        clean = (self._held + data).replace(self._key, MASK)
        keep = next((n for n in range(len(self._key) - 1, 0, -1) if clean.endswith(self._key[:n])), 0)
        self._held = clean[len(clean) - keep :]
        return clean[: len(clean) - keep]

    def end(self) -> bytes:
        """What was held back and turned out to be no key."""
        held, self._held = self._held, b""
        return held

    def text(self, value: str) -> str:
        """A header value without the key, in printable ASCII."""
        plain = value.encode("ascii", "backslashreplace")[:500]
        return (plain.replace(self._key, MASK) if self._key else plain).decode("ascii")
