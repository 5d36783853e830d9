"""How much a foreign archive may unpack to."""

from __future__ import annotations

from attrs import frozen

from nanobench.errors import Refused


@frozen(kw_only=True)
class Bounds:
    """Members in all, bytes in all and of one member, unpacked bytes for each packed one (beyond ``free`` bytes)."""

    members: int = 200_000
    total: int = 4 << 30
    member: int = 1 << 30
    ratio: int = 1000
    free: int = 1 << 20


class Meter:
    """Adds up what one archive unpacks to, and refuses it as soon as that is too much.

    Args:
        packed: bytes of the archive.
        where: what the archive is, for messages.
    """

    def __init__(self, bounds: Bounds, packed: int, where: str) -> None:
        self._bounds, self.packed, self._where = bounds, packed, where
        self._members = self._bytes = 0

    def member(self, size: int, where: str) -> None:
        """One more member that claims ``size`` bytes."""
        self._members += 1
        if self._members > self._bounds.members:
            raise _bomb(f"more than {self._bounds.members} members", where)
        if size > self._bounds.member:
            raise _bomb(f"{size} bytes; at most {self._bounds.member} are unpacked", where)

    def unpacked(self, size: int) -> None:
        """``size`` more bytes came out."""
        self._bytes += size
        if self._bytes > self._bounds.total:
            raise _bomb(f"more than {self._bounds.total} bytes", self._where)
        if self._bytes > self._bounds.free + self._bounds.ratio * self.packed:
            raise _bomb(f"unpacks to more than {self._bounds.ratio} times its size", self._where)


def _bomb(message: str, where: str) -> Refused:
    return Refused("NB_ARCHIVE_BOMB", message, where=where, hint="this archive is not unpacked at all")
