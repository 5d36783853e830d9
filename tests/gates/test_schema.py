from __future__ import annotations

from attrs import evolve

from nanobench.gates.interface import Case
from nanobench.gates.schema import SchemaGate, schema_problems


def test_the_demo_tasks_documents_satisfy_the_published_schemas(case: Case) -> None:
    finding = SchemaGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert set(finding.evidence["documents"]) == {"task", "environment"}


def test_every_departure_is_named_with_its_kind_and_path(case: Case) -> None:
    task = {**case.documents["task"], "kind": "guess", "surprise": 1}
    environment = {**case.documents["environment"], "schema": "1"}
    finding = SchemaGate().check(evolve(case, documents={"task": task, "environment": environment}))
    assert finding.verdict == "fail"
    text = "\n".join(finding.reasons)
    for expected in ("environment: $.schema", "task: $.kind", "surprise"):
        assert expected in text
    assert "schemas/" in finding.remedy


def test_true_is_not_a_number_and_a_missing_key_is_a_problem(case: Case) -> None:
    environment = {**case.documents["environment"], "limits": {"cpus": True}}
    task = {key: value for key, value in case.documents["task"].items() if key != "source"}
    problems = schema_problems({"environment": environment, "task": task})
    assert any("$.limits.cpus" in problem for problem in problems)
    assert any("source" in problem for problem in problems)
