"""``matrix.toml``: every axis of a run in one file. The options of ``run`` say the same."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen

from nanobench.model.fields import IDENTIFIER, text, texts, whole
from nanobench.model.profile import Profile
from nanobench.model.provider import MODEL_NAME, PROVIDER_NAME
from nanobench.model.result import Mode


@frozen(kw_only=True)
class Chosen:
    """A provider of the matrix: a scripted one, or an entry of ``providers.toml``, and which of its models (default:
    all that the entry names)."""

    name: str = text(PROVIDER_NAME)
    models: tuple[str, ...] = texts(MODEL_NAME, default=())


@frozen(kw_only=True)
class Matrix:
    """The axes; their product is the plan. What is left out: all locked tasks, the Nanocoder that a task was locked
    with, no profile.

    ``nanocoder`` are versions or names of locks. ``order_seed`` shuffles the cells, so that a provider that drifts
    meets all arms alike.
    """

    schema: Literal[1]
    tasks: tuple[str, ...] = texts(IDENTIFIER, default=())
    nanocoder: tuple[str, ...] = texts(default=())
    modes: tuple[Mode, ...] = field(default=("hinted",), metadata={"min_items": 1, "unique": True})
    repeats: int = whole(1, 1000, default=1)
    order_seed: int = whole(0, 2**31 - 1, default=0)
    provider: tuple[Chosen, ...] = field(default=(), metadata={"unique_key": "name"})
    profile: tuple[Profile, ...] = field(default=(), metadata={"unique_key": "name"})

    def __attrs_post_init__(self) -> None:
        if not self.modes or len(set(self.modes)) != len(self.modes):
            raise ValueError("modes: at least one is needed, and each once")
        for key, members in (("provider", self.provider), ("profile", self.profile)):
            names = [member.name for member in members]
            if len(set(names)) != len(names):
                raise ValueError(f"{key}: two of them have the same name")
