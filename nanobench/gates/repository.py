"""repository: is this a repository whose changes are worth solving? The matrix, on the axes that can be computed.

Each axis has four points, and three in five of the points that can be had are needed: twelve of twenty. Whether its
domain is new is the maintainers' word, so that axis counts only where the task states it.
"""

from __future__ import annotations

from collections.abc import Sequence

from nanobench.errors import CannotTell
from nanobench.gates.interface import Case, Finding, judged, not_asked
from nanobench.model.fields import Document
from nanobench.model.upstream import LockedHistory, LockedUpstream, SampledChange

MOST = 4
_NOVELTY = {"new": 4, "adjacent": 2, "covered": 0}
_PROXIES = {
    "depth": "files that a change touches, and those that they import directly",
    "activity": "commits of the main line in the days before the merge",
}


class RepositoryGate:
    """A pure function of the pinned history, the token estimate, and the maintainers' word."""

    name = "repository"

    def check(self, case: Case) -> Finding:
        """Add the points up."""
        if not isinstance(case.pins, LockedUpstream):
            return not_asked("the matrix is about repositories whose merged changes are tasks")
        history = case.pins.history
        if history is None:
            hint = f"nanobench lock {case.task.id} --upgrade-input source"
            raise CannotTell("NB_HISTORY", "nothing of the repository's history was locked", hint=hint)
        points = _points(history, case.tokens, case.task.curation.domain_novelty)
        total, most = sum(points.values()), MOST * len(points)
        evidence: Document = {
            "points": points,
            "total": total,
            "of": most,
            "needed": _needed(most),
            "tokens": case.tokens,
            "changes": history.changes,
            "days": history.days,
            "read": [change.read for change in history.sample],
            "proxies": _PROXIES,
        }
        shown = ", ".join(f"{axis} {value}" for axis, value in points.items())
        reasons = (f"{total} of {most} points, {_needed(most)} are needed: {shown}",) if total < _needed(most) else ()
        remedy = "take changes of another repository; if its domain is new, state curation.domain_novelty"
        return judged(evidence, reasons, remedy)


def _points(history: LockedHistory, tokens: int, novelty: str | None) -> dict[str, int]:
    points = {
        "languages": min(MOST, len({language for change in history.sample for language in change.languages})),
        "depth": _depth(history.sample),
        "activity": _reached(history.changes * 30, ((2 * history.days, 4), (history.days, 2))),
        "pressure": _reached(tokens, ((80_001, 4), (50_000, 3), (20_000, 2))),
    }
    return points if novelty is None else {**points, "novelty": _NOVELTY[novelty]}


def _depth(sample: Sequence[SampledChange]) -> int:
    """By the mean number of files read."""
    steps = tuple((mean * len(sample), points) for mean, points in ((8, 4), (5, 3), (3, 2), (2, 1)))
    return _reached(sum(change.read for change in sample), steps) if sample else 0


def _reached(value: int, steps: Sequence[tuple[int, int]]) -> int:
    """The points of the first step that the value reaches."""
    return next((points for step, points in steps if value >= step), 0)


def _needed(most: int) -> int:
    return -(-most * 3 // 5)
