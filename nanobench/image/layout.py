"""An image as a directory: an OCI layout that Docker's classic store can load too (``manifest.json``)."""

from __future__ import annotations

import shutil
from pathlib import Path

from nanobench.archives.oci import Image, documents, place
from nanobench.store.store import Store


def write_layout(store: Store, image: Image, dest: Path, *, name: str) -> None:
    """Write the layout of ``image`` into the empty directory ``dest``; every layer is verified first.

    Args:
        name: what engines shall call it, e.g. ``nanobench/tomlkit:1``.
    """
    (dest / "blobs" / "sha256").mkdir(parents=True)
    for layer in image.layers:
        shutil.copyfile(store.blob(layer.diff_id), dest / place(layer.diff_id))
    for path, data in documents(image, name=name).items():
        (dest / path).write_bytes(data)
