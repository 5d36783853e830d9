"""The gate on the demo task's real image, and with something planted into it."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path

import pytest
from attrs import evolve

from nanobench.archives.oci import ImageLayer
from nanobench.formats.digest import sha256
from nanobench.gates.interface import Case
from nanobench.gates.leak import LeakGate, projects_of
from nanobench.leaks.copies import Project
from nanobench.model.lock import HarnessLock


def with_layer(case: Case, layer: Path) -> Case:
    """The case whose image begins with ``layer``."""
    image = case.image.image
    extra = ImageLayer(role="image", diff_id=sha256(bytes(layer)), size=0)
    layers, trees = (extra, *image.layers), (layer, *case.image.trees)
    return evolve(case, image=evolve(case.image, image=evolve(image, layers=layers), trees=trees))


def with_closure(harness: HarnessLock, closure: Path) -> HarnessLock:
    return evolve(harness, closure=sha256(bytes(closure)))


@pytest.fixture
def layer(tmp_path: Path) -> Path:
    path = tmp_path / "layer"
    path.mkdir()
    return path


def test_the_demo_task_passes_and_its_evidence_is_the_same_again(case: Case) -> None:
    finding = LeakGate().check(case)
    assert (finding.verdict, finding.reasons) == ("pass", ())
    assert finding.evidence == LeakGate().check(case).evidence
    assert set(finding.evidence["files"]) == {"debian", "python", "bytecode", "task", "agent"}
    assert finding.evidence["wanted"]["lines"] > 100
    assert finding.warnings == ()
    assert str(case.bench.store.root) not in json.dumps(finding.evidence)


def test_every_place_is_a_reason_with_its_layer_and_has_a_remedy(case: Case, layer: Path) -> None:
    (layer / "fix.patch").write_bytes(case.change.golden)
    (layer / "unidiff-9.dist-info").mkdir()
    (layer / "unidiff-9.dist-info/METADATA").write_text("Name: unidiff\nVersion: 9\n")
    finding = LeakGate().check(with_layer(case, layer))
    assert finding.verdict == "fail"
    lines, version = finding.reasons
    assert lines.startswith("image: /fix.patch: lines: golden patch: ")
    assert version == "image: /unidiff-9.dist-info/METADATA: version: unidiff 9, newer than the base (1.0.0)"
    assert "keep that file out of the image" in finding.remedy
    assert "pin the project's published copies" in finding.remedy


def test_the_agents_own_closure_is_searched(case: Case, layer: Path) -> None:
    (layer / "test.patch").write_bytes(case.change.test)
    finding = LeakGate().check(
        evolve(case, closure=layer, harness=evolve(case.harness, closure=sha256(bytes(layer))))
    )
    assert [reason.split(":")[:2] for reason in finding.reasons] == [["agent", " /test.patch"]]
    assert "nanobench lock --nanocoder 1.30.0 --before 2026-09-14" in finding.remedy


def test_a_base_that_is_not_the_commit_fails(case: Case) -> None:
    repository = evolve(case.image.repository, tree="0" * 40)
    finding = LeakGate().check(evolve(case, image=evolve(case.image, repository=repository)))
    (reason,) = finding.reasons
    assert reason.startswith("repository: /workspace/.git/HEAD: reference: ")


def test_what_cannot_be_looked_into_is_unknown(case: Case, layer: Path) -> None:
    (layer / "onion.gz").write_bytes(functools.reduce(lambda data, _: gzip.compress(data), range(9), b"x"))
    finding = LeakGate().check(with_layer(case, layer))
    assert finding.verdict == "unknown"
    assert finding.reasons == ("image: /onion.gz: packed more than 8 times",)


def test_a_statement_that_quotes_the_solution_is_warned_of(case: Case) -> None:
    quoted = b"\n".join(line[1:] for line in case.change.golden.splitlines() if line.startswith(b"+"))
    finding = LeakGate().check(evolve(case, statement=b"Do this:\n\n" + quoted))
    assert finding.verdict == "pass"
    assert "tasks/unidiff-1.0.1/statement.md: quotes the golden patch: unidiff/patch.py:" in finding.warnings[-1]


def test_an_answer_in_the_statement_is_warned_of(case: Case, layer: Path) -> None:
    image = case.image.image
    alone = evolve(case.image, image=evolve(image, layers=image.layers[-1:]), trees=case.image.trees[-1:])
    change = evolve(case.change, golden=b"", test=b"", answer="the parser")
    question = evolve(case, change=change, image=alone, closure=layer, harness=with_closure(case.harness, layer))
    said = (b"End with a line `ANSWER: MODULE`.\n", b"ANSWER: the parser\n")
    assert [LeakGate().check(evolve(question, statement=text)).warnings for text in said] == [
        (),
        ("tasks/unidiff-1.0.1/statement.md: gives the answer",),
    ]


def test_the_project_is_known_by_what_registries_call_it(case: Case) -> None:
    assert projects_of(case.task, case.image, case.change) == (
        Project(ecosystem="pypi", name="unidiff", version="1.0.0"),
    )
