"""The two demo projects, installed editable into the real image; and projects that misbehave."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.archives.reader import extract
from nanobench.ecosystems.fetch import fetch
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.python import Editable, Workshop, editable
from nanobench.errors import Refused
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.sandbox.interface import Mount
from nanobench.store.store import Store

pytestmark = pytest.mark.network
Install = Callable[..., Editable]
SITE = "opt/venv/lib/python3.11/site-packages"

DEMOS = {
    "unidiff": ("1.0.0", "5e5d5cfab2dc98be819b74747ab7d9f5af8695369ec8710b93f9ab0f0ae6a449", 29365),
    "tomlkit": ("0.15.1", "e25bbf38843005246210a12982776f27f99cb9be67160e14434d0c0d21ee1e97", 180129),
}


@pytest.fixture(scope="module")
def install_editable(packages: tuple[Package, ...], new_shop: Callable[..., Workshop], python_layer: Path) -> Install:
    def run(workspace: Path, **env: str) -> Editable:
        venv = python_layer / "opt/venv"
        return editable(workspace, packages, venv=venv, shop=new_shop(python_layer), env=env)

    return run


@pytest.fixture(scope="module")
def demo(kept_store: Store, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The unpacked source archive of a demo project."""

    @cache
    def unpack(name: str) -> Path:
        version, digest, size = DEMOS[name]
        pinned = Package(
            purl=f"pkg:pypi/{name}@{version}",
            role="python",
            path=f"{name}/{name}-{version}.tar.gz",
            digest=Digest(f"sha256:{digest}"),
            size=size,
        )
        with Online() as online:
            fetch([pinned], kept_store, online=online, say=lambda _: None)
        workspace = tmp_path_factory.mktemp(name) / "base"
        workspace.mkdir()
        extract(kept_store.blob(pinned.digest), workspace, where=name, strip=1)
        return workspace

    return unpack


@pytest.fixture(scope="module")
def installed_demo(demo: Callable[[str], Path], install_editable: Install) -> Callable[[str], Editable]:
    return cache(lambda name: install_editable(demo(name)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A setuptools project whose version comes from a variable, with a history."""
    workspace = tmp_path / "project"
    (workspace / ".git").mkdir(parents=True)
    (workspace / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (workspace / "mod.py").write_text("x = 1\n")
    (workspace / "setup.py").write_text(
        "import os\nfrom setuptools import setup\n"
        "assert not os.path.exists('.git')\n"
        "setup(name='proj', version=os.environ['PRETENDED'], py_modules=['mod'])\n"
    )
    return workspace


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_project_is_installed_from_the_workspace_with_its_version(
    name: str,
    demo: Callable[[str], Path],
    installed_demo: Callable[[str], Editable],
    python_layer: Path,
    unpacked: Callable[[tuple[Entry, ...]], Path],
    inside: Callable[..., str],
) -> None:
    workspace, found = demo(name), installed_demo(name)
    assert (found.name, found.version, found.kept) == (name, DEMOS[name][0], ())
    code = f"import {name}, importlib.metadata as m; print({name}.__file__, m.version('{name}'))"
    trees = (python_layer, unpacked(found.venv))
    said = inside("python", "-c", code, trees=trees, mounts=(Mount(source=workspace, target="/workspace"),))
    assert said == f"/workspace/{name}/__init__.py {DEMOS[name][0]}\n"


@pytest.mark.parametrize("name", DEMOS)
def test_again_from_another_directory_the_bytes_are_the_same(
    name: str,
    demo: Callable[[str], Path],
    installed_demo: Callable[[str], Editable],
    install_editable: Install,
    digest_of: Callable[[tuple[Entry, ...]], Digest],
    tmp_path: Path,
) -> None:
    first = installed_demo(name)
    second = install_editable(shutil.copytree(demo(name), tmp_path / "elsewhere"))
    assert digest_of(first.venv + first.workspace) == digest_of(second.venv + second.workspace)


@pytest.mark.parametrize("name", DEMOS)
def test_there_is_no_trace_of_the_host_nor_of_the_moment(
    name: str, installed_demo: Callable[[str], Editable], kept_store: Store
) -> None:
    for entry in installed_demo(name).venv:
        assert not entry.path.endswith(("uv_cache.json", ".lock", ".pyc"))
        if entry.content is not None:
            with entry.content() as file:
                data = file.read()
            assert b"uv_cache" not in data and str(kept_store.root).encode() not in data


def test_the_build_packages_stay_out_of_the_image(installed_demo: Callable[[str], Editable]) -> None:
    found = installed_demo("tomlkit")
    assert {e.path.removeprefix(f"{SITE}/").split("/")[0] for e in found.venv} == {
        "tomlkit.pth",
        "tomlkit-0.15.1.dist-info",
    }


def test_a_pretended_version_is_used_and_the_workspace_stays_as_it_was(
    project: Path, install_editable: Install
) -> None:
    """What the build lays into the workspace is returned apart; files of the project it changes are only named."""
    with (project / "setup.py").open("a") as file:
        file.write("open('_version.py', 'w').write('1')\nopen('mod.py', 'w').write('x = 2')\n")
    found = install_editable(project, PRETENDED="3.2.1")
    assert (found.name, found.version) == ("proj", "3.2.1")
    assert {e.path for e in found.workspace} == {"workspace/_version.py"}
    assert not [e.path for e in found.venv if not e.path.startswith("opt/venv/")]
    assert found.kept == ("mod.py",)
    assert (project / "mod.py").read_text() == "x = 1\n"
    assert not (project / "_version.py").exists()


def test_a_project_that_does_not_build_is_refused_with_its_last_lines(
    project: Path, install_editable: Install
) -> None:
    with pytest.raises(Refused) as error:
        install_editable(project)
    assert (error.value.code, error.value.where) == ("NB_EDITABLE", "/workspace")
    assert any("PRETENDED" in line for line in error.value.details)


def test_a_backend_that_is_not_pinned_is_refused(project: Path, install_editable: Install) -> None:
    backend = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    (project / "pyproject.toml").write_text(backend)
    with pytest.raises(Refused, match="hatchling") as error:
        install_editable(project, PRETENDED="1")
    assert "build_requirements" in error.value.hint


def test_a_project_that_is_installed_already_is_refused(
    project: Path, install_editable: Install, python_layer: Path
) -> None:
    setup = project / "setup.py"
    setup.write_text(setup.read_text().replace("'proj'", "'iniconfig'"))
    with pytest.raises(Refused) as error:
        install_editable(project, PRETENDED="1")
    assert error.value.code == "NB_EDITABLE_CONFLICT"
    assert any("iniconfig" in line for line in error.value.details)
