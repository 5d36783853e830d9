"""The same system call filter as under bubblewrap, in Docker's words.

Ours and not Docker's own, which changes with its version: a call that a test makes is answered alike by every engine.
It may refuse less than Docker's because the user has no capability and can get none. What bubblewrap forbids by other
means, a user namespace, is forbidden here by the flags of ``clone``; ``clone3``, whose flags no filter can see, does
not exist, so that libraries fall back to ``clone``.
"""

from __future__ import annotations

import errno
import json
import platform
from functools import cache
from typing import Any

from nanobench.sandbox.seccomp import FAMILIES, refused_calls

_ARCHITECTURES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
_NEW_USER = 0x10000000


@cache
def profile(machine: str | None = None) -> str:
    """The profile for this (or the named) machine; Docker's word for no filter where none is known."""
    machine = machine or platform.machine()
    names = refused_calls(machine)
    if not names:
        return "unconfined"
    most = max(FAMILIES)
    closed = [family for family in range(most) if family not in FAMILIES]
    rules = [
        _refuse(names, errno.EPERM),
        _refuse(("clone",), errno.EPERM, "SCMP_CMP_MASKED_EQ", _NEW_USER, _NEW_USER),
        _refuse(("clone3",), errno.ENOSYS),
        *(_refuse(("socket",), errno.EAFNOSUPPORT, "SCMP_CMP_EQ", family) for family in closed),
        _refuse(("socket",), errno.EAFNOSUPPORT, "SCMP_CMP_GT", most),
    ]
    return json.dumps(
        {"defaultAction": "SCMP_ACT_ALLOW", "architectures": [_ARCHITECTURES[machine]], "syscalls": rules}
    )


def _refuse(
    names: tuple[str, ...], number: int, operator: str = "", value: int = 0, second: int = 0
) -> dict[str, Any]:
    """A rule that answers calls with the errno, those whose first argument compares so if there is an operator."""
    argument = {"index": 0, "op": operator, "value": value, "valueTwo": second}
    arguments = [argument] if operator else []
    return {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": number, "args": arguments}
