from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.containers import rows
from benchmarks.measure import Place
from nanobench.image.workbench import Workbench
from nanobench.project.files import Project
from nanobench.runner.stage import Stage


@pytest.fixture
def place(repository: Project, bench: Workbench, stage: Stage) -> Place:
    return Place(project=repository, bench=bench, stages={"demo": stage}, repeats=1)


def test_the_docker_engine_is_measured_beside_docker_run(
    place: Place, docker_socket: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{docker_socket}")
    found = list(rows(place))
    assert [row.yardstick for row in found] == ["docker run"] * 2
    assert all(row.value > 0 and row.against for row in found)


def test_without_a_daemon_it_is_left_out_and_named(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert list(rows(place)) == []
    assert "left out: Docker: no Docker daemon listens" in capsys.readouterr().err
