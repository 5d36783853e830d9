from __future__ import annotations

from attrs import evolve

from nanobench.gates.interface import Case
from nanobench.gates.source import SourceGate


def test_the_demo_tasks_source_passes_and_the_evidence_names_commit_trees_and_files(case: Case) -> None:
    finding = SourceGate().check(case)
    evidence = finding.evidence
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert evidence["commit"] == case.image.repository.commit
    assert len({evidence["tree"], evidence["base_with_tests_tree"], evidence["golden_with_tests_tree"]}) == 3
    assert set(case.task.required_files) <= set(evidence["golden_patch"]["files"])


def test_a_required_file_that_the_solution_does_not_change_is_named(case: Case) -> None:
    task = evolve(case.task, required_files=(*case.task.required_files, "elsewhere/a.py", "nowhere.py"))
    finding = SourceGate().check(evolve(case, task=task))
    assert finding.verdict == "fail"
    assert finding.reasons == (
        "required file elsewhere/a.py is not changed by the golden patch",
        "required file nowhere.py is not changed by the golden patch",
    )
    assert "required_files" in finding.remedy
