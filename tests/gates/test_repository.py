from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from nanobench.errors import CannotTell
from nanobench.gates.interface import Case
from nanobench.gates.repository import RepositoryGate
from nanobench.model.fields import Digest
from nanobench.model.upstream import LockedHistory, LockedUpstream, PinnedTree, SampledChange

TREE = PinnedTree(commit="a" * 40, tree="b" * 40, archive=Digest(f"sha256:{'0' * 64}"), size=1)


def sampled(read: int, *languages: str) -> SampledChange:
    return SampledChange(commit="a" * 40, languages=languages, changed=1, read=read)


def asked(case: Case, *, tokens: int = 0, novelty: Any = None, history: LockedHistory | None) -> Case:
    pins = LockedUpstream(identity="squash", merged_at="2026-06-01T00:00:00Z", base=TREE, merge=TREE, history=history)
    curation = evolve(case.task.curation, domain_novelty=novelty)
    return evolve(case, pins=pins, tokens=tokens, task=evolve(case.task, kind="merged-pr", curation=curation))


LIVELY = LockedHistory(days=180, changes=83, sample=tuple(sampled(n, "python") for n in (20, 15, 10, 4, 8)))


def test_a_lively_repository_with_deep_changes_passes_and_the_proxies_are_named(case: Case) -> None:
    finding = RepositoryGate().check(asked(case, tokens=40_844, history=LIVELY))
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence["points"] == {"languages": 1, "depth": 4, "activity": 4, "pressure": 2}
    assert (finding.evidence["total"], finding.evidence["of"], finding.evidence["needed"]) == (11, 16, 10)
    assert "import" in finding.evidence["proxies"]["depth"]


def test_too_few_points_fail_with_every_axis_and_a_new_domain_helps(case: Case) -> None:
    small = asked(case, tokens=19_999, history=LIVELY)
    finding = RepositoryGate().check(small)
    assert finding.verdict == "fail"
    assert finding.reasons == ("9 of 16 points, 10 are needed: languages 1, depth 4, activity 4, pressure 0",)
    assert "domain_novelty" in finding.remedy
    helped = RepositoryGate().check(asked(case, tokens=19_999, novelty="new", history=LIVELY))
    assert (helped.verdict, helped.evidence["total"], helped.evidence["of"]) == ("pass", 13, 20)


@pytest.mark.parametrize(
    ("changes", "points"), [(5, 0), (6, 2), (11, 2), (12, 4)], ids=["quiet", "monthly", "nearly two", "two a month"]
)
def test_activity_is_counted_by_the_month(case: Case, changes: int, points: int) -> None:
    finding = RepositoryGate().check(asked(case, history=evolve(LIVELY, changes=changes)))
    assert finding.evidence["points"]["activity"] == points


@pytest.mark.parametrize(("read", "points"), [(8, 4), (7, 3), (5, 3), (4, 2), (3, 2), (2, 1), (1, 0)])
def test_depth_is_the_mean_of_files_read(case: Case, read: int, points: int) -> None:
    history = evolve(LIVELY, sample=(sampled(read, "python"), sampled(read, "typescript")))
    found = RepositoryGate().check(asked(case, history=history)).evidence["points"]
    assert (found["depth"], found["languages"]) == (points, 2)


@pytest.mark.parametrize(("tokens", "points"), [(80_001, 4), (80_000, 3), (50_000, 3), (20_000, 2), (19_999, 0)])
def test_pressure_is_by_the_tokens_of_the_required_files(case: Case, tokens: int, points: int) -> None:
    finding = RepositoryGate().check(asked(case, tokens=tokens, history=LIVELY))
    assert finding.evidence["points"]["pressure"] == points


def test_without_locked_history_it_cannot_be_told_and_the_command_that_helps_is_named(case: Case) -> None:
    with pytest.raises(CannotTell, match="NB_HISTORY") as error:
        RepositoryGate().check(asked(case, history=None))
    assert "--upgrade-input source" in error.value.hint


def test_it_is_not_asked_of_what_no_repository_merged(case: Case) -> None:
    finding = RepositoryGate().check(case)
    assert (finding.verdict, finding.evidence["asked"]) == ("pass", False)
