"""What a sandbox looks like inside, in Docker's words: pure functions of the request.

The container's own process only waits: it is a shell that ends when the runner's connection to it does, however that
comes to be, and with process 1 the kernel ends all others. The command is started beside it (``docker exec``), so
that it is no process 1, to which the kernel delivers no signal without a handler, and so that the container's
accounts can be read after it has ended. Image and mounts must hold ``/bin/sh``, ``/usr/bin/env``, ``cat``, ``chmod``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nanobench.sandbox.docker_seccomp import profile
from nanobench.sandbox.inside import MIB
from nanobench.sandbox.interface import (
    HOME,
    HOST_NAME,
    MOUNTS,
    OPEN_FILES,
    SANDBOX_UID,
    WORKSPACE,
    Mount,
    Request,
    fixed_env,
    memory_mounts,
)

READY, NOWHERE, CLOSED = "ready", "nowhere", "closed"
"""What the shell before the command says: it comes now; where it should run is not there, or closed to it."""

STACK = 8 * MIB
OUT, ERR = f"{MOUNTS}/.stdout", f"{MOUNTS}/.stderr"
OF_OURS = 2
"""Processes of the container that are not the command's: its own shell and that one's ``cat``."""

_HOLD = "while cat; [ $? -gt 128 ]; do :; done >/dev/null"  # somebody inside may kill the cat: then another one
_BEGIN = f"""
umask 022
chmod 1777 /tmp /dev/shm && exec 3>>{OUT} 4>>{ERR} || exit 1
cd -- "$1" || {{ [ -d "$1" ] && echo {CLOSED} || echo {NOWHERE}; exit 1; }}
shift
echo {READY}
"$@" </dev/null >&3 2>&4 3>&- 4>&-
exit $?
"""

_MASKED = (
    *("acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "timer_list"),
    "timer_stats",
)
_SYSCTLS = {
    "net.ipv4.ip_unprivileged_port_start": "1024",  # Docker's own: 0
    "net.ipv4.ping_group_range": "1 0",
    "net.ipv6.conf.all.disable_ipv6": "0",  # Docker's own: no ::1
    "net.ipv6.conf.default.disable_ipv6": "0",
}


def container_document(
    request: Request, image: str, *, cpus: frozenset[int], labels: Mapping[str, str]
) -> dict[str, Any]:
    """The document that Docker's ``containers/create`` takes."""
    return {
        "Image": image,
        "Entrypoint": ["/bin/sh", "-c", _HOLD],
        "Cmd": [],
        "User": f"{SANDBOX_UID}:{SANDBOX_UID}",
        "WorkingDir": "/",
        "Hostname": HOST_NAME,
        "Labels": dict(labels),
        "AttachStdin": True,
        "OpenStdin": True,
        "StdinOnce": True,
        "HostConfig": {
            **_sealed(),
            **_limits(request, cpus),
            "Tmpfs": _memory(request),
            "Mounts": [_mount(mount) for mount in _mounts(request)],
        },
    }


def command(request: Request) -> list[str]:
    """What ``docker exec`` runs: a shell that says :data:`READY` and then runs the command in its own environment."""
    env = {**fixed_env(), **request.env, "PWD": request.cwd}
    argv = request.argv if "=" not in request.argv[0] else ("/bin/sh", "-c", 'exec "$@"', "sh", *request.argv)
    settings = (f"{name}={value}" for name, value in sorted(env.items()))
    return ["/bin/sh", "-c", _BEGIN, "sh", request.cwd, "/usr/bin/env", "-i", *settings, *argv]


def misplaced(request: Request) -> str | None:
    """The target of a mount that is nowhere in the image (Docker would make the directory there)."""
    targets = {mount.target: mount.source for mount in request.mounts}
    return next((target for target in targets if not _is_place(request, targets, target)), None)


def _is_place(request: Request, targets: Mapping[str, Path], target: str) -> bool:
    if target == WORKSPACE or target.startswith(f"{MOUNTS}/"):
        return True
    above = max((outer for outer in targets if target.startswith(f"{outer}/")), key=len, default="")
    roots = (targets[above],) if above else request.layers
    return any(os.path.lexists(root / target[len(above) + 1 :]) for root in roots)


def _sealed() -> dict[str, Any]:
    return {
        "AutoRemove": True,
        "NetworkMode": "none",
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={profile()}"],
        "LogConfig": {"Type": "none"},
        "MaskedPaths": ["/sys", *(f"/proc/{name}" for name in _MASKED)],
        "Sysctls": _SYSCTLS,
    }


def _limits(request: Request, cpus: frozenset[int]) -> dict[str, Any]:
    memory = request.limits.memory_mib * MIB
    limits = {"core": 0, "nofile": OPEN_FILES, "stack": STACK}
    return {
        "CpusetCpus": ",".join(map(str, sorted(cpus))),
        "Memory": memory,
        "MemorySwap": memory,
        "PidsLimit": request.limits.pids + OF_OURS,
        "OomScoreAdj": 1000,  # when memory runs out, the kernel takes a sandbox first
        "Ulimits": [{"Name": name, "Soft": value, "Hard": value} for name, value in limits.items()],
    }


def _memory(request: Request) -> dict[str, str]:
    owner = f"uid={SANDBOX_UID},gid={SANDBOX_UID}"
    sizes = memory_mounts(request.limits).items()
    found = {target: (mib, "0755" if target == HOME else "1777") for target, mib in sizes}
    memory = {t: f"rw,exec,nosuid,nodev,size={mib}m,mode={mode},{owner}" for t, (mib, mode) in found.items()}
    return {**memory, MOUNTS: f"ro,nosuid,nodev,size=1m,mode=0755,{owner}"}


def _mounts(request: Request) -> list[Mount]:
    """The request's own, the outputs as the regular files that they are, and no file of the host's resolver."""
    hosts = (tree / "etc" / "hosts" for tree in reversed(request.layers))
    return [
        *(Mount(source=path, target="/etc/hosts") for path in [p for p in hosts if _is_file(p)][:1]),
        Mount(source=Path(os.devnull), target="/etc/resolv.conf"),
        *sorted(request.mounts, key=lambda mount: mount.target),
        Mount(source=request.stdout, target=OUT, writable=True),
        Mount(source=request.stderr, target=ERR, writable=True),
    ]


def _is_file(path: Path) -> bool:
    """A file of the layer itself; what a link leads to is the host's."""
    return path.is_file() and not any(part.is_symlink() for part in (path, path.parent))


def _mount(mount: Mount) -> dict[str, Any]:
    source = str(mount.source.absolute())
    return {"Type": "bind", "Source": source, "Target": mount.target, "ReadOnly": not mount.writable}
