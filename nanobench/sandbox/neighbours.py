"""What others do on a sandbox's CPUs, from the kernel's own account of each CPU."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from time import monotonic, sleep

from nanobench.sandbox.contention import Share
from nanobench.sandbox.processes import TICK_MS, Load

SAMPLE = 1.0  # seconds that are looked at when the sandbox is dead
_USER, _NICE, _STEAL = 1, 2, 8  # fields of a CPU's line in /proc/stat


class Neighbours:
    """Counts, from one look at a sandbox to the next, what others had of ``cpus`` while it had something to run."""

    def __init__(self, cpus: Collection[int]) -> None:
        self._cpus = cpus
        self._busy, self._own = busy_ms(cpus), Load()
        self._others = 0

    def note(self, own: Load) -> None:
        """One look more. What is ready to run, or has run since the last look, had something to run."""
        before, self._busy = self._busy, busy_ms(self._cpus)
        if own.ready or own.cpu_ms > self._own.cpu_ms:
            self._others += (self._busy - before) - (own.user_ms - self._own.user_ms)
        self._own = own

    def during(self, wall_ms: int) -> Share:
        """What they had so far."""
        return Share(cpus=len(self._cpus), wall_ms=wall_ms, others_ms=self._others)

    def after(self) -> Share:
        """What they have now that the sandbox is dead."""
        before, began = busy_ms(self._cpus), monotonic()
        sleep(SAMPLE)
        others = busy_ms(self._cpus) - before
        return Share(cpus=len(self._cpus), wall_ms=round((monotonic() - began) * 1000), others_ms=others)


def busy_ms(cpus: Collection[int]) -> int:
    """Milliseconds that these CPUs have spent in user mode or for other machines. Where there is no account of them,
    or it numbers them otherwise (as in some containers), they are none: nobody is blamed then."""
    wanted, found = {f"cpu{cpu}" for cpu in cpus}, 0
    try:
        lines = map(str.split, Path("/proc/stat").read_text().splitlines())
    except OSError:
        return 0
    for fields in lines:
        if fields[0] in wanted:
            found += sum(int(fields[at]) for at in (_USER, _NICE, _STEAL))
    return round(found * TICK_MS)
