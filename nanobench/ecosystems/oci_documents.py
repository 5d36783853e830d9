"""Manifests and configurations of published images, read with suspicion: only what is needed of them, and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from attrs import frozen

from nanobench.archives import oci
from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.model.fields import DIGEST, Digest, Document
from nanobench.model.lock import PLATFORM

_DOCKER = "application/vnd.docker."
INDEX_TYPES = (oci.INDEX_TYPE, f"{_DOCKER}distribution.manifest.list.v2+json")
MANIFEST_TYPES = (oci.MANIFEST_TYPE, f"{_DOCKER}distribution.manifest.v2+json")
CONFIG_TYPES = (oci.CONFIG_TYPE, f"{_DOCKER}container.image.v1+json")
LAYER_TYPES = (
    *(oci.LAYER_TYPE + packed for packed in ("", "+gzip", "+zstd")),
    *(f"{_DOCKER}image.rootfs.diff.tar{packed}" for packed in ("", ".gzip", ".zstd")),
)
"""How a layer is really packed, its first bytes tell: registries hold some under a wrong type."""

MANIFESTS, BLOBS = "manifests", "blobs"
"""Where a registry keeps the two kinds of files of a repository, below it."""

MAX_DOCUMENT = 4 << 20
MAX_LAYERS = 256
MAX_BYTES = 16 << 30
_MAX_ENTRIES = 1000

EARLIEST = 315_532_800
"""1980: the first year that a zip can hold; many images call themselves older."""

_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")


@frozen(kw_only=True)
class Descriptor:
    """A file of an image: its media type, digest, and size in bytes."""

    media_type: str
    digest: Digest
    size: int


@frozen(kw_only=True)
class Manifest:
    """The files of an image: configuration and layers, lowest first."""

    config: Descriptor
    layers: tuple[Descriptor, ...]


@frozen(kw_only=True)
class Config:
    """What an image says of itself: when it was made (seconds, at least :data:`EARLIEST`), its uncompressed layers'
    digests, and the names of the variables that it sets."""

    epoch: int
    diff_ids: tuple[str, ...]
    variables: tuple[str, ...]


def media_type(data: bytes, header: str, *, where: str) -> str:
    """What a document calls itself; what its server calls it when it says nothing."""
    found = parse(data, where).get("mediaType", header)
    return found if isinstance(found, str) else ""


def choose(data: bytes, *, where: str) -> Descriptor:
    """The manifest for our platform in an index.

    Raises:
        Refused: ``NB_IMAGE_PLATFORM`` when there is none.
    """
    entries = _list(parse(data, where), "manifests", where)
    offered: Document = {}
    for entry in entries:
        platform = entry.get("platform") if isinstance(entry, dict) else None
        if isinstance(platform, dict):
            offered.setdefault(f"{platform.get('os')}/{platform.get('architecture')}", entry)
    if PLATFORM not in offered:
        found = ", ".join(sorted(offered))[:200] or "no platform"
        raise Refused("NB_IMAGE_PLATFORM", f"not there for {PLATFORM}, only for {found}", where=where)
    return _descriptor(offered[PLATFORM], MANIFEST_TYPES, where)


def read_manifest(data: bytes, *, where: str) -> Manifest:
    """The parts of a manifest.

    Raises:
        Refused: ``NB_IMAGE_MANIFEST`` for anything that is no image of layers that we read.
    """
    document = parse(data, where)
    layers = tuple(_descriptor(entry, LAYER_TYPES, where) for entry in _list(document, "layers", where))
    if not 0 < len(layers) <= MAX_LAYERS or sum(layer.size for layer in layers) > MAX_BYTES:
        raise _odd(f"{len(layers)} layers; at most {MAX_LAYERS} with {MAX_BYTES} bytes are read", where)
    return Manifest(config=_descriptor(document.get("config"), CONFIG_TYPES, where), layers=layers)


def read_config(data: bytes, *, where: str) -> Config:
    """The parts of a configuration.

    Raises:
        Refused: ``NB_IMAGE_MANIFEST``, ``NB_IMAGE_PLATFORM``.
    """
    document = parse(data, where)
    platform = f"{document.get('os')}/{document.get('architecture')}"
    if platform != PLATFORM:
        raise Refused("NB_IMAGE_PLATFORM", f"an image for {platform}, not for {PLATFORM}", where=where)
    rootfs, settings = document.get("rootfs"), document.get("config")
    diff_ids = _strings(rootfs.get("diff_ids") if isinstance(rootfs, dict) else None)
    variables = _strings(settings.get("Env") if isinstance(settings, dict) else None)
    return Config(
        epoch=_epoch(document.get("created")),
        diff_ids=diff_ids,
        variables=tuple(sorted({name for name in (v.partition("=")[0] for v in variables) if name != "PATH"})),
    )


def parse(data: bytes, where: str) -> Document:
    """The JSON document.

    Raises:
        Refused: ``NB_IMAGE_MANIFEST`` for one that is too long, ``NB_JSON``.
    """
    if len(data) > MAX_DOCUMENT:
        raise _odd(f"more than {MAX_DOCUMENT} bytes", where)
    return json.parse(data, where=where, null=True)


def _descriptor(entry: Any, types: Iterable[str], where: str) -> Descriptor:
    if not isinstance(entry, dict):
        raise _odd("a descriptor is missing", where)
    kind, digest, size = entry.get("mediaType"), entry.get("digest"), entry.get("size")
    if not isinstance(kind, str) or kind not in types:
        raise _odd(f"the media type {kind!r:.120}", where)
    if not isinstance(digest, str) or not re.fullmatch(DIGEST, digest):
        raise _odd(f"the digest {digest!r:.120}", where)
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise _odd(f"the size {size!r:.40}", where)
    return Descriptor(media_type=kind, digest=Digest(digest), size=size)


def _list(document: Document, key: str, where: str) -> list[Any]:
    found = document.get(key)
    if not isinstance(found, list) or len(found) > _MAX_ENTRIES:
        raise _odd(f"no usable {key}", where)
    return found


def _strings(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _epoch(created: Any) -> int:
    found = _TIME.fullmatch(created) if isinstance(created, str) else None
    try:
        return max(EARLIEST, int(datetime.fromisoformat(found[1] + found[3]).timestamp())) if found else EARLIEST
    except (ValueError, OverflowError):
        return EARLIEST


def _odd(message: str, where: str) -> Refused:
    return Refused("NB_IMAGE_MANIFEST", f"not an image that is read here: {message}", where=where)
