"""Small images: as much of a root as a base must have, the programs in it empty."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Sequence
from typing import Any

import pytest
import zstandard

from nanobench.archives.decompress import GZIP, ZSTD
from nanobench.archives.oci import CONFIG_TYPE, LAYER_TYPE, MANIFEST_TYPE, descriptor
from nanobench.formats.digest import sha256
from nanobench.model.lock import Package
from nanobench.store.store import Store

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

    def image(self, store: Store, *layers: bytes, media_type: str = LAYER_TYPE, **config: Any) -> tuple[Package, ...]:
        """The pins of an image of these layers, whose files are in the store."""
        if "rootfs" not in config:
            config["rootfs"] = {"diff_ids": [sha256(_unzipped(layer)) for layer in layers]}
        facts = {"architecture": "amd64", "os": "linux", **config}
        files = [(CONFIG_TYPE, json.dumps(facts).encode()), *((media_type, layer) for layer in layers)]
        entries = [descriptor(kind, store.put(data), len(data)) for kind, data in files]
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": entries[0], "layers": entries[1:]}
        data = json.dumps(manifest).encode()
        paths = {"manifests": [(store.put(data), len(data))], "blobs": [(e["digest"], e["size"]) for e in entries]}
        return tuple(
            Package(purl=f"pkg:oci/x@{digest}", role="image", path=f"x/{kind}/{digest}", digest=digest, size=size)
            for kind, files in paths.items()
            for digest, size in dict(files).items()
        )


def _unzipped(layer: bytes) -> bytes:
    if layer.startswith(ZSTD):
        return zstandard.ZstdDecompressor().decompressobj().decompress(layer)
    return gzip.decompress(layer) if layer.startswith(GZIP) else layer


@pytest.fixture(scope="session")
def layers() -> Layers:
    return Layers()
