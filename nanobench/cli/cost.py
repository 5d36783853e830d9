"""What locking a task cost: seconds, sizes, bytes that came over the network. Said, and never locked."""

from __future__ import annotations

import time
from typing import Self

from attrs import define, evolve
from rich.filesize import decimal

from nanobench.curate.lock import LockOutcome
from nanobench.image.workbench import Workbench


@define
class Meter:
    """Counts from when it began. ``bench`` is a workbench that tells it what arrives."""

    bench: Workbench
    started: float
    arrived: int = 0

    @classmethod
    def begin(cls, bench: Workbench) -> Self:
        """From now on."""
        meter = cls(bench=bench, started=time.monotonic())

        def fetched(size: int) -> None:
            meter.arrived += size
            bench.fetched(size)

        meter.bench = evolve(bench, fetched=fetched)
        return meter

    def cost(self, outcome: LockOutcome) -> str:
        """One line."""
        asked = {j.name: j.seconds for j in outcome.judged if j.seconds is not None}
        slow = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in asked.items() if seconds >= 1)
        recalled = len(outcome.judged) - len(asked)
        return (
            f"{outcome.task}: {time.monotonic() - self.started:.1f} s, gates {sum(asked.values()):.1f} s"
            f"{f' ({slow})' if slow else ''}, {recalled} recalled; "
            f"image {decimal(outcome.image_bytes)}; {decimal(self.arrived)} fetched"
        )
