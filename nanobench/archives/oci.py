"""The OCI documents of an image: pure functions of its layers, epoch and environment.

Layers stay uncompressed, so their digests are their diff_ids: compressors differ between versions. An engine calls
the image by the digest of its configuration or of its manifest, depending on how it stores images.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from nanobench.formats import json
from nanobench.formats.digest import sha256, split
from nanobench.model.fields import Digest
from nanobench.model.lock import PLATFORM

CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"

_USER, _PLACE = "1000:1000", "/workspace"  # as every sandbox has them


@frozen(kw_only=True)
class ImageLayer:
    """A layer as the image's documents name it; ``role`` becomes its line of history."""

    role: str
    diff_id: Digest
    size: int


@frozen(kw_only=True)
class Image:
    """An image: its layers, lowest first, and the exact bytes of its two documents."""

    layers: tuple[ImageLayer, ...]
    config: bytes
    manifest: bytes

    @property
    def config_digest(self) -> Digest:
        """Docker's image id, in its classic store."""
        return sha256(self.config)

    @property
    def manifest_digest(self) -> Digest:
        """The image id in a containerd store and in registries."""
        return sha256(self.manifest)


def image_of(layers: Iterable[ImageLayer], *, epoch: int, env: Mapping[str, str]) -> Image:
    """The image of these layers, lowest first, with this environment."""
    ordered = tuple(layers)
    created = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    system, architecture = PLATFORM.split("/")
    config = json.dump(
        {
            "architecture": architecture,
            "config": {"Env": sorted(f"{k}={v}" for k, v in env.items()), "User": _USER, "WorkingDir": _PLACE},
            "created": created,
            "history": [{"created": created, "created_by": f"nanobench {layer.role}"} for layer in ordered],
            "os": system,
            "rootfs": {"diff_ids": [layer.diff_id for layer in ordered], "type": "layers"},
        }
    )
    manifest = json.dump(
        {
            "config": descriptor(CONFIG_TYPE, sha256(config), len(config)),
            "layers": [descriptor(LAYER_TYPE, layer.diff_id, layer.size) for layer in ordered],
            "mediaType": MANIFEST_TYPE,
            "schemaVersion": 2,
        }
    )
    return Image(layers=ordered, config=config, manifest=manifest)


def documents(image: Image, *, name: str) -> dict[str, bytes]:
    """The files beside the layers of a layout of ``image`` that Docker's classic store can load too, by path.

    Args:
        name: what engines shall call it, e.g. ``nanobench/tomlkit:1``.
    """
    return {
        "oci-layout": json.dump({"imageLayoutVersion": "1.0.0"}),
        "index.json": json.dump(_index(image, name)),
        "manifest.json": json.dump([_docker(image, name)]),
        place(image.config_digest): image.config,
        place(image.manifest_digest): image.manifest,
    }


def place(digest: Digest) -> str:
    """Where a layout keeps the blob."""
    return f"blobs/sha256/{split(digest)[1]}"


def _index(image: Image, name: str) -> dict[str, object]:
    annotations = {
        "io.containerd.image.name": f"docker.io/{name}",
        "org.opencontainers.image.ref.name": name.rpartition(":")[2],
    }
    manifest = descriptor(MANIFEST_TYPE, image.manifest_digest, len(image.manifest))
    return {"manifests": [{**manifest, "annotations": annotations}], "mediaType": INDEX_TYPE, "schemaVersion": 2}


def _docker(image: Image, name: str) -> dict[str, object]:
    return {
        "Config": place(image.config_digest),
        "Layers": [place(layer.diff_id) for layer in image.layers],
        "RepoTags": [name],
    }


def descriptor(media_type: str, digest: Digest, size: int) -> dict[str, Any]:
    """An OCI content descriptor."""
    return {"digest": digest, "mediaType": media_type, "size": size}
