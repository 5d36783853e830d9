"""Which keys may sign a Debian suite? Pinned by fingerprint; where the keyring file came from does not matter.

A private keyring with nothing but pinned keys is cut out of any keyring file, so that apt, with whichever verifier
this machine has, can accept no other signature. Only as much of OpenPGP is read as cutting needs (RFC 9580 §4.2).
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterator
from pathlib import Path

from nanobench.ecosystems.deb_archive import files_of
from nanobench.ecosystems.deb_control import stanzas
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.errors import CannotTell, Refused

ARCHIVE_KEYS: dict[str, frozenset[str]] = {
    "bookworm": frozenset(
        {"B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8", "4D64FEC119C2029067D6E791F8D2585B8783D481"},
    ),
    "trixie": frozenset(
        {"04B54C3CDCA79751B16BC6B5225629DF75B188BD", "41587F7DB8C774BCCF131416762F67A0B2C39DE4"},
    ),
}
"""Suite → primary fingerprints of its automatic signing key and of its release key."""

KEYRINGS = tuple(Path(f"/usr/share/keyrings/debian-archive-keyring.{end}") for end in ("gpg", "pgp"))

_PUBLIC_KEY = 6
_PARTS = {_PUBLIC_KEY, 2, 13, 14, 17}
"""Public key, signature, user id, subkey, user attribute: what a certificate consists of."""

_MAX_INDEX = 512 << 20
_MAX_PACKAGE = 16 << 20


def pinned_keyring(suite: str, base: str, *, online: Online, keyrings: tuple[Path, ...] = KEYRINGS) -> bytes:
    """An OpenPGP keyring that holds only the keys pinned for ``suite``.

    Taken from the machine's keyring file, else from the keyring package of the archive at ``base``: the pinned
    fingerprints make an unchecked download as good as any.

    Raises:
        Refused: ``NB_SUITE`` for a suite without pinned keys; ``NB_KEYRING`` when no pinned key is to be had.
        CannotTell: ``NB_UNREACHABLE`` when the archive does not answer.
    """
    pinned = ARCHIVE_KEYS.get(suite)
    if pinned is None:
        known = ", ".join(sorted(ARCHIVE_KEYS))
        raise Refused("NB_SUITE", f"no archive keys are pinned for {suite!r}", hint=f"use one of: {known}")
    for path in keyrings:
        chosen = _choose(path.read_bytes(), pinned, str(path)) if path.is_file() else b""
        if chosen:
            return chosen
    chosen = b"".join(_choose(data, pinned, "debian-archive-keyring") for data in _downloaded(suite, base, online))
    if not chosen:
        raise Refused("NB_KEYRING", f"no keyring holds a key that is pinned for {suite}", where=base)
    return chosen


def certificates(keyring: bytes) -> Iterator[tuple[str, bytes]]:
    """Each certificate of a binary keyring: its version 4 fingerprint in upper-case hex, and its bytes.

    Raises:
        ValueError: the bytes are not a keyring, or use an encoding that keyrings do not need.
    """
    fingerprint, collected = "", bytearray()
    for tag, body, packet in _packets(keyring):
        if tag == _PUBLIC_KEY:
            if collected:
                yield fingerprint, bytes(collected)
            fingerprint, collected = _fingerprint(body), bytearray(packet)
        elif tag in _PARTS and collected:
            collected += packet
    if collected:
        yield fingerprint, bytes(collected)


def _choose(keyring: bytes, pinned: frozenset[str], where: str) -> bytes:
    try:
        return b"".join(data for fingerprint, data in certificates(keyring) if fingerprint in pinned)
    except ValueError as error:
        raise Refused("NB_KEYRING", f"not an OpenPGP keyring: {error}", where=where) from None


def _fingerprint(body: bytes) -> str:
    if body[:1] != b"\x04" or len(body) > 0xFFFF:
        return ""
    # The version 4 fingerprint is defined over SHA-1; a second key of the same one cannot be made.
    digest = hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body, usedforsecurity=False)
    return digest.hexdigest().upper()


def _packets(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    position = 0
    while position < len(data):
        tag, start, size = _header(data, position)
        if start + size > len(data):
            raise ValueError("a packet is cut off")
        yield tag, data[start : start + size], data[position : start + size]
        position = start + size


def _header(data: bytes, position: int) -> tuple[int, int, int]:
    """Tag, start of the body, size of the body of the packet at ``position``."""
    first, rest = data[position], data[position + 1 : position + 6]
    if not first & 0x80 or len(rest) < 1:
        raise ValueError(f"no packet starts at byte {position}")
    if not first & 0x40:  # the older format
        width = (1, 2, 4, 0)[first & 3]
        if not width:
            raise ValueError("a packet without a length")
        return (first >> 2) & 15, position + 1 + width, int.from_bytes(rest[:width], "big")
    tag, length = first & 63, rest[0]
    if length < 192:
        return tag, position + 2, length
    if length < 224:
        return tag, position + 3, ((length - 192) << 8) + rest[1] + 192 if len(rest) > 1 else len(data)
    if length == 255:
        return tag, position + 6, int.from_bytes(rest[1:5], "big")
    raise ValueError("a packet of partial lengths")


def _downloaded(suite: str, base: str, online: Online) -> list[bytes]:
    """The keyring files of the archive's own debian-archive-keyring package."""
    try:
        index = online.get(f"{base}/dists/{suite}/main/binary-amd64/Packages.xz", limit=_MAX_INDEX).content
        path = _keyring_path(index)
        if path is None:
            raise Refused("NB_KEYRING", f"{suite} has no package debian-archive-keyring", where=base)
        package = online.get(f"{base}/{path}", limit=_MAX_PACKAGE).content
    except (Gone, Unreachable) as error:
        raise CannotTell("NB_UNREACHABLE", str(error), hint="check the network and the Debian mirror") from error
    files = files_of(package, where=path)
    return [data for name, data in files.items() if name.startswith("usr/share/keyrings/debian-archive-keyring.")]


def _keyring_path(packages_xz: bytes) -> str | None:
    wanted = b"\nPackage: debian-archive-keyring\n"
    try:
        text = b"\n" + lzma.LZMADecompressor(memlimit=_MAX_INDEX).decompress(packages_xz, _MAX_INDEX)
    except lzma.LZMAError:
        return None
    start = text.find(wanted)
    if start < 0:
        return None
    lines = text[start + 1 : start + (1 << 16)].decode("utf-8", "replace").split("\n")
    return next(stanzas(lines), {}).get("Filename")
