from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import CannotTell
from nanobench.gates.contamination import ContaminationGate
from nanobench.gates.interface import Case
from nanobench.model.fields import Digest
from nanobench.model.upstream import LockedUpstream, PinnedTree

TREE = PinnedTree(commit="a" * 40, tree="b" * 40, archive=Digest(f"sha256:{'0' * 64}"), size=1)


def merged(case: Case, date: str, claimed: str | None = None, cutoff: str = "2026-01-01") -> Case:
    pins = LockedUpstream(identity="squash", merged_at=date, base=TREE, merge=TREE)
    task = evolve(case.task, kind="merged-pr", curation=evolve(case.task.curation, merged_at=claimed))
    return evolve(case, task=task, pins=pins, cutoff=cutoff)


@pytest.mark.parametrize("claimed", [None, "2026-01-02", "2026-01-02T00:00:01Z"])
def test_a_change_merged_after_the_cutoff_passes(case: Case, claimed: str | None) -> None:
    finding = ContaminationGate().check(merged(case, "2026-01-02T00:00:01Z", claimed))
    assert (finding.verdict, finding.reasons, finding.warnings) == ("pass", (), ())
    assert finding.evidence == {"merge": "a" * 40, "merged_at": "2026-01-02T00:00:01Z", "cutoff": "2026-01-01"}


@pytest.mark.parametrize("date", ["2026-01-01T23:59:59Z", "2025-12-31T00:00:00Z"])
def test_one_merged_before_or_on_the_day_of_the_cutoff_fails_and_an_earlier_cutoff_helps(
    case: Case, date: str
) -> None:
    finding = ContaminationGate().check(merged(case, date))
    assert (finding.verdict, finding.reasons) == (
        "fail",
        (f"merged at {date}, which is not after the cutoff 2026-01-01",),
    )
    assert "merged after the cutoff" in finding.remedy
    assert ContaminationGate().check(merged(case, date, cutoff="2025-12-30")).verdict == "pass"


def test_a_claimed_date_that_is_not_the_commits_fails_and_leaving_it_out_helps(case: Case) -> None:
    finding = ContaminationGate().check(merged(case, "2026-03-01T10:00:00Z", "2026-03-02"))
    assert finding.reasons == ("curation.merged_at: stated 2026-03-02, the merge commit says 2026-03-01T10:00:00Z",)
    assert "leave curation.merged_at out" in finding.remedy
    assert ContaminationGate().check(merged(case, "2026-03-01T10:00:00Z")).verdict == "pass"


@pytest.mark.parametrize("kind", ["release-pair", "fixture"])
def test_of_what_nobody_merged_no_date_is_asked_and_the_evidence_says_so(case: Case, kind: Any) -> None:
    finding = ContaminationGate().check(
        evolve(case, task=evolve(case.task, kind=kind) if kind != "fixture" else case.task)
    )
    assert finding.verdict == "pass"
    assert finding.evidence["asked"] is False
    assert finding.warnings[0].startswith("not asked: ")


def test_without_a_cutoff_it_cannot_be_told(case: Case) -> None:
    with pytest.raises(CannotTell, match="NB_CUTOFF"):
        ContaminationGate().check(evolve(merged(case, "2026-03-01T10:00:00Z"), cutoff=None))
