"""contamination: a model cannot have been trained on the change, by the date that its merge commit itself bears."""

from __future__ import annotations

from nanobench.errors import CannotTell
from nanobench.gates.interface import Case, Finding, judged, not_asked
from nanobench.model.lock import SourcePins
from nanobench.model.task import Task, TaskKind
from nanobench.model.upstream import LockedUpstream

_NOT_ASKED: dict[TaskKind, str] = {
    "release-pair": "the date of a release is its publisher's word, in no commit that could be read; so results of "
    "release pairs stand in no table with those of merged changes",
    "fixture": "a fixture was written for this project and published with it: nothing was merged",
}


class ContaminationGate:
    """The date is the committer's of the pinned merge, so nobody's claim; a claim that differs is a failure."""

    name = "contamination"

    def check(self, case: Case) -> Finding:
        """Ask the pins."""
        return dated(case.task, case.pins, case.cutoff)


def dated(task: Task, pins: SourcePins | None, cutoff: str | None) -> Finding:
    """Compare the merge's date with the cutoff, and with what the task claims.

    Raises:
        CannotTell: ``NB_CUTOFF`` without a cutoff.
    """
    if not isinstance(pins, LockedUpstream):
        return not_asked(_NOT_ASKED[task.kind])
    if cutoff is None:
        raise CannotTell("NB_CUTOFF", "no cutoff was locked", hint=f"nanobench lock {task.id}")
    merged, claimed = pins.merged_at, task.curation.merged_at
    reasons = []
    if merged[: len(cutoff)] <= cutoff:
        reasons.append(f"merged at {merged}, which is not after the cutoff {cutoff}")
    if claimed is not None and not merged.startswith(claimed):
        reasons.append(f"curation.merged_at: stated {claimed}, the merge commit says {merged}")
    evidence = {"merge": pins.merge.commit, "merged_at": merged, "cutoff": cutoff}
    remedy = "take a change that was merged after the cutoff; leave curation.merged_at out, or give the commit's"
    return judged(evidence, tuple(reasons), remedy)
