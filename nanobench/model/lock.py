"""The three kinds of lock. A lock is mirror-neutral and holds nothing of the machine or the moment.

``version`` says how to read a lock, ``revision`` which gates it had to pass, ``recipe`` which version of our
own canonicalisation made its bytes.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, Literal

from attrs import field, frozen

from nanobench.model.environment import Limits
from nanobench.model.fields import (
    COMMIT,
    DATE,
    DIGEST,
    IDENTIFIER,
    RELATIVE_PATH,
    SHA256,
    SHA256_DIGEST,
    Digest,
    Document,
    optional_text,
    optional_whole,
    text,
    texts,
    whole,
)
from nanobench.model.fixture import LockedFiles
from nanobench.model.upstream import LockedUpstream

LOCK_VERSION: Final = 1
LOCK_REVISION: Final = 2
RECIPE: Final = 2
PLATFORM: Final = "linux/amd64"

Verdict = Literal["pass", "fail", "unknown"]

PackageRole = Literal[
    "debian", "image", "captured", "python", "python-build", "installer", "npm", "node", "step", "interpreter"
]
LayerRole = Literal["debian", "image", "captured", "interpreter", "python", "bytecode", "node", "task"]

PURL = r"pkg:[a-z]+/[^\s]+@[^\s]+"


@frozen(kw_only=True)
class Package:
    """One file of one package.

    ``path`` is its place below the registry of the purl's type (deb: the pool path; pypi: ``project/file`` of
    the simple index; npm: ``name/-/file.tgz``; oci: ``repository/blobs/digest``, and the purl's ``repository_url`` is
    the curator's own word). ``digest`` is ``sha256:…`` or the ecosystem's own ``sha512:…``.
    ``role`` says what it is for: ``debian``, ``image`` (manifest, configuration and layers of a published image),
    ``captured`` (a layer that no registry has), ``python``, ``python-build``, ``installer``, ``npm``, ``node`` (Node
    itself; in an environment its package manager too), ``step`` (what a step works on),
    ``interpreter`` (an archive at the ``download_url`` of its purl).
    ``target`` is where the harness closure unpacks it (``node_modules/…``); there a purl of type ``generic`` is a
    packed build of Nanocoder, which no registry has.
    """

    purl: str = text(PURL)
    role: PackageRole
    path: str = text(RELATIVE_PATH)
    digest: Digest = text(DIGEST)
    size: int = whole(0, 2**40)
    target: str | None = optional_text(RELATIVE_PATH)


@frozen(kw_only=True)
class Built:
    """A wheel built from a locked sdist without network: both are locked, an auditor builds and compares."""

    purl: str = text(PURL)
    sdist: Digest = text(DIGEST)
    wheel: Digest = text(DIGEST)
    file: str = text(r"[^/\s]+\.whl")


@frozen(kw_only=True)
class Layer:
    """One uncompressed layer: its diff_id (sha256 of the tar) and its size in bytes."""

    role: LayerRole
    diff_id: Digest = text(DIGEST)
    size: int = whole(0, 2**40)


@frozen(kw_only=True)
class Reference:
    """Another lock, by content: ``sha256`` is of the referenced file's bytes."""

    name: str = text(IDENTIFIER)
    sha256: str = text(SHA256)


@frozen(kw_only=True)
class Lockfile:
    """The project's own lockfile, which the environment's npm packages were pinned from."""

    path: str = text(RELATIVE_PATH)
    sha256: str = text(SHA256)


def _unique_packages(packages: tuple[Package, ...]) -> None:
    keys = [(p.purl, p.role, p.target) for p in packages]
    if len(set(keys)) != len(keys):
        twice = next(k for k in keys if keys.count(k) > 1)
        raise ValueError(f"package: {twice[0]} stands twice in role {twice[1]}")


@frozen(kw_only=True)
class EnvironmentLock:
    """Every package and every layer of one environment. ``original`` is the spec's parsed document.

    ``context_sha256`` is of the folder that a Dockerfile or devcontainer.json lies in, as a canonical tar.
    """

    version: Literal[1]
    revision: int = whole(1, 1000)
    recipe: int = whole(1, 1000)
    name: str = text(IDENTIFIER)
    platform: Literal["linux/amd64"]
    source_date_epoch: int = whole(0, 2**33)
    spec_sha256: str = text(SHA256)
    original: Document
    context_sha256: str | None = optional_text(SHA256)
    layer: tuple[Layer, ...]
    warning: tuple[str, ...] = texts(default=())
    built: tuple[Built, ...] = ()
    lockfile: Lockfile | None = None
    package: tuple[Package, ...]

    def __attrs_post_init__(self) -> None:
        _unique_packages(self.package)


@frozen(kw_only=True)
class HarnessRequest:
    """What a harness lock was asked for: exact versions, and the date that every dependency is older than.

    ``tarball`` is the sha256 of a packed build that stands in the place of the registry's Nanocoder.
    """

    nanocoder: str = text(r"\d+\.\d+\.\d+\S*")
    node: str = text(r"\d+\.\d+\.\d+")
    npm: str = text(r"\d+\.\d+\.\d+")
    before: str = text(DATE)
    tarball: Digest | None = optional_text(SHA256_DIGEST)


@frozen(kw_only=True)
class HarnessLock:
    """One Nanocoder version: Node, the package, and every dependency by integrity.

    ``closure`` is the diff_id of the canonical tar of the unpacked closure; ``report_schema_sha256`` pins the
    checked-in schema that its report must match. npm itself (role ``installer``) resolved it and is not in it.
    ``warning`` names the packages whose install scripts were never run.
    """

    version: Literal[1]
    revision: int = whole(1, 1000)
    recipe: int = whole(1, 1000)
    name: str = text(IDENTIFIER)
    nanocoder: str = text(r"\d+\.\d+\.\d+\S*")
    node: str = text(r"\d+\.\d+\.\d+")
    platform: Literal["linux/amd64"]
    closure: Digest = text(DIGEST)
    closure_size: int = whole(0, 2**40)
    report_schema_sha256: str = text(SHA256)
    original: HarnessRequest
    warning: tuple[str, ...] = texts(default=())
    package: tuple[Package, ...]

    def __attrs_post_init__(self) -> None:
        _unique_packages(self.package)


SourcePins = LockedUpstream | LockedFiles
"""What a source was resolved to when its task was locked."""

_NOTHING = sha256(b"").hexdigest()


@frozen(kw_only=True)
class LockedSource:
    """What the source resolved to: commit and tree of the one-commit workspace, the derived patches' digests.

    ``upstream`` is there for changes of a git repository, ``vendored`` for fixtures; release pairs have neither. Only
    a fixture may have no test files; and one without a golden patch is a question. ``token_estimate`` is over the
    required files at base; locks of the first revision have none.
    """

    commit: str = text(COMMIT)
    tree: str = text(COMMIT)
    golden_patch_sha256: str = text(SHA256)
    test_patch_sha256: str = text(SHA256)
    statement_sha256: str = text(SHA256)
    required_files: tuple[str, ...] = texts(RELATIVE_PATH, nonempty=True)
    test_files: tuple[str, ...] = texts(RELATIVE_PATH)
    token_estimate: int | None = optional_whole(0, 2**40)
    upstream: LockedUpstream | None = None
    vendored: LockedFiles | None = None

    def __attrs_post_init__(self) -> None:
        if not self.test_files and self.vendored is None:
            raise ValueError("test_files: at least one is needed")

    @property
    def pins(self) -> SourcePins | None:
        """What a task's own spec does not pin."""
        return self.upstream or self.vendored

    @property
    def to_change(self) -> tuple[str, ...]:
        """Of which files does a correct change touch at least one? Of none when the task is a question."""
        return () if self.golden_patch_sha256 == _NOTHING else self.required_files


@frozen(kw_only=True)
class LockedImage:
    """The image's identity: an engine's image is ours when its id is one of the two and its diff_ids are these.

    ``captured``: its base was built once, by Docker from a Dockerfile; that this can be done again is not promised.
    """

    platform: Literal["linux/amd64"]
    manifest_digest: Digest = text(DIGEST)
    config_digest: Digest = text(DIGEST)
    source_date_epoch: int = whole(0, 2**33)
    diff_ids: tuple[Digest, ...] = texts(DIGEST, nonempty=True)
    captured: Literal[True] | None = None


@frozen(kw_only=True)
class LockedTests:
    """Derived from runs, never written by hand. An id is ``suite|node id``."""

    fail_to_pass: tuple[str, ...] = texts(nonempty=True)
    pass_to_pass: tuple[str, ...] = texts(default=())
    unstable: tuple[str, ...] = texts(default=())


@frozen(kw_only=True)
class GateVerdict:
    """One gate's verdict; ``evidence`` is a blob in the store, the same bytes on every machine."""

    name: str = text(IDENTIFIER)
    verdict: Verdict
    evidence_sha256: str = text(SHA256)

    def admitted(self, image: LockedImage) -> bool:
        """May a usable lock hold it? A pass; and the one unknown: whether a captured image can be built again."""
        return self.verdict == "pass" or (
            (self.name, self.verdict) == ("image", "unknown") and image.captured is not None
        )


@frozen(kw_only=True)
class TaskLock:
    """``locks/<task>.lock.toml``. ``original`` is the parsed ``task.toml``; ``cutoff`` the date after which a merged
    change must have been merged."""

    version: Literal[1]
    revision: int = whole(1, 1000)
    recipe: int = whole(1, 1000)
    task: str = text(IDENTIFIER)
    cutoff: str | None = optional_text(r"\d{4}-\d\d-\d\d")
    spec_sha256: str = text(SHA256)
    environment: Reference
    harness: Reference
    source: LockedSource
    image: LockedImage
    limits: Limits
    env: dict[str, str]
    tests: LockedTests
    gate: tuple[GateVerdict, ...] = field(metadata={"unique_key": "name"})
    original: Document

    def __attrs_post_init__(self) -> None:
        names = [g.name for g in self.gate]
        if len(set(names)) != len(names):
            raise ValueError("gate: two verdicts have the same name")
        both = set(self.tests.fail_to_pass) & set(self.tests.pass_to_pass)
        if both:
            raise ValueError(f"tests: {min(both)!r} stands in fail_to_pass and in pass_to_pass")
