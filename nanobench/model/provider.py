"""``providers.toml``: where a name like ``ollama`` leads. Keys are named here, never written here."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import ENV_NAME, optional_text, optional_whole, text, texts, whole

PROVIDER_NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
MODEL_NAME = r"[A-Za-z0-9_/.:][A-Za-z0-9_/.:-]*"
AMOUNT = r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?"
"""US dollars as decimal text: money is never a float."""

Wire = Literal["openai-compatible", "anthropic"]
"""How a provider is spoken to."""

ToolProfile = Literal["full", "minimal", "nano"]


@frozen(kw_only=True)
class Arm:
    """How a provider's models are asked. It is part of what is measured, so every bundle says it.

    ``tools``: in the wire's own form, or told in the prompt and called in ``xml`` text, for models that cannot do the
    former. ``tool_profile``: how many of them, in Nanocoder's words. A ``temperature`` above 0 needs a ``seed``, of
    which repeat ``i`` sends ``seed + i``; without one no seed is sent, since some providers refuse the key.
    """

    tools: Literal["native", "xml"] = "native"
    tool_profile: ToolProfile = "full"
    temperature: int = whole(0, 2, default=0)
    seed: int | None = optional_whole(0, 2**31 - 1)

    def __attrs_post_init__(self) -> None:
        if self.temperature and self.seed is None:
            raise ValueError("a temperature above 0 needs a seed")

    def seed_of(self, repeat: int) -> int | None:
        """The seed of the 0-based ``repeat``, if any is sent."""
        return None if self.seed is None else self.seed + repeat


@frozen(kw_only=True)
class ModelPrice:
    """What a million tokens of a model cost, in US dollars. Input that is read from a cache (``cached``) costs as
    other input where that is left out; where ``cache_write`` is left out, what is written to one has no known
    price."""

    model: str = text(MODEL_NAME)
    input: str = text(AMOUNT)
    output: str = text(AMOUNT)
    cached: str | None = optional_text(AMOUNT)
    cache_write: str | None = optional_text(AMOUNT)


@frozen(kw_only=True)
class Budgets:
    """What may be used up beside the limits of the lock: tokens (in and out) and seconds by an attempt at a cell, US
    dollars by a whole run. Absent is unbounded."""

    max_tokens: int | None = optional_whole(1, 10**12)
    max_seconds: int | None = optional_whole(1, 10**6)
    max_cost: str | None = optional_text(AMOUNT)


@frozen(kw_only=True)
class ProviderEntry:
    """One endpoint; its key stands in an environment variable or in a file of its own."""

    name: str = text(PROVIDER_NAME)
    kind: Wire = "openai-compatible"
    base_url: str = text(r"https?://[^\s@?#]+")
    models: tuple[str, ...] = texts(MODEL_NAME, default=())
    key_env: str | None = optional_text(ENV_NAME)
    key_file: str | None = optional_text()
    price: tuple[ModelPrice, ...] = field(default=(), metadata={"unique_key": "model"})
    arm: Arm = field(factory=Arm)

    def __attrs_post_init__(self) -> None:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("key_env and key_file exclude each other")
        if len({price.model for price in self.price}) != len(self.price):
            raise ValueError("price: two prices of the same model")
        if self.kind == "anthropic" and self.arm.seed is not None:
            raise ValueError("arm.seed: the wire of anthropic knows no seed")


@frozen(kw_only=True)
class Providers:
    """Every provider of a person or a project; ``run --provider NAME`` takes one."""

    schema: Literal[1]
    provider: tuple[ProviderEntry, ...] = field(metadata={"min_items": 1, "unique_key": "name"})

    def __attrs_post_init__(self) -> None:
        names = [entry.name for entry in self.provider]
        if len(set(names)) != len(names):
            raise ValueError("provider: two providers have the same name")
