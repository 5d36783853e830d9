"""Python packages: resolved by uv, one pinned file each, built and installed inside the locked image.

``resolve`` needs the network. ``build_wheels``, ``install``, ``bytecode`` and ``editable`` need only the store and
an engine, in this order; each works in a :class:`Workshop` whose layers are those made so far.
"""

from __future__ import annotations

from nanobench.ecosystems.py_build import build_wheels
from nanobench.ecosystems.py_bytecode import bytecode
from nanobench.ecosystems.py_editable import Editable, editable
from nanobench.ecosystems.py_find import find
from nanobench.ecosystems.py_install import install
from nanobench.ecosystems.py_interpreter import interpreter_package, unpack_interpreter
from nanobench.ecosystems.py_resolve import resolve
from nanobench.ecosystems.py_target import Target, target_of
from nanobench.ecosystems.workshop import Workshop

__all__ = [
    "Editable",
    "Target",
    "Workshop",
    "build_wheels",
    "bytecode",
    "editable",
    "find",
    "install",
    "interpreter_package",
    "resolve",
    "target_of",
    "unpack_interpreter",
]
