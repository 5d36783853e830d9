"""A tenth of matrix.toml, for real: every axis, one repeat, four tasks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from nanobench.project.files import Project

pytestmark = [pytest.mark.network, pytest.mark.timeout(1200)]

CODE = ("fixture-navigation", "fixture-single-edit")
OTHER = ("fixture-create-file", "fixture-question")
VERSIONS = ("1.29.0", "1.30.0")


@pytest.fixture(scope="module")
def results(nanobench: Any, repository: Project, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    out = tmp_path_factory.mktemp("matrix") / "bundle"
    matrix = ("--matrix", repository.root / "matrix.toml", "--repeats", 1)
    done = nanobench("run", *CODE, *OTHER, *matrix, "--out", out, "--project", repository.root, "--json")
    assert done.code == 0, done.err
    assert "cell 48 of 48" in done.err
    found: list[Any] = done.document["results"]
    return found


def test_every_combination_is_there_once(results: list[Any]) -> None:
    axes = ("task", "harness", "model", "mode", "repeat")
    cells = Counter(tuple(result["cell"][axis] for axis in axes) for result in results)
    assert len(cells) == len(results) == 4 * 2 * 3 * 2
    assert Counter(result["nanocoder"] for result in results) == dict.fromkeys(VERSIONS, 24)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("mode", ["hinted", "navigation"])
def test_each_part_comes_to_the_same_with_every_nanocoder(version: str, mode: str, results: list[Any]) -> None:
    found = {
        (r["cell"]["task"], r["cell"]["model"]): (
            r["cause"],
            r["score"]["value"] if "score" in r else None,
            r.get("failure", {}).get("label"),
        )
        for r in results
        if (r["nanocoder"], r["cell"]["mode"]) == (version, mode)
    }
    missed = "insufficient_context_read" if mode == "navigation" else "zero_signal"
    begun = "0.1" if mode == "navigation" else "0.0"
    expected: dict[tuple[str, str], tuple[str, str | None, str | None]] = {}
    for task in (*CODE, *OTHER):
        expected[task, "oracle"] = ("finished", "1.0", None)
        expected[task, "elsewhere"] = ("finished", "0.0", missed)
        expected[task, "hallucinate"] = ("not_run", None, None)
    expected |= {(task, "hallucinate"): ("finished", begun, "hallucinated_api") for task in CODE}
    assert found == expected
