"""What runs took, for people: the figures that are shown, their names and units. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from attrs import frozen

from nanobench.model.result import CellResult
from nanobench.report.rows import Row
from nanobench.scoring.efficiency import FIGURES, Spread, spread


@frozen(kw_only=True)
class Measure:
    """A figure of :data:`nanobench.scoring.efficiency.FIGURES` as it is shown: in so many units of its own."""

    figure: str
    title: str
    unit: int = 1

    def told(self, result: CellResult) -> Decimal | None:
        """What a result tells of it; None where it does not."""
        value = FIGURES[self.figure](result)
        return None if value is None else Decimal(value) / self.unit


MEASURES = (
    Measure(figure="steps", title="steps"),
    Measure(figure="tool_calls", title="tool calls"),
    Measure(figure="input_tokens", title="tokens in"),
    Measure(figure="cached_tokens", title="of these cached"),
    Measure(figure="output_tokens", title="tokens out"),
    Measure(figure="cost", title="cost (USD)"),
    Measure(figure="wall_ms", title="wall time (s)", unit=1000),
    Measure(figure="cpu_ms", title="CPU time (s)", unit=1000),
)


def taken(rows: Iterable[Row]) -> Mapping[str, Spread]:
    """The spread of every measure, by its figure, over the rows that count."""
    counted = [row.result for row in rows if row.result and row.counts]
    return {measure.figure: spread(map(measure.told, counted)) for measure in MEASURES}
