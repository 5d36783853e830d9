"""What every base has, whatever it is made of: pins, entries; places for what is mounted, its user, its hosts."""

from __future__ import annotations

from attrs import frozen

from nanobench.archives.entries import Entry
from nanobench.archives.root import Root
from nanobench.errors import Refused
from nanobench.model.lock import Package
from nanobench.sandbox.interface import HOME, MOUNTS, SANDBOX_UID, WORKSPACE, fixed_env

HOSTS = b"127.0.0.1\tlocalhost nanobench\n::1\tlocalhost ip6-localhost ip6-loopback\n"
EMPTY = ("dev", "proc", "run", "sys")
"""Engines fill them: what an image has there, never is there."""
PLACES = ("opt/venv", MOUNTS[1:])
OPEN = ("tmp", "var/tmp")
OWNED = (WORKSPACE[1:], HOME[1:])
"""Of the sandbox's user."""

AGENT = HOME.rpartition("/")[2]
PASSWD = f"{AGENT}:*:{SANDBOX_UID}:{SANDBOX_UID}::{HOME}:{{}}\n"
GROUP = f"{AGENT}:*:{SANDBOX_UID}:\n"

_OF_THE_MACHINE = (".dockerenv", "etc/hostname", "etc/hosts", "etc/mtab", "etc/resolv.conf")
_NEEDED = ("cat", "chmod", "cmp", "comm", "cp", "env", "git", "sed", "sort", "xargs")
_LOADER = "lib64/ld-linux-x86-64.so.2"


@frozen(kw_only=True)
class Resolution:
    """What a base is pinned to: exactly one file a package, and the time in seconds that its inputs are of."""

    packages: tuple[Package, ...]
    source_date_epoch: int


@frozen(kw_only=True)
class Assembled:
    """A root file system as entries. Their contents are read from the scratch directory: keep it until then.

    ``warnings`` name what the image does not do as its maker meant it, sorted and unique.
    """

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]


def furnish(root: Root, *, where: str) -> None:
    """Make a base of somebody else's root: take out what belongs to the machine it was made on, add what ours have.

    Raises:
        Refused: ``NB_BASE`` when it lacks what our own steps and the agent need, or uses a place of ours.
    """
    _check(root, where)
    for path in _OF_THE_MACHINE:
        root.remove(path)
    for path in EMPTY:
        root.remove(path)
        root.directory(path)
    for path in PLACES:
        root.directory(path)
    for path in OPEN:
        root.directory(path, 0o1777)
    for path in OWNED:
        root.directory(path, owner=SANDBOX_UID)
    root.file("etc/hosts", HOSTS)
    root.file("etc/passwd", _with(_lines(root, "etc/passwd"), PASSWD.format("/bin/sh")))
    root.file("etc/group", _with(_lines(root, "etc/group"), GROUP))


def _check(root: Root, where: str) -> None:
    folders = [folder[1:] for folder in fixed_env()["PATH"].split(":")]
    missing = [name for name in _NEEDED if not any(root.find(f"{folder}/{name}") for folder in folders)]
    missing += [] if root.find("bin/sh") else ["/bin/sh"]
    if missing:
        hint = "build an image with them (base.dockerfile: FROM this one, RUN its package manager)"
        raise Refused("NB_BASE", f"the image lacks {', '.join(missing)}", where=where, hint=hint)
    if root.find(_LOADER) is None:
        hint = "use an image with glibc (Debian, Ubuntu, Fedora …)"
        raise Refused(
            "NB_BASE", f"the agent's Node needs glibc, and the image has no /{_LOADER}", where=where, hint=hint
        )
    taken = [f"/{path}" for path in (*PLACES, *OWNED) if root.children(path)]
    if taken:
        hint = "build an image that has nothing there"
        raise Refused(
            "NB_BASE", f"the image has files in {', '.join(taken)}, a place of ours", where=where, hint=hint
        )


def _lines(root: Root, path: str) -> list[bytes]:
    """The lines of a small file of accounts."""
    entry = root.find(path)
    if entry is None or entry.content is None or entry.size > 1 << 20:
        return []
    with entry.content() as stream:
        return stream.read(entry.size).splitlines()


def _with(lines: list[bytes], ours: str) -> bytes:
    """The accounts without those that have the name or the number of ours, and ours at the end."""
    taken = {AGENT.encode(), str(SANDBOX_UID).encode()}
    kept = [line for line in lines if line.strip() and not taken & {*line.split(b":")[:1], *line.split(b":")[2:3]}]
    return b"".join(line + b"\n" for line in kept) + ours.encode()
