"""Had the agent the project's AGENTS.md before it, as the run's profile says? Its first request shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from nanobench.audit.asked import Asked
from nanobench.gateway.exchange import Exchange
from nanobench.harness.tools import RELEASES
from nanobench.model.result import Cell, RunManifest
from nanobench.store.plain_file import read_below

_FILE, _MOST = "AGENTS.md", 4 << 20
_BEFORE = "\n\nAdditional Context...\n\n"
"""What Nanocoder's prompt says before the file's text, which it takes whole."""


def guidance(run: RunManifest, cell: Cell, exchanges: Iterable[Exchange], base: Path) -> Iterator[str]:
    """Where the first request of a cell does not bear out its profile. Without a plain file of that name at the top
    of ``base`` the setting changes nothing, and other builds of Nanocoder may have other words."""
    try:
        text = read_below(base, _FILE, limit=_MOST).decode("utf-8", "replace").rstrip()
    except OSError:
        return
    asked, profile = Asked(run, cell), run.profile_of(cell)
    first = next((asked.first for _ in asked.passing(exchanges) if asked.first), None)
    if first is None or cell.harness not in RELEASES:
        return
    wanted, shown = profile is None or profile.agents_md, f"{_BEFORE}{text}" in first.system
    if wanted is not shown:
        has = "holds" if shown else "does not hold"
        yield f"{cell.id}: agents_md: published {str(wanted).lower()}, and its first request {has} the {_FILE}"
