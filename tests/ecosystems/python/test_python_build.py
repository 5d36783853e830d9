"""A real source archive without a wheel (docopt), built in the sandbox; and small ones that do not build."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from nanobench.ecosystems.py_sealed import wheels_of
from nanobench.ecosystems.python import Workshop, build_wheels, install
from nanobench.errors import Refused
from nanobench.model.fields import Digest
from nanobench.model.lock import Built, Package
from nanobench.store.store import Store

pytestmark = pytest.mark.network
Shops = Callable[..., Workshop]
MISSING = Digest("sha256:" + "0" * 64)


@pytest.fixture(scope="module")
def built(packages: tuple[Package, ...], new_shop: Shops) -> tuple[Built, ...]:
    return build_wheels(packages, shop=new_shop())


def test_a_source_archive_becomes_a_wheel_in_the_store(
    built: tuple[Built, ...], packages: tuple[Package, ...], kept_store: Store
) -> None:
    (docopt,) = built
    assert (docopt.purl, docopt.file) == ("pkg:pypi/docopt@0.6.2", "docopt-0.6.2-py2.py3-none-any.whl")
    assert docopt.sdist in {p.digest for p in packages}
    assert kept_store.has(docopt.wheel)


def test_what_is_locked_and_in_the_store_is_not_built_again(
    built: tuple[Built, ...], packages: tuple[Package, ...], new_shop: Shops
) -> None:
    shop = new_shop()
    assert build_wheels(packages, shop=shop, locked=built) == built
    assert not list(shop.scratch.iterdir())


def test_built_again_it_is_the_same_wheel_and_any_other_is_refused(
    built: tuple[Built, ...], packages: tuple[Package, ...], new_shop: Shops
) -> None:
    (again,) = built
    with pytest.raises(Refused, match=f"built {again.file} {again.wheel}; locked") as error:
        build_wheels(packages, shop=new_shop(), locked=[evolve(built[0], wheel=MISSING)])
    assert (error.value.code, error.value.where) == ("NB_SDIST_DIFFERS", "pkg:pypi/docopt@0.6.2")


def test_the_built_wheel_is_installed(
    built: tuple[Built, ...], packages: tuple[Package, ...], new_shop: Shops
) -> None:
    entries = install(packages, shop=new_shop(), built=built)
    assert any(e.path.endswith("/site-packages/docopt.py") for e in entries)


def test_a_source_archive_that_was_not_built_is_not_installed(packages: tuple[Package, ...]) -> None:
    with pytest.raises(Refused) as error:
        wheels_of(packages, "python")
    assert error.value.code == "NB_SDIST_UNBUILT"


@pytest.fixture
def build_of(
    packages: tuple[Package, ...], new_shop: Shops, kept_store: Store, sdist: Callable[..., bytes]
) -> Callable[[str], Built]:
    """Build a package whose ``setup.py`` is the given text."""

    def build(setup: str) -> Built:
        data = sdist("thing", "1.0", {"setup.py": setup.encode(), "thing.c": b"int x;"})
        thing = Package(
            purl="pkg:pypi/thing@1.0",
            role="python",
            path="thing/thing-1.0.tar.gz",
            digest=kept_store.put(data),
            size=len(data),
        )
        tools = tuple(p for p in packages if p.role != "python")
        (built,) = build_wheels((*tools, thing), shop=new_shop())
        return built

    return build


def test_a_build_that_fails_is_refused_with_its_last_lines(build_of: Callable[[str], Built]) -> None:
    with pytest.raises(Refused) as error:
        build_of("raise SystemExit('no header here')")
    assert (error.value.code, error.value.where) == ("NB_SDIST_BUILD", "pkg:pypi/thing@1.0")
    assert any("no header here" in line for line in error.value.details)
    assert "build-essential" in error.value.hint


def test_a_build_without_the_compiler_it_needs_is_refused(build_of: Callable[[str], Built]) -> None:
    extension = "ext_modules=[Extension('thing', ['thing.c'])]"
    with pytest.raises(Refused) as error:
        build_of(f"from setuptools import *; setup(name='thing', version='1.0', {extension})")
    assert error.value.code == "NB_SDIST_BUILD"
    assert any("gcc" in line or "cc" in line for line in error.value.details)


def test_a_wheel_of_another_name_is_refused(build_of: Callable[[str], Built]) -> None:
    with pytest.raises(Refused, match="other-1") as error:
        build_of("from setuptools import *; setup(name='other', version='1.0', py_modules=[])")
    assert error.value.code == "NB_SDIST_BUILD"


def test_a_build_sees_neither_network_nor_clock_of_ours(
    build_of: Callable[[str], Built], new_shop: Shops, kept_store: Store
) -> None:
    setup = """
import os, socket
from setuptools import setup
try:
    socket.create_connection(("127.0.0.1", 80), 1)
except OSError as error:
    assert len(socket.if_nameindex()) == 1, socket.if_nameindex()
assert os.environ["SOURCE_DATE_EPOCH"] == "1764460800", os.environ["SOURCE_DATE_EPOCH"]
assert os.getcwd() == "/nanobench/source", os.getcwd()
setup(name="thing", version="1.0", py_modules=[])
"""
    assert build_of(setup).file == "thing-1.0-py3-none-any.whl"
