"""``environments/<name>.toml``: what a curator asks of an image, and the limits it runs under."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import ENV_NAME, IDENTIFIER, optional_text, text, texts, whole


@frozen(kw_only=True)
class DebianBase:
    """A Debian suite and packages beside the essential ones (git is always there)."""

    debian: str = text(r"[a-z]+")
    packages: tuple[str, ...] = texts(r"[a-z0-9][a-z0-9+.-]+", default=())


@frozen(kw_only=True)
class PythonRequest:
    """Python packages for the suite's virtual environment, resolved as of ``exclude_newer``.

    ``build_requirements`` are what the project under test needs to be installed editable; they are pinned
    too, live in a build environment of their own, and are not in the image.
    """

    exclude_newer: str = text(r"\d{4}-\d\d-\d\d")
    requirements: tuple[str, ...] = texts(nonempty=True)
    build_requirements: tuple[str, ...] = texts(default=())


_NPM_NAME = r"(@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*"


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
    before: str | None = optional_text(r"\d{4}-\d\d-\d\d")
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
    base: DebianBase
    python: PythonRequest | None = None
    node: NodeRequest | None = None
    limits: Limits = field(factory=Limits)
    env: dict[str, str] = field(factory=dict, metadata={"keys_pattern": f"^{ENV_NAME}$"})
