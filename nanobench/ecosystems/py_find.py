"""Which interpreter does an image have? It is asked itself, in the sandbox."""

from __future__ import annotations

import re
from functools import partial

from nanobench.ecosystems.py_sealed import has
from nanobench.ecosystems.py_target import Target
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.sandbox.interface import MOUNTS, Mount

_PREFIXES = ("/usr/local", "/usr")  # as on the fixed path
_OUT = f"{MOUNTS}/out"
_ASK = f"""
import os, sys
with open("{_OUT}/python", "w") as out:
    facts = *sys.version_info[:2], os.confstr("CS_GNU_LIBC_VERSION"), sys.implementation.name
    out.write("%d.%d %s %s\\n" % facts)
"""
_ANSWER = re.compile(r"(3\.\d{1,3}) glibc (2\.\d{1,3}) cpython\n")


def find(shop: Workshop) -> Target:
    """The CPython that commands in the image in ``shop`` find.

    Raises:
        Refused: ``NB_PYTHON_ABSENT`` when there is none.
    """
    absent = partial(
        Refused,
        "NB_PYTHON_ABSENT",
        "the image has no CPython 3 with glibc in /usr/local/bin or /usr/bin",
        where="base",
        hint="use an image that has one, or leave [python] out",
    )
    prefix = next((prefix for prefix in _PREFIXES if has(shop, f"{prefix}/bin/python3")), None)
    if prefix is None:
        raise absent()
    out = shop.directory("python")
    shop.engine.own(out)
    mount = Mount(source=out, target=_OUT, writable=True)
    shop.command(f"{prefix}/bin/python3", "-I", "-c", _ASK, phase="python", mounts=(mount,), refusal=absent)
    with (out / "python").open(encoding="utf-8", errors="replace") as said:
        answer = _ANSWER.fullmatch(said.read(100))
    if answer is None:
        raise absent()
    return Target(python=answer[1], glibc=answer[2], prefix=prefix)
