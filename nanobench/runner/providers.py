"""The provider of a run: an address with a key, or a script that acts a known part behind the same wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from attrs import field, frozen

from nanobench.gateway.scripted.behaviours import SCRIPTED, part_of, scripted_provider
from nanobench.gateway.scripted.scene import Scene
from nanobench.gateway.upstream import Upstream
from nanobench.model.provider import Arm, ModelPrice
from nanobench.model.result import ProviderFacts


@frozen(kw_only=True)
class Endpoint:
    """A provider at an address, and what it takes for some of its models."""

    address: Upstream
    models: tuple[str, ...]
    prices: tuple[ModelPrice, ...] = ()
    arm: Arm = field(factory=Arm)

    @property
    def facts(self) -> ProviderFacts:
        """What a bundle says of it."""
        address = self.address
        return ProviderFacts(
            name=address.name,
            kind=address.kind,
            base_url=address.base_url,
            models=self.models,
            price=tuple(price for price in self.prices if price.model in self.models),
            arm=self.arm,
        )

    @contextmanager
    def upstream(self, scene: Scene, model: str) -> Iterator[Upstream]:
        """The same address for every cell."""
        del scene, model  # no provider but a scripted one is ever told the solution
        yield self.address


@frozen(kw_only=True)
class Scripted:
    """Plays one behaviour for every model, or (``behaviour`` is :data:`SCRIPTED`) the one that the model is called.
    Each cell has a server of its own."""

    behaviour: str = SCRIPTED
    models: tuple[str, ...]
    _casting: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    @property
    def facts(self) -> ProviderFacts:
        """What a bundle says of it."""
        return ProviderFacts(name=self.behaviour, kind="scripted", models=self.models)

    @contextmanager
    def upstream(self, scene: Scene, model: str) -> Iterator[Upstream]:
        """A server that acts the part in one task.

        Raises:
            Refused: ``NB_PART`` when the part does not fit the task.
        """
        with self._casting:  # one after the other, so that nothing is rehearsed twice
            provider = scripted_provider(part_of(self.behaviour, model), scene)
        with provider:
            yield provider.upstream


Provider = Endpoint | Scripted
