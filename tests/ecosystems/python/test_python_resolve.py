"""The real uv against an index on the loopback."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from nanobench.ecosystems.online import Online
from nanobench.ecosystems.py_resolve import resolve
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, Refused
from nanobench.model.environment import PythonRequest
from nanobench.model.lock import Package

Make = Callable[..., bytes]
UV = version("uv")


@pytest.fixture
def stocked(index: Any, wheel: Make, sdist: Make, tmp_path: Path) -> Any:
    """``app`` needs ``lib``; ``old`` has only a source archive, whose setup.py leaves a mark where it is run."""
    index.add("uv", f"uv-{UV}-py3-none-manylinux2014_x86_64.whl", wheel("uv", UV, {}))
    index.add("app", "app-1.0-py3-none-any.whl", wheel("app", "1.0", {}, requires=("lib",)))
    for number, day in (("1.0", "2026-01-01"), ("2.0", "2026-06-01"), ("3.0", "2026-06-02")):
        data = wheel("lib", number, {"lib.py": number.encode()})
        index.add("lib", f"lib-{number}-py3-none-any.whl", data, uploaded=f"{day}T12:00:00Z")
    index.add("setuptools", "setuptools-80.0-py3-none-any.whl", wheel("setuptools", "80.0", {}))
    mark = f"open({str(tmp_path / 'mark')!r}, 'w')"
    files = {
        "setup.py": mark.encode(),
        "PKG-INFO": b"Metadata-Version: 1.1\nName: old\nVersion: 1.0\n",
        "old.egg-info/requires.txt": b"lib<2\n",
    }
    index.add("old", "old-1.0.tar.gz", sdist("old", "1.0", files))
    return index


@pytest.fixture
def lock(online: Online, tmp_path: Path) -> Callable[..., tuple[Package, ...]]:
    def run(*requirements: str, build: tuple[str, ...] = (), newest: str = "2026-06-01") -> tuple[Package, ...]:
        request = PythonRequest(exclude_newer=newest, requirements=requirements, build_requirements=build)
        work = tmp_path / "work"
        work.mkdir()
        return resolve(request, online=online, work=work, python="3.11", glibc="2.36")

    return run


def shown(packages: tuple[Package, ...]) -> list[str]:
    return [f"{p.role} {p.purl} {p.path}" for p in packages]


def test_each_package_is_one_file_with_its_role(stocked: Any, wheel: Make, lock: Any) -> None:
    found = lock("app", build=("lib==1.0",))
    assert shown(found) == [
        f"installer pkg:pypi/uv@{UV} uv/uv-{UV}-py3-none-manylinux2014_x86_64.whl",
        "python pkg:pypi/app@1.0 app/app-1.0-py3-none-any.whl",
        "python pkg:pypi/lib@2.0 lib/lib-2.0-py3-none-any.whl",
        "python-build pkg:pypi/lib@1.0 lib/lib-1.0-py3-none-any.whl",
    ]
    data = wheel("lib", "2.0", {"lib.py": b"2.0"})
    assert (found[2].digest, found[2].size) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))


def test_the_day_of_the_cut_off_is_included_in_utc_whatever_the_local_time_zone(
    stocked: Any, lock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    assert "python pkg:pypi/lib@2.0 lib/lib-2.0-py3-none-any.whl" in shown(lock("lib"))


def test_no_solution_is_refused_with_the_words_of_uv(stocked: Any, lock: Any) -> None:
    with pytest.raises(Refused, match="lib==9") as error:
        lock("lib==9")
    assert (error.value.code, error.value.where) == ("NB_PYTHON_RESOLVE", "python.requirements")


def test_a_package_without_a_wheel_is_refused_and_its_code_is_not_run(
    stocked: Any, lock: Any, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="name==version") as error:
        lock("old")
    assert error.value.code == "NB_PYTHON_RESOLVE"
    assert not (tmp_path / "mark").exists()


def test_asked_for_by_its_exact_version_its_source_is_pinned_and_its_code_is_not_run(
    stocked: Any, lock: Any, tmp_path: Path
) -> None:
    assert shown(lock("old==1.0"))[1:] == [
        "python pkg:pypi/lib@1.0 lib/lib-1.0-py3-none-any.whl",
        "python pkg:pypi/old@1.0 old/old-1.0.tar.gz",
        "python-build pkg:pypi/setuptools@80.0 setuptools/setuptools-80.0-py3-none-any.whl",
    ]
    assert not (tmp_path / "mark").exists()


def test_configuration_of_uv_in_the_project_or_the_environment_changes_nothing(
    stocked: Any, lock: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "uv.toml").write_text('exclude-newer = "2026-03-01"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UV_CONSTRAINT", str(tmp_path / "nothing"))
    monkeypatch.setenv("UV_EXCLUDE_NEWER", "2026-03-01")
    assert "pkg:pypi/lib@2.0" in [p.purl for p in lock("lib")]


def test_only_the_configured_index_is_asked(stocked: Any, lock: Any, online: Online) -> None:
    lock("app")
    assert online.contacted == ("127.0.0.1",)
    assert {path.split("/")[2] for path in stocked.asked} == {"app", "lib", "uv"}


def test_an_index_that_does_not_answer_is_no_verdict(tmp_path: Path) -> None:
    env = {"NANOBENCH_PYPI_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}  # nothing listens there
    registries = Registries(env=env, home=tmp_path, etc=tmp_path, project=tmp_path)
    request = PythonRequest(exclude_newer="2026-06-01", requirements=("lib",))
    with Online(registries) as online, pytest.raises(CannotTell) as error:
        resolve(request, online=online, work=tmp_path, python="3.11", glibc="2.36")
    assert error.value.code == "NB_PYTHON_INDEX"


@pytest.mark.network
def test_real_packages_resolve_for_an_interpreter_that_is_not_ours(tmp_path: Path) -> None:
    request = PythonRequest(exclude_newer="2026-11-01", requirements=("pyyaml==6.0.3",))
    with Online() as online:
        found = resolve(request, online=online, work=tmp_path, python="3.13", glibc="2.41")
    assert [p.path.split("-")[2] for p in found if p.role == "python"] == ["cp313"]
