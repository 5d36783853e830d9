"""Sealed reports: every line is proved to be our reporter's, by a key that only it was given.

A line is ``<seal> <json>``. The seal is the sha256 of the key and the line; the next line's key is the sha256 of this
one's. The first key lies beside the report when the suite starts, and the reporter removes it before it loads
anything of the project's. So what anybody else writes into the report, or writes in its place, shows. Whoever reads
the reporter's memory can forge the lines that follow, never those that are written.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256

KEY = "key"
"""The name of the first key's file, beside the report."""

_SEAL = 64


def draw_key() -> bytes:
    """A new first key, 64 hexadecimal digits."""
    return secrets.token_hex(32).encode()


def unsealed(data: bytes, key: bytes) -> tuple[bytes, int | None]:
    """The lines without their seals, up to the first that has a wrong one; and its number from 1, or ``None``.

    What follows the last end of line is kept as it is: a line that a crash cut.
    """
    *lines, rest = data.split(b"\n")
    found: list[bytes] = []
    for number, line in enumerate(lines, 1):
        seal, body = line[:_SEAL], line[_SEAL + 1 :]
        if not hmac.compare_digest(seal, sha256(key + body).hexdigest().encode()):
            return b"".join(found), number
        key = sha256(key).hexdigest().encode()
        found.append(body + b"\n")
    return b"".join((*found, rest)), None
