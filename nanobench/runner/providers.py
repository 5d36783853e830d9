"""The provider of a run: an address with a key, or a script that acts a known part behind the same wire."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attrs import field, frozen

from nanobench.gateway.scripted.behaviours import scripted_provider
from nanobench.gateway.upstream import Upstream
from nanobench.model.provider import Arm, ModelPrice
from nanobench.model.result import ProviderFacts
from nanobench.sources.change import Change


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
    def upstream(self, solution: Change) -> Iterator[Upstream]:
        """The same address for every cell."""
        del solution  # no provider but a scripted one is ever told it
        yield self.address


@frozen(kw_only=True)
class Scripted:
    """A scripted behaviour; each cell has a server of its own."""

    behaviour: str
    models: tuple[str, ...]

    @property
    def facts(self) -> ProviderFacts:
        """What a bundle says of it."""
        return ProviderFacts(name=self.behaviour, kind="scripted", models=self.models)

    @contextmanager
    def upstream(self, solution: Change) -> Iterator[Upstream]:
        """A server that acts the part for one task's solution."""
        with scripted_provider(self.behaviour, solution.golden, said=solution.said) as provider:
            yield provider.upstream


Provider = Endpoint | Scripted
