"""A store that is kept between sessions, so that real files are fetched once; makers of small .debs."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nanobench.model.lock import Package
from nanobench.store.store import Store

KEPT = Path(__file__).parents[2] / ".cache/test-store"
MTIME = 1_600_000_000


@pytest.fixture(scope="session")
def kept_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of real, fetched files; a fresh one for a user who may not write into the checkout."""
    KEPT.parent.mkdir(exist_ok=True) if os.access(KEPT.parents[1], os.W_OK) else None
    place = KEPT if os.access(KEPT if KEPT.exists() else KEPT.parent, os.W_OK) else tmp_path_factory.mktemp("store")
    return Store(place)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def make_tar(members: dict[str, Any]) -> bytes:
    """A tar of name → bytes (file), None (directory), ``-> x`` (symlink), ``=> x`` (hard link), or a TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, value in members.items():
            info, data = tarfile.TarInfo(name), b""
            info.mtime = MTIME
            if isinstance(value, tarfile.TarInfo):
                info = value
            elif value is None:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            elif isinstance(value, str):
                info.type = tarfile.SYMTYPE if value.startswith("->") else tarfile.LNKTYPE
                info.linkname = value[3:]
            else:
                info.size, data = len(value), value
                info.mode = 0o755 if "bin/" in name else 0o644
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def make_ar(members: dict[str, bytes]) -> bytes:
    """An ar archive as dpkg writes it."""
    out = b"!<arch>\n"
    for name, data in members.items():
        out += f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
        out += data + b"\n" * (len(data) % 2)
    return out


@pytest.fixture
def tar_of() -> Callable[[dict[str, Any]], bytes]:
    return make_tar


@pytest.fixture
def ar_of() -> Callable[[dict[str, bytes]], bytes]:
    return make_ar


@pytest.fixture
def deb_of() -> Callable[..., bytes]:
    """Make a .deb: ``deb_of("name", {"./usr/bin/x": b""}, control={"postinst": b""}, fields="Replaces: y")``."""

    def make(
        name: str,
        files: dict[str, Any],
        *,
        control: dict[str, bytes] | None = None,
        fields: str = "",
        version: str = "1",
        packed: str = "xz",
    ) -> bytes:
        text = f"Package: {name}\nVersion: {version}\nArchitecture: all\n" + (f"{fields}\n" if fields else "")
        parts = {"./": None, "./control": text.encode(), **{f"./{k}": v for k, v in (control or {}).items()}}
        pack: Callable[[bytes], bytes] = lzma.compress if packed == "xz" else gzip.compress
        return make_ar(
            {
                "debian-binary": b"2.0\n",
                f"control.tar.{packed}": pack(make_tar(parts)),
                f"data.tar.{packed}": pack(make_tar({"./": None, **files})),
            }
        )

    return make


@pytest.fixture
def locked(store: Store) -> Callable[..., Package]:
    """Put a .deb into the store and lock it."""

    def lock(name: str, deb: bytes, version: str = "1") -> Package:
        return Package(
            purl=f"pkg:deb/debian/{name}@{version}?arch=all&distro=bookworm",
            role="debian",
            path=f"pool/main/{name[0]}/{name}/{name}_{version}_all.deb",
            digest=store.put(deb),
            size=len(deb),
        )

    return lock
