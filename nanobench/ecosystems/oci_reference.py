"""What does the reference of a published image name: which registry, which repository, which image in it?"""

from __future__ import annotations

import re

from attrs import frozen
from packageurl import PackageURL

from nanobench.ecosystems.registries import Registries
from nanobench.errors import Refused
from nanobench.model.fields import SHA256_DIGEST, Digest

_HOST = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9a-f:]+\])(:\d{1,5})?")
_REPOSITORY = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(SHA256_DIGEST)


@frozen(kw_only=True)
class Reference:
    """``host/repository`` and a tag or a digest; a digest counts, whatever tag stands beside it."""

    host: str
    repository: str
    tag: str
    digest: Digest | None

    def purl(self, digest: str) -> str:
        """The package-url of one file of this repository."""
        place = {"repository_url": f"{self.host}/{self.repository}"}
        name = self.repository.rpartition("/")[2]
        return PackageURL(type="oci", name=name, version=digest, qualifiers=place).to_string()


def parse(text: str, *, where: str) -> Reference:
    """The parts of a reference. What names no registry means Docker's own, as everywhere.

    Raises:
        Refused: ``NB_IMAGE_REFERENCE``.
    """
    from docker.auth import INDEX_NAME, split_repo_name  # few need it

    name, at, digest = text.partition("@")
    host, repository = split_repo_name(name)
    repository, _, tag = repository.partition(":")
    if host == INDEX_NAME and "/" not in repository:
        repository = f"library/{repository}"
    sound = _HOST.fullmatch(host) and _REPOSITORY.fullmatch(repository) and _TAG.fullmatch(tag or "latest")
    if not sound or (at and not _DIGEST.fullmatch(digest)):
        raise Refused(
            "NB_IMAGE_REFERENCE",
            f"{text!r:.160} names no image",
            where=where,
            hint="write registry/repository:tag, or registry/repository@sha256:…",
        )
    return Reference(host=host, repository=repository, tag=tag or "latest", digest=Digest(digest) if digest else None)


def base(purl: PackageURL, registries: Registries) -> str:
    """The URL below which the registry of a pinned file lies."""
    host = dict(purl.qualifiers).get("repository_url", "").partition("/")[0]
    if not _HOST.fullmatch(host):
        raise Refused("NB_PURL", "its repository_url names no registry", where=purl.to_string())
    return f"{registries.images(host)}/v2"
