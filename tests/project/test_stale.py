from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.model.environment import DebianBase, Environment, Limits
from nanobench.model.fields import Digest
from nanobench.model.fixture import LockedFiles, VendoredFile
from nanobench.model.lock import LOCK_REVISION, RECIPE, Reference, TaskLock
from nanobench.project.stale import (
    REVISION_GATES,
    changes,
    files_reasons,
    gate_reasons,
    reference_reason,
    task_reasons,
)

PLAIN = st.dictionaries(
    st.sampled_from("abc"),
    st.one_of(st.integers(0, 3), st.booleans(), st.text("xy", max_size=2), st.lists(st.integers(0, 2), max_size=2)),
    max_size=3,
)


@given(PLAIN, PLAIN)
def test_there_are_changes_exactly_when_the_documents_differ(old: dict[str, Any], new: dict[str, Any]) -> None:
    same = repr(sorted(old.items())) == repr(sorted(new.items()))  # repr tells true from 1
    assert (not list(changes(old, new))) == same


def test_every_change_is_named_with_its_path_and_both_values() -> None:
    old = {"a": {"b": 1, "c": 2}, "gone": "x"}
    new = {"a": {"b": 3, "c": 2}, "fresh": True}
    assert list(changes(old, new)) == [
        "a.b: locked 1, now 3",
        "fresh: absent in the lock, now True",
        "gone: locked 'x', now absent",
    ]


def test_a_change_inside_an_array_is_named_at_its_place() -> None:
    old = {"suite": [{"name": "py", "seconds": 120}, "gone"], "paths": ["a"]}
    new = {"suite": [{"name": "py", "seconds": 100}], "paths": ["a", "b"]}
    assert list(changes(old, new)) == [
        "paths[1]: absent in the lock, now 'b'",
        "suite[0].seconds: locked 120, now 100",
        "suite[1]: locked 'gone', now absent",
    ]


def test_long_values_are_shown_where_they_differ() -> None:
    (reason,) = changes({"command": "x" * 500 + "old" + "y" * 500}, {"command": "x" * 500 + "new" + "y" * 500})
    assert reason.startswith("command: locked …xxx") and reason.endswith("yyy…")
    assert "xold" in reason and "xnew" in reason
    assert len(reason) < 250


def test_true_is_not_one() -> None:
    assert list(changes({"a": 1}, {"a": True})) == ["a: locked 1, now True"]


@pytest.fixture
def environment() -> Environment:
    return Environment(schema=1, name="env", base=DebianBase(debian="bookworm"))


def test_a_current_lock_has_no_reasons(task_lock: TaskLock, environment: Environment) -> None:
    assert (
        task_reasons(
            task_lock,
            document=task_lock.original,
            statement_sha256=task_lock.source.statement_sha256,
            environment=environment,
            cutoff="2026-01-01",
        )
        == ()
    )


def test_all_reasons_are_listed_at_once(task_lock: TaskLock, environment: Environment) -> None:
    gates = tuple(g for g in task_lock.gate if g.name != "image")
    lock = attrs.evolve(task_lock, revision=LOCK_REVISION, recipe=RECIPE + 1, gate=gates, cutoff="2026-01-01")
    changed = attrs.evolve(environment, limits=Limits(cpus=7), env={"A": "1"})
    reasons = task_reasons(
        lock,
        document={**lock.original, "id": "y"},
        statement_sha256="f" * 64,
        environment=changed,
        cutoff="2026-06-01",
    )
    text = "\n".join(reasons)
    for expected in (
        "task.toml: id",
        "statement.md",
        "cutoff: locked 2026-01-01, now 2026-06-01",
        "limits differ",
        "env differs",
        "recipe",
        "gate image: missing",
    ):
        assert expected in text


@pytest.mark.parametrize("name", REVISION_GATES[LOCK_REVISION])
@pytest.mark.parametrize("verdict", ["fail", "unknown"])
def test_a_gate_that_did_not_pass_makes_the_lock_unusable(
    task_lock: TaskLock, environment: Environment, name: str, verdict: Any
) -> None:
    gates = tuple(attrs.evolve(g, verdict=verdict) if g.name == name else g for g in task_lock.gate)
    reasons = task_reasons(
        attrs.evolve(task_lock, gate=gates),
        document=task_lock.original,
        statement_sha256=task_lock.source.statement_sha256,
        environment=environment,
        cutoff="2026-01-01",
    )
    assert reasons == (f"locks/x.lock.toml: gate {name}: {verdict}, must be pass",)


@pytest.mark.parametrize("name", REVISION_GATES[LOCK_REVISION])
@pytest.mark.parametrize("verdict", ["fail", "unknown"])
def test_of_a_captured_image_only_the_image_gate_may_be_unknown(task_lock: TaskLock, name: str, verdict: Any) -> None:
    gates = tuple(attrs.evolve(g, verdict=verdict) if g.name == name else g for g in task_lock.gate)
    captured = attrs.evolve(task_lock, gate=gates, image=attrs.evolve(task_lock.image, captured=True))
    assert (gate_reasons(captured) == ()) == ((name, verdict) == ("image", "unknown"))


def test_a_missing_or_changed_referenced_lock_is_a_reason() -> None:
    reference = Reference(name="env", sha256="0" * 64)
    assert "missing" in reference_reason(reference, "environments", None)[0]
    assert "now " + "1" * 64 in reference_reason(reference, "environments", "1" * 64)[0]
    assert reference_reason(reference, "environments", "0" * 64) == ()


def test_every_file_of_a_fixture_that_came_went_or_changed_is_named(task_lock: TaskLock) -> None:
    def file(path: str, content: str = "a", mode: Any = "0644") -> VendoredFile:
        return VendoredFile(path=path, mode=mode, digest=Digest("sha256:" + content * 64), size=1)

    same, gone, turned, runs = file("base/same"), file("base/gone"), file("base/turned"), file("tests/runs")
    pinned = LockedFiles(file=(gone, same, turned, runs))
    lock = attrs.evolve(task_lock, source=attrs.evolve(task_lock.source, vendored=pinned))
    assert files_reasons(lock, pinned.file) == ()
    now = (same, file("base/turned", "b"), file("solution/new"), file("tests/runs", mode="0755"))
    a, b = "sha256:" + "a" * 64, "sha256:" + "b" * 64
    assert files_reasons(lock, now) == (
        f"tasks/x/base/gone: locked {a} mode 0644, now absent",
        f"tasks/x/base/turned: locked {a} mode 0644, now {b} mode 0644",
        f"tasks/x/solution/new: locked absent, now {a} mode 0644",
        f"tasks/x/tests/runs: locked {a} mode 0644, now {a} mode 0755",
    )
