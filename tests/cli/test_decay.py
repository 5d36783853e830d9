"""What was there when a task was locked is gone: a project's page, a file of it, the right bytes. What is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from nanobench.gates.tools import TOOLS
from nanobench.image.realise import Locks, packages_of
from nanobench.image.workbench import Workbench
from nanobench.model.lock import Package
from nanobench.project.files import Project
from nanobench.store.store import Store


@pytest.fixture
def lost(locks: Locks) -> Package:
    """One of the demo task's dependencies."""
    return next(
        package for package in packages_of(locks) if package.role == "python" and package.path.endswith(".whl")
    )


@pytest.fixture
def thin(locks: Locks, lost: Package, bench: Workbench, tmp_path: Path) -> Store:
    """A store with everything of the demo task's image, but for that one."""
    store = Store(tmp_path / "thin")
    for package in {*packages_of(locks), *TOOLS} - {lost}:
        held = bench.store.blob(package.digest)
        place = store.root / held.relative_to(bench.store.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(held, place)
    return store


def gone(_: Package) -> dict[str, web.Response]:
    """A registry that knows no such project."""
    return {}


def withdrawn(lost: Package) -> dict[str, web.Response]:
    """Its page is there, the file is not on it."""
    page = web.Response(text='<a href="../../other-1.whl">other-1.whl</a>', content_type="text/html")
    return {f"simple/{_project(lost)}/": page}


def replaced(lost: Package) -> dict[str, web.Response]:
    """A file of that name and size, with other bytes."""
    name = lost.path.rpartition("/")[2]
    page = web.Response(text=f'<a href="../../{name}">{name}</a>', content_type="text/html")
    return {f"simple/{_project(lost)}/": page, name: web.Response(body=bytes(lost.size))}


def _project(package: Package) -> str:
    return package.purl.removeprefix("pkg:pypi/").partition("@")[0]


@pytest.mark.parametrize(
    ("left", "code", "error", "words"),
    [
        (gone, 3, "NB_SOURCE_GONE", "name a mirror or snapshot that still has them"),
        (withdrawn, 3, "NB_SOURCE_GONE", "or lock again"),
        (replaced, 1, "NB_DIGEST", "serves other bytes than are pinned: try another mirror"),
    ],
)
def test_a_dependency_that_is_gone_leaves_it_open_and_one_that_was_replaced_is_a_no(
    left: Callable[[Package], dict[str, web.Response]],
    code: int,
    error: str,
    words: str,
    lost: Package,
    thin: Store,
    serve: Any,
    nanobench: Callable[..., Any],
    repository: Project,
    demo: str,
) -> None:
    has = left(lost)

    async def answer(request: web.Request) -> web.StreamResponse:
        return has.get(request.path.removeprefix("/v1/"), web.Response(status=404))

    index = {"NANOBENCH_PYPI_INDEX": f"{serve(answer)}/simple"}
    done = nanobench("fetch", demo, "--store", thin.root, "--project", repository.root, "--json", env=index)
    said = done.document["error"]
    assert (done.code, said["code"]) == (code, error)
    (detail,) = said["details"]
    assert detail.startswith(f"{lost.purl}: ")
    assert words in said["hint"]
    assert not thin.has(lost.digest)
