from __future__ import annotations

from typing import Any

import pytest

from nanobench.project.files import Project


def test_a_well_formed_task_is_told_with_its_digests(nanobench: Any, repository: Project, demo: str) -> None:
    done = nanobench("task", "check", demo, "--project", repository.root, "--json")
    assert done.code == 0
    said = done.document
    assert said["problems"] == []
    assert said["spec_sha256"] == repository.task(demo).sha256
    assert len(said["source"]) == 2
    text = nanobench("task", "check", demo, "--project", repository.root)
    assert text.out.startswith(
        f"{demo}: well-formed\n  contamination  pass\n      ! not asked: the date of a release"
    )
    assert text.out.endswith(f"\n  → nanobench lock {demo}\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("complexity_tier = 1", "complexity_tier = 9", "curation.complexity_tier"),
        ("schema = 1", "schema = true", "schema"),
        ("size = 29365", 'size = "29365"', "source.base.size"),
        ('required_files = ["', 'required_files = ["../', "required_files"),
        ("[curation]", "[curation]\nsurprise = 1", "curation.surprise: unknown key"),
        ("unidiff@1.0.1", "other@1.0.1", "source.solution.purl"),
    ],
)
def test_what_is_wrong_is_exit_1_and_named_by_its_key(
    nanobench: Any, copied: Project, demo: str, old: str, new: str, expected: str
) -> None:
    path = copied.root / f"tasks/{demo}/task.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    done = nanobench("task", "check", demo, "--project", copied.root, "--json")
    assert done.code == 1
    error = done.document["error"]
    assert expected in "\n".join((error["where"], error["message"], *error["details"]))


def test_a_statement_that_cannot_be_a_prompt_is_refused(nanobench: Any, copied: Project, demo: str) -> None:
    path = copied.root / f"tasks/{demo}/statement.md"
    for data, code in ((b"", "NB_STATEMENT"), (b"\xff", "NB_STATEMENT"), (b"x" * 200_000, "NB_PROMPT_SIZE")):
        path.write_bytes(data)
        done = nanobench("task", "check", demo, "--project", copied.root, "--json")
        assert (done.code, done.document["error"]["code"]) == (1, code)


def test_no_such_task_is_wrong_usage_and_the_known_ones_are_named(nanobench: Any, copied: Project, demo: str) -> None:
    done = nanobench("task", "check", "nothing", "--project", copied.root, "--json")
    assert (done.code, done.document["error"]["hint"]) == (2, f"known tasks: {demo}")
