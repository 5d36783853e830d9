"""``environments/<name>.toml``: what a curator asks of an image, and the limits it runs under."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import (
    DATE,
    ENV_NAME,
    IDENTIFIER,
    RELATIVE_PATH,
    SHA256,
    optional_text,
    text,
    texts,
    whole,
)

_BELOW = rf"(?=.*/){RELATIVE_PATH}"


@frozen(kw_only=True)
class DebianBase:
    """A Debian suite and packages beside the essential ones (git is always there)."""

    debian: str = text(r"[a-z]+")
    packages: tuple[str, ...] = texts(r"[a-z0-9][a-z0-9+.-]+", default=())


@frozen(kw_only=True)
class ImageBase:
    """A published image for linux/amd64: ``registry/repository:tag``, ``…@sha256:digest``, or both.

    A tag is looked up when the environment is locked; the lock pins the digest. Its variables, user and command are
    not taken over.
    """

    image: str = text(r"[^\s]{1,512}")


@frozen(kw_only=True)
class DockerfileBase:
    """A Dockerfile below ``environments/``, in a folder of its own, which is all that it can copy from.

    Docker builds it once, when the environment is locked: what came out is *captured*. ``date`` is the time of
    everything that the build wrote, and SOURCE_DATE_EPOCH in it.
    """

    dockerfile: str = text(_BELOW)
    date: str = text(DATE)


@frozen(kw_only=True)
class DevcontainerBase:
    """A ``devcontainer.json`` below ``environments/``: its ``image``, or its ``build`` (which needs a ``date``)."""

    devcontainer: str = text(_BELOW)
    date: str | None = optional_text(DATE)


Base = DebianBase | ImageBase | DockerfileBase | DevcontainerBase
"""Told apart by the key that only each of them has."""


@frozen(kw_only=True)
class Interpreter:
    """A CPython that no package brings: a ``.tar.gz`` at ``url``, pinned by sha256 and size in bytes.

    Its one folder (``bin/python3``, ``lib/python<version>``, …) becomes ``/opt/python``, so it must not mind where it
    lies; builds of python-build-standalone (``install_only``) do not.
    """

    version: str = text(r"3\.\d+")
    url: str = text(r"https?://[^\s@?#]+/[^\s@?#/]+")
    sha256: str = text(SHA256)
    size: int = whole(1, 2**31)


@frozen(kw_only=True)
class PythonRequest:
    """Python packages for the virtual environment, resolved as of ``exclude_newer`` for the base's own Python or, on
    Debian, for ``interpreter``.

    ``build_requirements`` are what the project under test needs to be installed editable; they are pinned
    too, live in a build environment of their own, and are not in the image.
    """

    exclude_newer: str = text(DATE)
    requirements: tuple[str, ...] = texts(nonempty=True)
    build_requirements: tuple[str, ...] = texts(default=())
    interpreter: Interpreter | None = None


_NPM_PART = r"[A-Za-z0-9~-][A-Za-z0-9._~-]*"
_NPM_NAME = rf"(@[a-z0-9~-][a-z0-9._~-]*/)?{_NPM_PART}"


@frozen(kw_only=True)
class NodeRequest:
    """Node of an exact version, the package manager beside it, and the packages in the workspace's ``node_modules``.

    Either ``lockfile = "project"``: exactly what the ``package-lock.json`` or ``pnpm-lock.yaml`` of the task's base
    tree names (so the environment serves tasks of one project whose lockfile is the same), pnpm's limited by
    ``filters`` (``./path``, ``name``, ``name...``; the root is always among them). Or ``packages`` (``name@range``),
    resolved by npm as of ``before``. ``scripts`` names the packages whose install scripts may run, without network;
    all others never do.
    """

    node: str = text(r"\d+\.\d+\.\d+")
    manager: str = text(r"(npm|pnpm)@\d+\.\d+\.\d+")
    lockfile: Literal["project"] | None = None
    packages: tuple[str, ...] = texts(rf"{_NPM_NAME}@[^\s:/]+", default=())
    before: str | None = optional_text(DATE)
    filters: tuple[str, ...] = texts(rf"\.|\./[^\s{{}}!*]+|{_NPM_NAME}(\.\.\.)?", default=())
    scripts: tuple[str, ...] = texts(_NPM_NAME, default=())

    def __attrs_post_init__(self) -> None:
        if (self.lockfile is None) != bool(self.packages):
            raise ValueError('either lockfile = "project" or packages')
        if (self.before is None) != (self.lockfile is not None):
            raise ValueError("before (a date) and packages go together")
        if self.packages and not self.manager.startswith("npm@"):
            raise ValueError("packages are resolved and installed by npm: manager must be npm@…")
        if self.filters and not (self.lockfile and self.manager.startswith("pnpm@")):
            raise ValueError("filters belong to pnpm and the project's lockfile")


_STEP_INPUT = rf"pkg:(pypi/[A-Za-z0-9][A-Za-z0-9._-]*|npm/(%40[a-z0-9~-][a-z0-9._~-]*/)?{_NPM_PART})@[^\s/?#@]+"


@frozen(kw_only=True)
class Step:
    """A command without network, run in the workspace when a task's layer is made, after everything is installed.

    ``inputs`` are purls of exact versions (a wheel or else source archive, an npm tarball), pinned like all packages;
    each stands unpacked and read-only at ``/nanobench/inputs/NAME``. ``outputs`` are the files and folders of the
    workspace that are kept of what it writes; git ignores them. ``seconds`` bounds it.
    """

    name: str = text(IDENTIFIER)
    command: tuple[str, ...] = texts(unique=False, nonempty=True)
    inputs: tuple[str, ...] = texts(_STEP_INPUT, default=())
    outputs: tuple[str, ...] = texts(rf"{RELATIVE_PATH}(?<!/)", nonempty=True)
    seconds: int = whole(1, 7200, default=600)

    def __attrs_post_init__(self) -> None:
        names = [purl.partition("/")[2].rpartition("@")[0] for purl in self.inputs]
        if len(set(names)) != len(names):
            raise ValueError("inputs: two have the same name")


@frozen(kw_only=True)
class Limits:
    """What one sandbox may use. Memory and disk in MiB, times in seconds of wall clock."""

    cpus: int = whole(1, 1024, default=2)
    memory_mib: int = whole(64, 2**20, default=4096)
    pids: int = whole(16, 2**16, default=512)
    disk_mib: int = whole(16, 2**20, default=2048)
    agent_seconds: int = whole(1, 86_400, default=1800)
    test_seconds: int = whole(1, 86_400, default=900)


@frozen(kw_only=True)
class Environment:
    """An environment spec."""

    schema: Literal[1]
    name: str = text(IDENTIFIER)
    base: Base
    python: PythonRequest | None = None
    node: NodeRequest | None = None
    step: tuple[Step, ...] = field(default=(), metadata={"unique_key": "name"})
    limits: Limits = field(factory=Limits)
    env: dict[str, str] = field(factory=dict, metadata={"keys_pattern": f"^{ENV_NAME}$"})

    def __attrs_post_init__(self) -> None:
        names = [step.name for step in self.step]
        if len(set(names)) != len(names):
            raise ValueError("step: two steps have the same name")
        if self.interpreter and not isinstance(self.base, DebianBase):
            raise ValueError("python.interpreter: an image brings its own; this is for a Debian base")

    @property
    def interpreter(self) -> Interpreter | None:
        """The Python that was asked for in place of the base's own."""
        return self.python.interpreter if self.python else None
