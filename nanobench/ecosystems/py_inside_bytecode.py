"""Runs inside the image, by the locked interpreter alone: compile every module below some directories.

One process and one fixed order: the marshal format marks objects by how often they are shared, so what was
compiled before in the same process changes bytes.

    python3 -S -B -P -c <this text> OUT DIRECTORY…
"""

from __future__ import annotations

import os
import py_compile
import sys


def main(out: str, roots: list[str]) -> None:
    """Write ``OUT/<directory of the module>/__pycache__/<module>.<tag>.pyc`` for each module that compiles."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for root in roots:
        for directory, below, names in os.walk(root):
            below.sort()
            for name in sorted(names):
                if name.endswith(".py"):
                    source = f"{directory}/{name}"
                    cached = f"{out}{directory}/__pycache__/{name[:-3]}.{sys.implementation.cache_tag}.pyc"
                    try:
                        py_compile.compile(source, cfile=cached, dfile=source, doraise=True, invalidation_mode=mode)
                    except (py_compile.PyCompileError, OSError, ValueError, RecursionError):
                        print("left out:", source)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
