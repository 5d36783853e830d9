"""What a sandbox looks like inside, as bubblewrap arguments: a pure function of the request."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from nanobench.sandbox.interface import HOME, HOST_NAME, MOUNTS, SANDBOX_UID, Mount, Request, fixed_env, memory_mounts

MIB = 1024 * 1024

_SEALED = (
    *("--unshare-user", "--unshare-all", "--disable-userns", "--cap-drop", "ALL"),
    *("--new-session", "--die-with-parent", "--clearenv", "--hostname", HOST_NAME),
    *("--uid", str(SANDBOX_UID), "--gid", str(SANDBOX_UID)),
)


@frozen(kw_only=True)
class Inside:
    """Arguments in which a number means "where ``sources[number]`` can be reached"."""

    arguments: tuple[str | int, ...]
    sources: tuple[Path, ...]


def arrange(request: Request, *first: Path) -> Inside:
    """The arguments after bubblewrap's own name for this request. ``first`` are sources that the caller needs too."""
    sources = [*first, *request.layers, *(mount.source for mount in _ordered(request.mounts))]
    start = len(first)
    layers = range(start, start + len(request.layers))
    mounts = zip(_ordered(request.mounts), range(layers.stop, len(sources)), strict=True)
    env = fixed_env() | request.env
    arguments: tuple[str | int, ...] = (
        *_SEALED,
        *(part for name, value in sorted(env.items()) for part in ("--setenv", name, value)),
        *_root(layers),
        *("--proc", "/proc", "--dev", "/dev"),
        *_memory(request),
        *("--remount-ro", "/dev"),
        *("--perms", "0755", "--size", str(MIB), "--tmpfs", MOUNTS),
        *(part for mount, number in mounts for part in _mount(mount, number)),
        *("--remount-ro", MOUNTS),
        *("--chdir", request.cwd, "--", *request.argv),
    )
    return Inside(arguments=arguments, sources=tuple(sources))


def _ordered(mounts: tuple[Mount, ...]) -> list[Mount]:
    """Parents before what is mounted below them."""
    return sorted(mounts, key=lambda mount: mount.target)


def _root(layers: range) -> tuple[str | int, ...]:
    """The read-only root. Overlayfs wants two layers at least; bubblewrap names the lowest first, as we do."""
    if len(layers) == 1:
        return ("--ro-bind", layers[0], "/")
    return (*(part for number in layers for part in ("--overlay-src", number)), "--ro-overlay", "/")


def _memory(request: Request) -> tuple[str, ...]:
    """File systems in memory. Home is the user's own; the others are everybody's, as on any machine."""
    sizes = memory_mounts(request.limits)
    return tuple(
        part
        for target, mib in sizes.items()
        for part in ("--perms", "0755" if target == HOME else "1777", "--size", str(mib * MIB), "--tmpfs", target)
    )


def _mount(mount: Mount, number: int) -> tuple[str | int, ...]:
    return ("--bind" if mount.writable else "--ro-bind", number, mount.target)
