"""Digests: always ``algorithm:hex``; documents are digested over their RFC 8785 bytes."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.model.fields import Digest


def sha256_hex(data: bytes) -> str:
    """The lower-case hex sha256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def sha256(data: bytes) -> Digest:
    """``sha256:…`` of ``data``."""
    return Digest(f"sha256:{sha256_hex(data)}")


def document_sha256(document: Any) -> str:
    """The hex sha256 of a document's canonical JSON, whatever file format it was read from."""
    return sha256_hex(json.dump(document))


def split(digest: Digest) -> tuple[str, str]:
    """``("sha256", hex)`` of a digest."""
    algorithm, _, value = digest.partition(":")
    return algorithm, value


def from_integrity(integrity: str, *, where: str) -> Digest:
    """The digest of an npm ``sha512-<base64>`` integrity string (the first sha512 one, if there are several).

    Raises:
        Refused: ``NB_INTEGRITY`` when there is none (sha1-only packages cannot be pinned).
    """
    for part in integrity.split():
        algorithm, _, encoded = part.partition("-")
        if algorithm == "sha512":
            try:
                raw = base64.b64decode(encoded.split("?")[0], validate=True)
            except ValueError:
                continue
            if len(raw) == hashlib.sha512().digest_size:
                return Digest(f"sha512:{raw.hex()}")
    raise Refused("NB_INTEGRITY", f"no sha512 in {integrity!r:.80}", where=where)
