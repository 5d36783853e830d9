"""Small images: as much of a root as a base must have, the programs in it empty."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from typing import Any

import pytest

TOOLS = ("cat", "chmod", "cmp", "comm", "cp", "env", "git", "sed", "sh", "sort", "xargs")


class Layers:
    """Makes the tars of layers: of files (bytes), directories (None) and whatever else (fields of its header)."""

    def tar(self, *members: tuple[str, Any]) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, what in members:
                info = tarfile.TarInfo(path)
                info.mtime = 1_600_000_000
                if what is None:
                    what = {"type": tarfile.DIRTYPE, "mode": 0o755}
                data = what if isinstance(what, bytes) else b""
                for key, value in {"size": len(data), **(what if isinstance(what, dict) else {})}.items():
                    setattr(info, key, value)
                archive.addfile(info, io.BytesIO(data))
        return out.getvalue()

    def link(self, target: str) -> Any:
        return {"type": tarfile.SYMTYPE, "linkname": target}

    def hard(self, target: str) -> Any:
        return {"type": tarfile.LNKTYPE, "linkname": target}

    def base(self, *more: tuple[str, Any], without: Sequence[str] = ()) -> bytes:
        """The lowest layer of an image that can be a base."""
        paths = {f"usr/bin/{name}": {"mode": 0o755} for name in TOOLS} | {"usr/lib64/ld-linux-x86-64.so.2": b"loader"}
        folders = [(name, None) for name in ("usr", "usr/bin", "usr/lib64", "etc")]
        links = [("bin", self.link("usr/bin")), ("lib64", self.link("usr/lib64"))]
        passwd = b"root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash\n"
        accounts = [("etc/passwd", passwd), ("etc/group", b"root:x:0:\nnode:x:1000:\n")]
        kept = [(path, what) for path, what in paths.items() if path.rpartition("/")[2] not in without]
        return self.tar(*folders, *links, *kept, *accounts, *more)


@pytest.fixture(scope="session")
def layers() -> Layers:
    return Layers()
