"""Bytecode of the standard library and of ``/opt/venv``, by the locked interpreter: a layer of ``.pyc`` only.

Nothing is left out: Debian ships the standard library without its tests, so there is hardly anything to save.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from nanobench.archives.entries import Entry
from nanobench.ecosystems.installed import stamped
from nanobench.ecosystems.py_sealed import VENV, run
from nanobench.ecosystems.workshop import Workshop
from nanobench.errors import Refused
from nanobench.sandbox.interface import MOUNTS, Mount

_OUT = f"{MOUNTS}/out"


def bytecode(*, shop: Workshop) -> tuple[Entry, ...]:
    """The ``__pycache__`` directories of the image in ``shop`` (which must include the ``python`` layer).

    The files are unchecked-hash: valid whatever a source's time stamp is, and never written again.

    Raises:
        Refused: ``NB_BYTECODE`` when the interpreter fails.
    """
    out = shop.directory("bytecode")
    shop.engine.own(out)
    interpreter = shop.target.command
    script = Path(__file__).with_name("py_inside_bytecode.py").read_text(encoding="utf-8")
    run(
        shop,
        *(interpreter, "-S", "-B", "-P", "-c", script, _OUT),
        *("/usr/lib/python3/dist-packages", shop.target.library, f"{VENV}/lib/python{shop.target.python}"),
        phase="bytecode",
        mounts=(Mount(source=out, target=_OUT, writable=True),),
        refusal=partial(Refused, "NB_BYTECODE", "the interpreter could not compile its modules", where=interpreter),
    )
    return tuple(stamped(out, epoch=shop.epoch))
