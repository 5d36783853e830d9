"""Run a command as an ordinary user who can reach this Python and this checkout, wherever root keeps them.

``python ordinary.py UID GROUP COMMAND…``, as root; the user's own group is UID too, GROUP is one more of his. In a
mount namespace of its own, every folder on the way that is closed
to others (``/root``) is hidden by an open one that holds nothing but what the tests need.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18
ROOT = Path(__file__).parents[2]


def main(uid: int, group: int, command: list[str]) -> None:
    """Never returns."""
    call("unshare", CLONE_NEWNS)
    call("mount", None, b"/", None, MS_REC | MS_PRIVATE, None)
    needed = {ROOT, Path(sys.prefix), Path(sys.base_prefix), *map(Path, filter(os.path.isdir, sys.path))}
    needed |= {path.resolve() for path in needed}
    for closed in sorted({outermost for path in needed if (outermost := closed_above(path))}):
        open_up(closed, sorted(path for path in needed if path.is_relative_to(closed)))
    os.setgroups([group])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.execvp(command[0], command)


def closed_above(path: Path) -> Path | None:
    """The outermost folder above ``path`` that others may not enter."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001), None)


def open_up(closed: Path, needed: list[Path]) -> None:
    """Hide ``closed`` by an open folder with nothing but ``needed`` in it."""
    held = [(path, os.open(path, os.O_PATH)) for path in needed]
    call("mount", b"tmpfs", bytes(closed), b"tmpfs", 0, b"mode=0755,size=1m")
    for path, fd in held:
        if not path.exists():  # else it is inside of one before
            path.mkdir(parents=True)
            call("mount", f"/proc/self/fd/{fd}".encode(), bytes(path), None, MS_BIND | MS_REC, None)


def call(name: str, *arguments: int | bytes | None) -> None:
    """A function of the C library that says 0."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
