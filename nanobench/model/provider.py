"""``providers.toml``: where a name like ``ollama`` leads. Keys are named here, never written here."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import ENV_NAME, optional_text, text, texts

Wire = Literal["openai-compatible", "anthropic"]
"""How a provider is spoken to."""


@frozen(kw_only=True)
class ProviderEntry:
    """One endpoint; its key stands in an environment variable or in a file of its own."""

    name: str = text(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
    kind: Wire = "openai-compatible"
    base_url: str = text(r"https?://[^\s@?#]+")
    models: tuple[str, ...] = texts(r"[A-Za-z0-9_/.:][A-Za-z0-9_/.:-]*", default=())
    key_env: str | None = optional_text(ENV_NAME)
    key_file: str | None = optional_text()

    def __attrs_post_init__(self) -> None:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key_env and key_file exclude each other")


@frozen(kw_only=True)
class Providers:
    """Every provider of a person or a project; ``run --provider NAME`` takes one."""

    schema: Literal[1]
    provider: tuple[ProviderEntry, ...] = field(metadata={"min_items": 1, "unique_key": "name"})

    def __attrs_post_init__(self) -> None:
        names = [entry.name for entry in self.provider]
        if len(set(names)) != len(names):
            raise ValueError("provider: two providers have the same name")
