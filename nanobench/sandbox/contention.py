"""Was it the machine that ran a command into its time limit? From what others had of its CPUs. Pure.

A command is starved when two figures say that others had most of its CPUs' time:

* **while it ran**, as long as it had something to run: what its CPUs did, less what it did itself, wherever it did
  it. A command that sleeps waits for no CPU, and one that keeps its CPUs busy, or strays to those of its neighbours,
  has what it was promised.
* **when it was dead**. The first figure can be driven up from inside: children that nobody waits for take the account
  of their time along. The second cannot: nothing of the sandbox runs any more. So no patch's own load is an excuse.

Both count user mode, and what a hypervisor took: the kernel may be at work for the sandbox itself.
"""

from __future__ import annotations

from attrs import frozen

MOST = 50  # per cent


@frozen(kw_only=True)
class Share:
    """What others had, in milliseconds, of so many CPUs in so many milliseconds."""

    cpus: int
    wall_ms: int
    others_ms: int

    @property
    def percent(self) -> int:
        """The share in whole per cent, rounded down; clocks of ticks may be off by a little."""
        return min(100, max(0, 100 * self.others_ms // max(1, self.cpus * self.wall_ms)))

    @property
    def most(self) -> bool:
        """Did others have most of it?"""
        return self.percent > MOST


def starved(during: Share, after: Share) -> str | None:
    """Why the machine, and not the command, is to blame, in words with numbers; None where it is not."""
    if not (during.most and after.most):
        return None
    time = f"{during.cpus} CPU{'s' if during.cpus > 1 else ''} for {during.wall_ms // 1000} s"
    return (
        f"the machine was busy: of {time}, others had {during.percent} % while it had something to run, "
        f"and {after.percent} % still when it was stopped"
    )
