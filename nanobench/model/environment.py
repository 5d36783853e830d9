"""``environments/<name>.toml``: what a curator asks of an image, and the limits it runs under."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import ENV_NAME, IDENTIFIER, text, texts, whole


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
    limits: Limits = field(factory=Limits)
    env: dict[str, str] = field(factory=dict, metadata={"keys_pattern": f"^{ENV_NAME}$"})
