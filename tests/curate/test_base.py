"""Bases beyond Debian from spec to lock and back: a real registry, a real Docker, a small but working root."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from docker import APIClient

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, MachineFailure, Refused
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_lock, read_lock
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.sources import bring
from nanobench.image.task import build_task
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock
from nanobench.project.context import context_sha256
from nanobench.project.files import Spec
from nanobench.project.stale import environment_reasons
from nanobench.sandbox.docker import Docker
from nanobench.sources.workspace import Repository
from nanobench.store.store import Store

pytestmark = pytest.mark.network


@pytest.fixture
def online() -> Iterator[Online]:
    with Online() as made:
        yield made


@pytest.fixture
def spec_of(tmp_path: Path) -> Callable[..., Spec[Environment]]:
    def make(**document: Any) -> Spec[Environment]:
        whole = {"schema": 1, "name": "other", **document}
        path = tmp_path / "environments/other.toml"
        return Spec(path=path, document=whole, value=structure(whole, Environment, where="other"))

    return make


@pytest.fixture
def empty(bench: Workbench, tmp_path: Path) -> Callable[[str], Workbench]:
    return lambda name: evolve(bench, store=Store(tmp_path / name))


def test_an_image_is_locked_by_its_tag_and_built_again_from_the_lock_alone(
    image_registry: Any, root: Any, spec_of: Any, empty: Any, online: Online, locks: Locks
) -> None:
    image_registry.push("tools", root())
    spec = spec_of(base={"image": f"{image_registry.host}/tools:1"})
    here, there = empty("here"), empty("there")
    lock, _ = lock_environment(spec, None, upgrade=(), online=online, bench=here)
    assert [layer.role for layer in lock.layer] == ["image"]
    again = realise_environment(read_lock(dump_lock(lock), EnvironmentLock, where=""), online=online, bench=there)
    assert again.layers == lock.layer
    bring(locks.source, there.store, online=online, say=lambda _: None)
    task = build_task(locks.source, again, bench=there)
    assert task.repository == Repository(commit=locks.task.source.commit, tree=locks.task.source.tree)
    assert task.locked().captured is None

    image_registry.push("tools", root(), created="2025-01-01T00:00:00Z")
    kept, _ = lock_environment(spec, lock, upgrade=(), online=online, bench=here)
    assert dump_lock(kept) == dump_lock(lock)
    moved, _ = lock_environment(spec, lock, upgrade=("base",), online=online, bench=here)
    assert moved.package != lock.package
    assert moved.source_date_epoch > lock.source_date_epoch


def test_python_packages_fit_the_interpreter_of_the_image(
    image_registry: Any, root: Any, spec_of: Any, empty: Any, online: Online
) -> None:
    image_registry.push("python", root(python=True))
    request = {"exclude_newer": "2026-10-01", "requirements": ["iniconfig"]}
    spec = spec_of(base={"image": f"{image_registry.host}/python:1"}, python=request)
    said: list[str] = []
    bench = evolve(empty("here"), say=said.append)
    lock, built = lock_environment(spec, None, upgrade=(), online=online, bench=bench)
    assert [layer.role for layer in lock.layer] == ["image", "python", "bytecode"]
    assert said.count("building layer image: 3 files") == 1
    assert (built.trees[1] / "opt/venv/lib/python3.11/site-packages/iniconfig").is_dir()


DOCKERFILE = """
FROM scratch
ADD root.tar /
ARG SOURCE_DATE_EPOCH
RUN mkdir /srv && echo "$SOURCE_DATE_EPOCH $WORD" >/srv/made && cp /srv/made /srv/copied
COPY word.txt /srv/
"""


@pytest.fixture
def folder(tmp_path: Path, root: Any) -> Path:
    """A folder with a Dockerfile and what it copies."""
    place = tmp_path / "environments/box"
    place.mkdir(parents=True)
    (place / "Dockerfile").write_text(DOCKERFILE)
    (place / "root.tar").write_bytes(root())
    (place / "word.txt").write_text("word")
    return place


@pytest.fixture
def with_docker(docker_socket: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[APIClient]:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{docker_socket}")
    with contextlib.closing(APIClient(f"unix://{docker_socket}")) as api:
        yield api


def test_a_dockerfile_is_captured_and_two_builds_of_it_are_one_layer(
    folder: Path, with_docker: APIClient, docker_socket: Path, spec_of: Any, empty: Any, online: Online, locks: Locks
) -> None:
    spec = spec_of(base={"dockerfile": "box/Dockerfile", "date": "2024-02-03"})
    here, there = empty("here"), empty("there")
    before = with_docker.images(quiet=True)  # of the tests before this one
    lock, built = lock_environment(spec, None, upgrade=(), online=online, bench=here)
    assert [layer.role for layer in lock.layer] == ["captured"]
    assert (built.trees[0] / "srv/made").read_text() == f"{lock.source_date_epoch} \n"
    assert with_docker.containers(all=True) == []
    assert with_docker.images(quiet=True) == before

    (folder / "Dockerfile").touch()
    again, _ = lock_environment(spec, None, upgrade=(), online=online, bench=there)
    assert dump_lock(again) == dump_lock(lock)
    assert environment_reasons(lock, spec.document, context_sha256(spec)) == ()
    kept, _ = lock_environment(spec, lock, upgrade=(), online=None, bench=here)
    assert dump_lock(kept) == dump_lock(lock)

    (folder / "word.txt").write_text("another")
    (reason,) = environment_reasons(lock, spec.document, context_sha256(spec))
    assert reason.startswith("environments/other.toml: base: its folder: locked sha256 ")
    changed, _ = lock_environment(spec, lock, upgrade=(), online=online, bench=here)
    assert changed.layer != lock.layer

    for bench in (here, there):
        bring(locks.source, bench.store, online=online, say=lambda _: None)
    image = build_task(locks.source, built, bench=here).locked()
    assert image.captured
    in_docker = evolve(there, engine=Docker(there.store, address=str(docker_socket)))
    same = realise_environment(lock, online=None, bench=in_docker)
    assert build_task(locks.source, same, bench=in_docker).locked() == image


def test_a_captured_layer_that_is_not_here_has_to_be_passed_on(
    folder: Path, with_docker: APIClient, spec_of: Any, empty: Any, online: Online, nanobench: Any
) -> None:
    spec = spec_of(base={"dockerfile": "box/Dockerfile", "date": "2024-02-03"})
    here, there = empty("here"), empty("there")
    lock, _ = lock_environment(spec, None, upgrade=(), online=online, bench=here)
    with pytest.raises(CannotTell, match=r"NB_CAPTURED: (.*\n)*.*nanobench store add") as error:
        realise_environment(lock, online=online, bench=there)
    file = error.value.details[0].rpartition(" ")[2]
    done = nanobench("store", "add", here.store.root / file, "--store", there.store.root)
    assert (done.code, done.out.strip()) == (0, lock.layer[0].diff_id)
    assert realise_environment(lock, online=None, bench=there).layers == lock.layer


def test_a_devcontainer_builds_as_it_says(
    folder: Path, with_docker: APIClient, spec_of: Any, empty: Any, online: Online
) -> None:
    (folder / ".devcontainer").mkdir()
    (folder / "Dockerfile").write_text(DOCKERFILE.replace("scratch", "scratch AS box\nARG WORD") + "FROM scratch\n")
    asked = """{
        // one of two stages
        "build": {"dockerfile": "../Dockerfile", "context": "..", "args": {"WORD": "here"}, "target": "box"},
        "remoteUser": "dev", /* not heard */
    }"""
    (folder / ".devcontainer/devcontainer.json").write_text(asked)
    base = {"devcontainer": "box/.devcontainer/devcontainer.json"}
    bench = empty("here")
    with pytest.raises(Refused, match=r"NB_DEVCONTAINER: .*needs a date"):
        lock_environment(spec_of(base=base), None, upgrade=(), online=online, bench=bench)
    said: list[str] = []
    dated = spec_of(base={**base, "date": "2024-02-03"})
    _, built = lock_environment(dated, None, upgrade=(), online=online, bench=evolve(bench, say=said.append))
    assert (built.trees[0] / "srv/made").read_text().endswith(" here\n")
    assert "environments/box/.devcontainer/devcontainer.json: not taken over: remoteUser" in said


@pytest.mark.parametrize(
    ("line", "words"),
    [("RUN exit 3", "returned a non-zero code: 3"), ("COPY ../../x /", "x"), ("NONSENSE", "unknown instruction")],
)
def test_a_dockerfile_that_does_not_build_is_refused_with_its_last_words(
    folder: Path, with_docker: APIClient, spec_of: Any, empty: Any, online: Online, line: str, words: str
) -> None:
    (folder / "Dockerfile").write_text(f"{DOCKERFILE}\n{line}\n")
    spec = spec_of(base={"dockerfile": "box/Dockerfile", "date": "2024-02-03"})
    with pytest.raises(Refused, match=rf"NB_DOCKERFILE: (.*\n)*.*{words}"):
        lock_environment(spec, None, upgrade=(), online=online, bench=empty("here"))
    assert with_docker.containers(all=True) == []


@pytest.mark.parametrize("date", ["2999-01-01", "1970-01-01", "2024-02-30"])
def test_a_date_that_no_build_is_later_than_is_refused(
    folder: Path, spec_of: Any, empty: Any, online: Online, date: str
) -> None:
    spec = spec_of(base={"dockerfile": "box/Dockerfile", "date": date})
    with pytest.raises(Refused, match="NB_DATE"):
        lock_environment(spec, None, upgrade=(), online=online, bench=empty("here"))


@pytest.mark.parametrize("link", ["tools", "tools/part"])
def test_a_link_does_not_give_a_build_more_than_its_folder(
    link: str, spec_of: Any, empty: Any, online: Online, tmp_path: Path
) -> None:
    elsewhere, folder = tmp_path / "home", tmp_path / "environments"
    for place in (elsewhere, elsewhere / "part", folder):
        place.mkdir()
        (place / "Dockerfile").write_text("FROM scratch\nCOPY . .\n")
    (folder / link).parent.mkdir(exist_ok=True)
    (folder / link).symlink_to(elsewhere)
    spec = spec_of(base={"dockerfile": "tools/part/Dockerfile", "date": "2026-11-01"})
    with pytest.raises(Refused) as error:
        lock_environment(spec, None, upgrade=(), online=online, bench=empty("store"))
    assert (error.value.code, error.value.where) == ("NB_CONTEXT", f"environments/{link}")


def test_without_docker_a_dockerfile_cannot_be_locked(
    folder: Path, spec_of: Any, empty: Any, online: Online, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    spec = spec_of(base={"dockerfile": "box/Dockerfile", "date": "2024-02-03"})
    with pytest.raises(MachineFailure, match="NB_DOCKER"):
        lock_environment(spec, None, upgrade=(), online=online, bench=empty("here"))
