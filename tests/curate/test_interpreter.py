"""An interpreter newer than the suite's, from a pinned archive on loopback: locked, built, run, and not to be had."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve

from nanobench.curate.environment import lock_environment
from nanobench.ecosystems import python
from nanobench.ecosystems.online import Online
from nanobench.errors import CannotTell, NanobenchError, Refused
from nanobench.formats.converter import structure
from nanobench.formats.documents import dump_lock
from nanobench.image.environment import workshop
from nanobench.image.layers import pack
from nanobench.image.realise import Locks, realise_environment
from nanobench.image.workbench import Workbench
from nanobench.model.environment import Environment
from nanobench.model.lock import EnvironmentLock
from nanobench.project.files import Spec
from nanobench.sandbox.interface import Request, SandboxLimits

BROKEN = b"no archive at all"
LIMITS = SandboxLimits(cpus=1, memory_mib=512, pids=64, disk_mib=64, seconds=60)


@pytest.fixture
def url(cpython: bytes, serve: Callable[..., str]) -> str:
    files = {"cpython.tar.gz": cpython, "broken.tar.gz": BROKEN}

    async def answer(request: web.Request) -> web.Response:
        body = files.get(request.path.rpartition("/")[2])
        return web.Response(status=404) if body is None else web.Response(body=body)

    return serve(answer)


@pytest.fixture
def asking(spec: Spec[Environment], cpython: bytes) -> Callable[..., Spec[Environment]]:
    """The demo's environment, with this interpreter."""

    def make(url: str, data: bytes = b"") -> Spec[Environment]:
        data = data or cpython
        pinned = {"version": "3.13", "url": url, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        document = {**spec.document, "python": {**spec.document["python"], "interpreter": pinned}}
        return evolve(spec, document=document, value=structure(document, Environment, where="e"))

    return make


@pytest.fixture
def lock(locks: Locks, bench: Workbench) -> Callable[..., EnvironmentLock]:
    def run(spec: Spec[Environment], *, old: EnvironmentLock | None = None, offline: bool = False) -> EnvironmentLock:
        with Online(sleep=lambda _: None) as online:
            network = None if offline else online
            return lock_environment(spec, old or locks.environment, upgrade=(), online=network, bench=bench)[0]

    return run


def said(trees: tuple[Path, ...], bench: Workbench, script: str) -> str:
    with bench.store.scratch("test") as scratch:
        out = scratch / "out"
        argv = ("python", "-c", script)
        request = Request(layers=trees, argv=argv, limits=LIMITS, stdout=out, stderr=out, cwd="/")
        bench.engine.run(request)
        return out.read_text()


@pytest.mark.network
def test_python_3_13_on_bookworm_is_pinned_and_runs_with_packages_for_it(
    asking: Any, url: str, lock: Any, locks: Locks, bench: Workbench
) -> None:
    spec = asking(f"{url}/cpython.tar.gz")
    made: EnvironmentLock = lock(spec)
    assert [layer.role for layer in made.layer] == ["debian", "interpreter", "python", "bytecode"]
    assert made.layer[0] == locks.environment.layer[0]
    (archive,) = (p for p in made.package if p.role == "interpreter")
    assert archive.purl.startswith("pkg:generic/cpython@3.13?download_url=http")
    assert (archive.path, archive.size) == ("cpython.tar.gz", spec.value.python.interpreter.size)
    assert dump_lock(lock(spec, old=made, offline=True)) == dump_lock(made)
    built = realise_environment(made, online=None, bench=bench)
    script = "import sys, yaml, pytest; print(*sys.version_info[:2], sys.base_prefix, sys.prefix, yaml.__file__)"
    place = "/opt/venv/lib/python3.13/site-packages/yaml/__init__.py"
    assert said(built.trees, bench, script) == f"3 13 /opt/python /opt/venv {place}\n"
    before = evolve(built, layers=built.layers[:1], trees=built.trees[:1])
    umask = os.umask(0o077)
    try:
        with workshop(before, bench, "again") as shop:
            again = pack(bench.store, python.unpack_interpreter(made.package, shop=shop), epoch=built.epoch)
    finally:
        os.umask(umask)
    assert again.diff_id == made.layer[1].diff_id
    assert (built.tree("bytecode") / "opt/python/lib/python3.13/__pycache__/os.cpython-313.pyc").is_file()


@pytest.mark.network
@pytest.mark.parametrize(
    ("path", "data", "kind", "code"),
    [
        ("elsewhere.tar.gz", b"never there", CannotTell, "NB_SOURCE_GONE"),
        ("cpython.tar.gz", b"other bytes", Refused, "NB_DIGEST"),
    ],
)
def test_an_archive_that_is_gone_or_another_is_named(
    asking: Any, url: str, lock: Any, path: str, data: bytes, kind: type[NanobenchError], code: str
) -> None:
    with pytest.raises(kind) as error:
        lock(asking(f"{url}/{path}", data))
    assert error.value.code == code
    assert f"{url}/{path}" in error.value.details[0]


@pytest.mark.network
def test_a_server_that_does_not_answer_is_no_verdict(asking: Any, lock: Any) -> None:
    with pytest.raises(CannotTell) as error:
        lock(asking("http://127.0.0.1:9/cpython.tar.gz", b"nowhere"))
    assert (error.value.code, error.value.exit_code) == ("NB_UNREACHABLE", 3)


@pytest.mark.network
def test_what_cannot_be_unpacked_is_refused_with_the_words_of_tar(asking: Any, url: str, lock: Any) -> None:
    with pytest.raises(Refused) as error:
        lock(asking(f"{url}/broken.tar.gz", BROKEN))
    assert error.value.code == "NB_INTERPRETER"
    assert any("not in gzip format" in line for line in error.value.details)
