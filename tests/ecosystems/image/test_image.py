"""Published images as bases: what a registry gives is pinned, and flattened without an engine."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from nanobench.archives.bounds import Bounds
from nanobench.archives.entries import Entry
from nanobench.ecosystems import image
from nanobench.errors import CannotTell, Refused
from nanobench.image.layers import Packed, pack
from nanobench.store.store import Store

GZIPPED = "application/vnd.docker.image.rootfs.diff.tar.gzip"
EPOCH = 1_700_000_000


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def flatten(layers: Any, store: Store) -> Callable[..., tuple[dict[str, Entry], Packed]]:
    """Flatten the image of these layers; its entries by path, and its one layer."""

    def make(*parts: bytes, **options: Any) -> tuple[dict[str, Entry], Packed]:
        with store.scratch("flat") as scratch:
            made = image.assemble(layers.image(store, *parts, **options), store, scratch, epoch=EPOCH)
            packed = pack(store, made.entries, epoch=EPOCH)
            return {entry.path: entry for entry in made.entries}, packed

    return make


@pytest.fixture
def flat(flatten: Any) -> Callable[..., dict[str, Entry]]:
    return lambda *layers, **options: flatten(*layers, **options)[0]


def test_layers_of_every_packing_under_every_type_are_one_root(flat: Any, layers: Any) -> None:
    upper, top = layers.tar(("etc/new", b"1")), layers.tar(("etc/.wh.new", b""), ("etc/newer", b"2"))
    entries = flat(layers.base(), gzip.compress(upper), zstandard.compress(top), media_type=GZIPPED)
    assert {"etc/newer", "usr/bin/git", "bin"} <= entries.keys()
    assert "etc/new" not in entries


def test_what_belongs_to_a_machine_is_left_out_and_what_ours_have_is_added(flat: Any, layers: Any) -> None:
    devices = [("dev/null", {"type": tarfile.CHRTYPE}), ("run/pipe", {"type": tarfile.FIFOTYPE})]
    places = [("proc/x", b""), ("sys/y", b""), ("etc/hostname", b"h"), ("etc/resolv.conf", b"r"), (".dockerenv", b"")]
    entries = flat(layers.base(*devices, *places))
    assert not {"dev/null", "run/pipe", "proc/x", "sys/y", "etc/hostname", "etc/resolv.conf", ".dockerenv"} & set(
        entries
    )
    owners = {path: entries[path].uid for path in ("workspace", "home/agent", "opt/venv", "nanobench")}
    assert owners == {"workspace": 1000, "home/agent": 1000, "opt/venv": 0, "nanobench": 0}
    assert entries["tmp"].mode == 0o1777
    passwd = entries["etc/passwd"].content
    assert passwd is not None
    assert passwd().read() == b"root:x:0:0:root:/root:/bin/bash\nagent:*:1000:1000::/home/agent:/bin/sh\n"


@pytest.mark.parametrize(
    ("kind", "path"),
    [(tarfile.CHRTYPE, "etc/null"), (tarfile.BLKTYPE, "disk"), (tarfile.FIFOTYPE, "x/dev/pipe")],
)
def test_a_device_elsewhere_is_refused_by_name(flat: Any, layers: Any, kind: bytes, path: str) -> None:
    with pytest.raises(Refused, match=f"NB_ARCHIVE_KIND: .*{path}"):
        flat(layers.base((path, {"type": kind})))


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", "a/../../b"])
def test_a_path_out_of_the_image_is_refused_by_name(flat: Any, layers: Any, path: str) -> None:
    with pytest.raises(Refused, match="NB_ARCHIVE_PATH"):
        flat(layers.base(), layers.tar((path, b"")))


def test_a_bomb_is_refused_before_it_goes_off(flat: Any, layers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "BOUNDS", Bounds(members=50, total=1 << 20, member=1 << 19))
    with pytest.raises(Refused, match=r"NB_ARCHIVE_BOMB: .*more than 1048576 bytes"):
        flat(gzip.compress(layers.base(("zeros", bytes(2 << 20)))))
    with pytest.raises(Refused, match=r"NB_ARCHIVE_BOMB: .*more than 50 members"):
        flat(layers.base(*((f"f{n}", b"") for n in range(60))))
    with pytest.raises(Refused, match=r"NB_ARCHIVE_BOMB: .*too many paths"):
        flat(layers.base(("/".join("abcdefghij" * 5), b"")))


def test_a_layer_that_unpacks_to_other_bytes_is_refused(flat: Any, layers: Any) -> None:
    with pytest.raises(Refused, match=r"NB_DIGEST: .*unpacks to sha256:"):
        flat(gzip.compress(layers.base()), rootfs={"diff_ids": ["sha256:" + "0" * 64]})


@pytest.mark.parametrize("damage", [lambda d: d[:-9], lambda d: d + b"\0trailing", lambda d: d[:40]])
@pytest.mark.parametrize("squeeze", [gzip.compress, zstandard.compress])
def test_a_layer_that_is_not_whole_is_refused(flat: Any, layers: Any, squeeze: Any, damage: Any) -> None:
    broken = damage(squeeze(layers.base()))
    with pytest.raises(Refused, match=r"NB_ARCHIVE_BROKEN|NB_DIGEST"):
        flat(broken, rootfs={"diff_ids": ["sha256:" + "1" * 64]})


@pytest.mark.parametrize(
    ("missing", "words"),
    [("git", "lacks git"), ("sh", "lacks /bin/sh"), ("ld-linux-x86-64.so.2", "needs glibc")],
)
def test_an_image_without_what_our_steps_need_is_refused(flat: Any, layers: Any, missing: str, words: str) -> None:
    with pytest.raises(Refused, match=f"NB_BASE: .*{words}"):
        flat(layers.base(without=(missing,)))


@pytest.mark.parametrize("path", ["workspace/x", "opt/venv/bin/python", "home/agent/.bashrc", "nanobench/x"])
def test_an_image_that_uses_a_place_of_ours_is_refused(flat: Any, layers: Any, path: str) -> None:
    with pytest.raises(Refused, match=f"NB_BASE: .*/{path.partition('/')[0]}"):
        flat(layers.base((path, b"")))


def test_variables_of_an_image_are_named_since_they_are_not_taken_over(layers: Any, store: Store) -> None:
    packages = layers.image(store, layers.base(), config={"Env": ["PATH=/x", "JAVA_HOME=/java"]})
    with store.scratch("vars") as scratch:
        made = image.assemble(packages, store, scratch, epoch=EPOCH)
    assert made.warnings == ("the image sets JAVA_HOME: not taken over, state it under [env]",)


def test_the_same_image_packed_otherwise_is_the_same_layer(flatten: Any, layers: Any) -> None:
    again = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(layers.base())) as source,
        tarfile.open(fileobj=again, mode="w", format=tarfile.GNU_FORMAT) as copy,
    ):
        for member in reversed(source.getmembers()):
            member.uname, member.gname = "somebody", "else"
            copy.addfile(member, source.extractfile(member) if member.isreg() else None)
    assert flatten(layers.base())[1] == flatten(gzip.compress(again.getvalue(), mtime=7))[1]


def test_an_image_whose_files_are_not_all_pinned_or_not_here_cannot_be_flattened(
    layers: Any, store: Store, tmp_path: Path
) -> None:
    packages = layers.image(store, layers.base())
    with store.scratch("part") as scratch:
        with pytest.raises(Refused, match="is not pinned"):
            image.assemble(packages[:2], store, scratch, epoch=EPOCH)
        with pytest.raises(Refused, match="no manifest is pinned"):
            image.assemble(packages[1:], store, scratch, epoch=EPOCH)
        with pytest.raises(CannotTell, match="NB_BLOB_MISSING"):
            image.assemble(packages, Store(tmp_path / "empty"), scratch, epoch=EPOCH)
