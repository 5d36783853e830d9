"""Ask a registry for an image and pin every file of it: https://github.com/opencontainers/distribution-spec.

Our own few requests and not a library: those that there are read whole layers into memory, or unpack with tarfile.
"""

from __future__ import annotations

import httpx

from nanobench.ecosystems.base import Resolution
from nanobench.ecosystems.oci_documents import (
    BLOBS,
    INDEX_TYPES,
    MANIFEST_TYPES,
    MANIFESTS,
    MAX_DOCUMENT,
    choose,
    media_type,
    read_config,
    read_manifest,
)
from nanobench.ecosystems.oci_reference import Reference, parse
from nanobench.ecosystems.oci_token import authorization
from nanobench.ecosystems.online import Gone, Online, Unreachable
from nanobench.errors import CannotTell, Refused
from nanobench.formats.digest import sha256
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.store.store import Store


def resolve(image: str, *, store: Store, online: Online, where: str) -> Resolution:
    """What the reference ``image`` names now, for our platform. Manifest and configuration are in the store then.

    Raises:
        Refused: ``NB_IMAGE_REFERENCE``, ``NB_IMAGE_PLATFORM``, ``NB_IMAGE_MANIFEST``, ``NB_JSON``; ``NB_DIGEST`` when
            a registry answers with other bytes than were asked for.
        CannotTell: ``NB_SOURCE_GONE``, ``NB_UNREACHABLE``.
    """
    repository = _Repository(parse(image, where=where), online, where)
    try:
        manifest = repository.manifest()
        parts = read_manifest(manifest, where=where)
        config = repository.get(BLOBS, parts.config.digest)
    except (Gone, Unreachable) as error:
        code = "NB_SOURCE_GONE" if isinstance(error, Gone) else "NB_UNREACHABLE"
        hint = "check reference and network; NANOBENCH_IMAGE_REGISTRY names another registry that has it"
        raise CannotTell(code, str(error), where=where, hint=hint) from error
    facts = read_config(config, where=where)
    if len(facts.diff_ids) != len(parts.layers):
        message = f"{len(parts.layers)} layers, and digests of {len(facts.diff_ids)}"
        raise Refused("NB_IMAGE_MANIFEST", message, where=where)
    pinned = [repository.pin(MANIFESTS, store.put(manifest), len(manifest))]
    pinned.append(repository.pin(BLOBS, store.put(config), len(config)))
    pinned += [repository.pin(BLOBS, layer.digest, layer.size) for layer in parts.layers]
    unique = {package.digest: package for package in pinned}
    return Resolution(packages=tuple(unique.values()), source_date_epoch=facts.epoch)


class _Repository:
    def __init__(self, reference: Reference, online: Online, where: str) -> None:
        self._reference, self._online, self._where = reference, online, where
        self._base = f"{online.registries.images(reference.host)}/v2"

    def manifest(self) -> bytes:
        """The manifest of the image for our platform, by way of an index or directly."""
        name = self._reference.digest or self._reference.tag
        data, kind = self._document(name, (*INDEX_TYPES, *MANIFEST_TYPES))
        if kind in INDEX_TYPES:
            chosen = choose(data, where=self._where)
            data, kind = self._document(chosen.digest, MANIFEST_TYPES)
        if kind not in MANIFEST_TYPES:
            raise Refused("NB_IMAGE_MANIFEST", f"the media type {kind!r:.120}", where=self._where)
        return data

    def get(self, kind: str, digest: Digest) -> bytes:
        """A small file, by its digest."""
        answer = self._get(kind, digest, "*/*").content
        return self._checked(answer, digest)

    def pin(self, kind: str, digest: Digest, size: int) -> Package:
        """The file as a lock holds it."""
        path = f"{self._reference.repository}/{kind}/{digest}"
        return Package(purl=self._reference.purl(digest), role="image", path=path, digest=digest, size=size)

    def _document(self, name: str, types: tuple[str, ...]) -> tuple[bytes, str]:
        answer = self._get(MANIFESTS, name, ", ".join(types))
        data = self._checked(answer.content, name) if ":" in name else answer.content
        return data, media_type(data, answer.headers.get("Content-Type", ""), where=self._where)

    def _get(self, kind: str, name: str, accept: str) -> httpx.Response:
        url = f"{self._base}/{self._reference.repository}/{kind}/{name}"
        headers = authorization(self._base, self._reference.repository, online=self._online)
        return self._online.get(url, limit=MAX_DOCUMENT, accept=accept, headers=headers)

    def _checked(self, data: bytes, digest: str) -> bytes:
        if sha256(data) != digest:
            raise Refused("NB_DIGEST", f"asked for {digest}, got {sha256(data)}", where=self._where)
        return data
