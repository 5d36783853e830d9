"""The system call filter, as bytes of classic BPF: what no build, agent or test needs and kernel attacks love.

Mounts and namespaces are already refused for want of capabilities; the filter closes what is not: key rings, BPF,
perf, userfaultfd, io_uring, and socket families beyond unix, IP and netlink (``AF_VSOCK`` reaches the hypervisor
from any network namespace). Calls of another architecture's table do not exist.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32 = 0x40000000

FAMILIES = (1, 2, 10, 16)
"""The socket families that there are: AF_UNIX, AF_INET, AF_INET6, AF_NETLINK."""

_TABLES: dict[str, tuple[int, int, dict[str, int]]] = {
    "x86_64": (
        0xC000003E,
        41,
        {
            **{"acct": 163, "add_key": 248, "bpf": 321, "clock_adjtime": 305, "clock_settime": 227},
            **{"delete_module": 176, "finit_module": 313, "init_module": 175, "io_uring_enter": 426},
            **{"io_uring_register": 427, "io_uring_setup": 425, "kexec_file_load": 320, "kexec_load": 246},
            **{"keyctl": 250, "lookup_dcookie": 212, "mount": 165, "move_mount": 429, "name_to_handle_at": 303},
            **{"open_by_handle_at": 304, "open_tree": 428, "perf_event_open": 298, "pivot_root": 155},
            **{"quotactl": 179, "reboot": 169, "request_key": 249, "setns": 308, "settimeofday": 164},
            **{"swapoff": 168, "swapon": 167, "umount2": 166, "unshare": 272, "userfaultfd": 323},
            **{"fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433, "mount_setattr": 442},
        },
    ),
    "aarch64": (
        0xC00000B7,
        198,
        {
            **{"acct": 89, "add_key": 217, "bpf": 280, "clock_adjtime": 266, "clock_settime": 112},
            **{"delete_module": 106, "finit_module": 273, "init_module": 105, "io_uring_enter": 426},
            **{"io_uring_register": 427, "io_uring_setup": 425, "kexec_file_load": 294, "kexec_load": 104},
            **{"keyctl": 219, "lookup_dcookie": 18, "mount": 40, "move_mount": 429, "name_to_handle_at": 264},
            **{"open_by_handle_at": 265, "open_tree": 428, "perf_event_open": 241, "pivot_root": 41},
            **{"quotactl": 60, "reboot": 142, "request_key": 218, "setns": 268, "settimeofday": 170},
            **{"swapoff": 225, "swapon": 224, "umount2": 39, "unshare": 97, "userfaultfd": 282},
            **{"fsconfig": 431, "fsmount": 432, "fsopen": 430, "fspick": 433, "mount_setattr": 442},
        },
    ),
}


def refused_calls(machine: str) -> tuple[str, ...]:
    """The names of the refused calls on this kind of machine; none where none are known."""
    return tuple(sorted(_TABLES[machine][2])) if machine in _TABLES else ()


def filter_program(machine: str | None = None) -> bytes:
    """The filter for this (or the named) machine as an array of ``struct sock_filter``; empty where none is known.

    Refused calls fail with ``EPERM``, unknown tables with ``ENOSYS``, other socket families with ``EAFNOSUPPORT``.
    """
    table = _TABLES.get(machine or platform.machine())
    if table is None:
        return b""
    arch, socket, refused = table
    numbers = sorted(refused.values())
    steps = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
        (_EQUAL, 0, len(FAMILIES) + 3, socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        *((_EQUAL, len(FAMILIES) - at, 0, family) for at, family in enumerate(FAMILIES)),
        (_RETURN, 0, 0, _ERRNO | errno.EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
        *((_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
