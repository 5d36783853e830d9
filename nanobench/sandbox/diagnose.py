"""Why does bubblewrap not start here, and what helps? Rules over the facts of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from attrs import frozen

from nanobench.sandbox.interface import HOME, MOUNTS, WORKSPACE, Mount, Request, SandboxLimits
from nanobench.store.files import abandoned, held, make_folder

CHROOT = (
    "this is a plain chroot, where the kernel allows no sandbox: enter the root file system with pivot_root instead "
    "(systemd-nspawn, a container, a virtual machine)"
)
SWITCHED_OFF = "user namespaces are switched off: sysctl -w user.max_user_namespaces=10000"
CLOSED = "user namespaces are closed to ordinary users: sysctl -w kernel.unprivileged_userns_clone=1"
CONTAINER = (
    "a container's default profile forbids sandboxes inside: start it with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined, and --cap-add SYS_ADMIN for root"
)
APPARMOR = (
    "AppArmor forbids user namespaces to programs without a profile: write 'abi <abi/4.0>, profile nanobench "
    "{program} flags=(unconfined) {{ userns, }}' to /etc/apparmor.d/nanobench and load it with apparmor_parser -r, "
    "or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
)
UNKNOWN = "nanobench doctor tries it again and says what it finds"

_TRIAL = "nanobench-trial-"
HOST_DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64")


@frozen(kw_only=True)
class Machine:
    """What may forbid a sandbox here. The three settings are the kernel's words, empty where it has none."""

    max_user_namespaces: str = ""
    unprivileged_userns_clone: str = ""
    apparmor_restrict_unprivileged_userns: str = ""
    chroot: bool = False
    container: bool = False


def this_machine() -> Machine:
    """The facts of this machine."""
    settings = Path("/proc/sys")
    mounted = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    return Machine(
        max_user_namespaces=_setting(settings / "user/max_user_namespaces"),
        unprivileged_userns_clone=_setting(settings / "kernel/unprivileged_userns_clone"),
        apparmor_restrict_unprivileged_userns=_setting(settings / "kernel/apparmor_restrict_unprivileged_userns"),
        chroot="/" not in mounted,
        container=any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv")),
    )


def remedy(machine: Machine, program: Path) -> str:
    """The most likely cause that ``program`` starts no sandbox on this machine, and what to do about it."""
    causes = {
        CHROOT: machine.chroot,
        SWITCHED_OFF: machine.max_user_namespaces == "0",
        CLOSED: machine.unprivileged_userns_clone == "0",
        CONTAINER: machine.container,
        APPARMOR.format(program=program): machine.apparmor_restrict_unprivileged_userns == "1",
    }
    return next((words for words, holds in causes.items() if holds), UNKNOWN)


@contextmanager
def trial() -> Iterator[Request]:
    """A request for ``true`` in an image made of this machine's own programs, for as long as the block runs."""
    with TemporaryDirectory(prefix=_TRIAL) as place, held(Path(place)):
        layer, mounts = host_layer(Path(place, "layer"))
        yield Request(
            layers=(layer,),
            argv=("true",),
            limits=SandboxLimits(cpus=1, memory_mib=256, pids=32, disk_mib=64, seconds=30),
            stdout=Path(place, "stdout"),
            stderr=Path(place, "stderr"),
            mounts=mounts,
        )


def left_trials() -> tuple[Path, ...]:
    """Directories of trials whose process was killed."""
    found = sorted(Path(gettempdir()).glob(f"{_TRIAL}*"))
    return tuple(place for place in found if _is_ours(place) and abandoned(place))


def _is_ours(place: Path) -> bool:
    with suppress(FileNotFoundError):  # a trial that has just ended
        return place.lstat().st_uid == os.getuid()
    return False


def host_layer(layer: Path) -> tuple[Path, tuple[Mount, ...]]:
    """A new layer tree at ``layer`` and the read-only mounts that put this machine's programs into it."""
    for name in (WORKSPACE, HOME, MOUNTS, "/proc", "/dev", "/tmp", "/etc"):  # noqa: S108 (inside)
        make_folder(layer / name[1:])
    mounts = []
    for name in HOST_DIRECTORIES:
        host, inside = Path("/", name), layer / name
        if host.is_symlink():
            inside.symlink_to(host.readlink())
        elif host.is_dir():
            make_folder(inside)
            mounts.append(Mount(source=host, target=f"/{name}"))
    return layer, tuple(mounts)


def _setting(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""
