"""An image as a directory: an OCI layout that Docker's classic store can load too (``manifest.json``)."""

from __future__ import annotations

import shutil
from pathlib import Path

from nanobench.formats import json
from nanobench.formats.digest import split
from nanobench.image.oci import INDEX_TYPE, MANIFEST_TYPE, Image, descriptor
from nanobench.model.fields import Digest
from nanobench.store.store import Store


def write_layout(store: Store, image: Image, dest: Path, *, name: str) -> None:
    """Write the layout of ``image`` into the empty directory ``dest``; every layer is verified first.

    Args:
        name: what engines shall call it, e.g. ``nanobench/tomlkit:1``.
    """
    blobs = dest / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    for layer in image.layers:
        shutil.copyfile(store.blob(layer.diff_id), blobs / split(layer.diff_id)[1])
    for digest, data in ((image.config_digest, image.config), (image.manifest_digest, image.manifest)):
        (blobs / split(digest)[1]).write_bytes(data)
    (dest / "oci-layout").write_bytes(json.dump({"imageLayoutVersion": "1.0.0"}))
    (dest / "index.json").write_bytes(json.dump(_index(image, name)))
    (dest / "manifest.json").write_bytes(json.dump([_docker(image, name)]))


def _index(image: Image, name: str) -> dict[str, object]:
    annotations = {
        "io.containerd.image.name": f"docker.io/{name}",
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }
    manifest = descriptor(MANIFEST_TYPE, image.manifest_digest, len(image.manifest))
    return {"manifests": [{**manifest, "annotations": annotations}], "mediaType": INDEX_TYPE, "schemaVersion": 2}


def _docker(image: Image, name: str) -> dict[str, object]:
    return {
        "Config": _place(image.config_digest),
        "Layers": [_place(layer.diff_id) for layer in image.layers],
        "RepoTags": [name],
    }


def _place(digest: Digest) -> str:
    return f"blobs/sha256/{split(digest)[1]}"
