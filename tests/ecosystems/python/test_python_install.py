"""Real packages, the real uv, a real sandbox."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.archives.entries import Entry
from nanobench.ecosystems.py_sealed import wheels_of
from nanobench.ecosystems.python import Workshop, bytecode, install
from nanobench.errors import Refused
from nanobench.model.fields import Digest
from nanobench.model.lock import Package
from nanobench.store.store import Store

pytestmark = pytest.mark.network
Shops = Callable[..., Workshop]
DigestOf = Callable[[tuple[Entry, ...]], Digest]


@pytest.fixture
def other_circumstances(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Another umask, time zone, locale, directory and hash seed of the process that installs."""
    for name, value in (("TZ", "Asia/Tokyo"), ("LANG", "tr_TR.UTF-8"), ("PYTHONHASHSEED", "7"), ("UV_NO_INDEX", "0")):
        monkeypatch.setenv(name, value)
    monkeypatch.chdir("/")
    time.tzset()
    before = os.umask(0o077)
    yield
    os.umask(before)
    monkeypatch.undo()
    time.tzset()


def bytes_of(entries: tuple[Entry, ...]) -> dict[str, bytes]:
    found = {}
    for entry in entries:
        if entry.content is not None:
            with entry.content() as file:
                found[entry.path] = file.read()
    return found


def test_installing_again_in_other_circumstances_gives_the_same_layer(
    installed: tuple[Entry, ...],
    wheels: tuple[Package, ...],
    new_shop: Shops,
    digest_of: DigestOf,
    other_circumstances: None,
) -> None:
    shuffled = tuple(reversed(wheels))
    assert digest_of(install(shuffled, shop=new_shop())) == digest_of(installed)


def test_nothing_of_the_host_is_in_the_layer(installed: tuple[Entry, ...], kept_store: Store) -> None:
    found = bytes_of(installed)
    assert not [path for path, data in found.items() if os.fsencode(kept_store.root) in data or b"uv_cache" in data]
    assert not [path for path in found if path.endswith((".pyc", ".lock", "uv_cache.json"))]
    assert {(e.uid, e.gid) for e in installed} == {(0, 0)}
    assert len({e.mtime for e in installed}) == 1
    assert {e.mode for e in installed if e.kind == "file"} == {0o644, 0o755}
    assert found["opt/venv/bin/pytest"].startswith(b"#!/opt/venv/bin/python\n")


def test_the_installed_packages_work(python_layer: Path, inside: Callable[..., str]) -> None:
    assert inside("pytest", "--version", trees=(python_layer,)).startswith("pytest ")
    said = inside("python", "-c", "import yaml; print(yaml.__with_libyaml__)", trees=(python_layer,))
    assert said == "True\n"


def test_a_wheel_that_is_not_the_pinned_one_is_not_installed(
    wheels: tuple[Package, ...], new_shop: Shops, kept_store: Store, wheel: Callable[..., bytes]
) -> None:
    other = kept_store.put(wheel("iniconfig", "9.9", {}))
    swapped = tuple(evolve(p, digest=other) if "iniconfig" in p.purl else p for p in wheels)
    with pytest.raises(Refused) as error:
        install(swapped, shop=new_shop())
    assert error.value.code == "NB_PYTHON_INSTALL"
    assert any("iniconfig" in line for line in error.value.details)


def test_packages_that_do_not_fit_together_are_refused(wheels: tuple[Package, ...], new_shop: Shops) -> None:
    with pytest.raises(Refused) as error:
        install(tuple(p for p in wheels if "pluggy" not in p.purl), shop=new_shop())
    assert error.value.code == "NB_PYTHON_CONFLICT"
    assert any("pluggy" in line for line in error.value.details)


def test_an_image_without_python_is_refused(wheels: tuple[Package, ...], new_shop: Shops, tmp_path: Path) -> None:
    with pytest.raises(Refused) as error:
        install(wheels, shop=evolve(new_shop(), layers=(tmp_path,)))
    assert error.value.code == "NB_PYTHON_ABSENT"


def test_a_lock_without_the_installer_is_refused(wheels: tuple[Package, ...], new_shop: Shops) -> None:
    with pytest.raises(Refused) as error:
        install(tuple(p for p in wheels if p.role != "installer"), shop=new_shop())
    assert error.value.code == "NB_INSTALLER"


@pytest.mark.parametrize("purl", ["pkg:pypi/a%0A--index-url@1", "pkg:pypi/a@1%0Ab==2", "pkg:pypi/a@x"])
def test_a_name_or_version_that_would_be_more_than_that_is_refused(purl: str) -> None:
    package = Package(
        purl=purl, role="python", path="a/a-1-py3-none-any.whl", digest=Digest("sha256:" + "0" * 64), size=1
    )
    with pytest.raises(Refused) as error:
        wheels_of([package], "python")
    assert error.value.code == "NB_PURL"


def test_bytecode_again_in_other_circumstances_is_the_same(
    compiled: tuple[Entry, ...], python_layer: Path, new_shop: Shops, digest_of: DigestOf, other_circumstances: None
) -> None:
    assert digest_of(bytecode(shop=new_shop(python_layer))) == digest_of(compiled)


def test_the_bytecode_layer_has_nothing_but_caches(compiled: tuple[Entry, ...]) -> None:
    assert all(e.kind == "dir" or "/__pycache__/" in e.path for e in compiled)


def test_the_interpreter_uses_the_bytecode_and_keeps_it(
    compiled: tuple[Entry, ...],
    python_layer: Path,
    unpacked: Callable[[tuple[Entry, ...]], Path],
    inside: Callable[..., str],
) -> None:
    layer = unpacked(compiled)
    code = "import argparse, _pytest.main as m; print([m.wrap_session.__code__.co_filename, argparse.__cached__])"
    said = inside("python", "-v", "-c", code, trees=(python_layer, layer)).splitlines()
    (line,) = (line for line in said if line.startswith("["))
    site, library = "/opt/venv/lib/python3.11/site-packages", "/usr/lib/python3.11"
    cached = f"{library}/__pycache__/argparse.cpython-311.pyc"
    assert line == str([f"{site}/_pytest/main.py", cached])
    assert f"# code object from '{cached}'" in said
    assert any(text.startswith(f"# code object from '{site}/_pytest/__pycache__/main.") for text in said)
    assert not [text for text in said if text.startswith("# wrote")]


def test_a_python_other_than_the_target_is_refused(wheels: tuple[Package, ...], new_shop: Shops) -> None:
    shop = new_shop()
    other = evolve(shop.target, python="3.12")
    with pytest.raises(Refused) as error:
        install(wheels, shop=evolve(shop, target=other))
    assert error.value.code == "NB_PYTHON_VERSION"
