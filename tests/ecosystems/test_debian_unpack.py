from __future__ import annotations

import hashlib
import io
import os
import random
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nanobench.archives.entries import Entry
from nanobench.archives.layer import LayerFacts, write_layer
from nanobench.ecosystems.base import Assembled
from nanobench.ecosystems.debian import assemble
from nanobench.errors import Refused
from nanobench.model.lock import Package
from nanobench.store.store import Store

EPOCH = 1_700_000_000
MTIME = 1_600_000_000

Deb = Callable[..., bytes]
Locked = Callable[..., Package]
Base = tuple[Package, ...]


@pytest.fixture
def base(deb_of: Deb, locked: Locked) -> Base:
    """The two packages without which there is no base."""
    files = {
        "./tmp": None,
        "./bin/base": b"",
        "./var/run/x.pid": b"",
        "./usr/share/base-files/nsswitch.conf": b"hosts: files\n",
        "./etc/passwd.conf": b"conf\n",
    }
    masters = {
        "./usr/share/base-passwd/passwd.master": b"root:*:0:0:root:/root:/bin/bash\n",
        "./usr/share/base-passwd/group.master": b"root:*:0:\n",
    }
    return (
        locked("base-files", deb_of("base-files", files, control={"conffiles": b"/etc/passwd.conf\n/etc/not\n"})),
        locked("base-passwd", deb_of("base-passwd", masters)),
    )


@pytest.fixture
def put(base: Base, store: Store, tmp_path: Path) -> Callable[..., Assembled]:
    def assembled(*packages: Package) -> Assembled:
        scratch = tmp_path / f"scratch{len(list(tmp_path.iterdir()))}"
        scratch.mkdir()
        return assemble((*base, *packages), store, scratch, epoch=EPOCH)

    return assembled


Put = Callable[..., Assembled]


def at(assembled: Assembled, path: str) -> Entry:
    (found,) = (entry for entry in assembled.entries if entry.path == path)
    return found


def read(assembled: Assembled, path: str) -> bytes:
    content = at(assembled, path).content
    assert content is not None
    with content() as stream:
        return stream.read()


def layer(assembled: Assembled) -> LayerFacts:
    return write_layer(assembled.entries, io.BytesIO(), epoch=EPOCH)


def test_files_below_the_merged_directories_lie_in_usr(put: Put, deb_of: Deb, locked: Locked) -> None:
    done = put(locked("a", deb_of("a", {"./sbin/a": b"a", "./lib64/l.so": "-> x", "./bin": "-> usr/bin"})))
    assert read(done, "usr/sbin/a") == b"a"
    assert at(done, "usr/lib64/l.so").link == "x"
    assert [at(done, name).link for name in ("bin", "sbin", "lib", "lib64")] == [
        "usr/bin",
        "usr/sbin",
        "usr/lib",
        "usr/lib64",
    ]
    assert layer(done).size > 0


def test_var_run_and_var_lock_are_symlinks_although_packages_ship_directories(
    put: Put, deb_of: Deb, locked: Locked
) -> None:
    done = put(locked("a", deb_of("a", {"./var/run": None, "./var/run/a": None, "./var/lock/b": b""})))
    assert (at(done, "var/run").link, at(done, "var/lock").link) == ("/run", "/run/lock")
    assert at(done, "run/a").kind == "dir" and at(done, "run/lock/b").kind == "file"


def test_the_directories_of_the_image_are_there(put: Put) -> None:
    done = put()
    for path in ("opt", "srv", "media", "mnt", "proc", "sys", "dev", "opt/venv", "nanobench", "etc/opt"):
        assert (at(done, path).kind, at(done, path).mode, at(done, path).uid) == ("dir", 0o755, 0)
    for path in ("workspace", "home/agent"):
        assert (at(done, path).kind, at(done, path).uid, at(done, path).gid) == ("dir", 1000, 1000)
    assert [at(done, path).mode for path in ("tmp", "var/tmp", "run/lock", "root")] == [0o1777] * 3 + [0o700]


def test_the_agent_is_a_user_and_no_password_opens_anything(put: Put) -> None:
    done = put()
    assert read(done, "etc/passwd") == (
        b"root:*:0:0:root:/root:/bin/bash\nagent:*:1000:1000::/home/agent:/bin/bash\n"
    )
    assert read(done, "etc/group") == b"root:*:0:\nagent:*:1000:\n"
    assert read(done, "etc/nsswitch.conf") == b"hosts: files\n"
    assert b"127.0.0.1\tlocalhost" in read(done, "etc/hosts")


def test_a_set_of_packages_without_users_is_no_base(
    deb_of: Deb, locked: Locked, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="not a Debian base"):
        assemble([locked("a", deb_of("a", {}))], store, tmp_path, epoch=EPOCH)


def test_hard_links_and_times_reach_the_layer_as_they_are(put: Put, deb_of: Deb, locked: Locked) -> None:
    done = put(locked("a", deb_of("a", {"./bin/z": b"same", "./usr/bin/a": "=> ./bin/z"})))
    assert (at(done, "usr/bin/a").kind, at(done, "usr/bin/a").link) == ("hardlink", "usr/bin/z")
    assert at(done, "usr/bin/z").mtime == MTIME
    out = io.BytesIO()
    write_layer(done.entries, out, epoch=EPOCH)
    out.seek(0)
    with tarfile.open(fileobj=out) as tar:
        assert tar.getmember("usr/bin/z").islnk() and tar.getmember("usr/bin/a").isreg()
        assert {member.mtime for member in tar} == {MTIME, EPOCH}


@pytest.mark.parametrize("name", ["../x", "/etc/x", "./a/../x", "./a//x", "./a\x07"])
def test_a_member_that_leaves_the_root_is_refused_by_name(put: Put, deb_of: Deb, locked: Locked, name: str) -> None:
    with pytest.raises(Refused, match="NB_DEB_PATH") as refusal:
        put(locked("a", deb_of("a", {name: b""})))
    assert refusal.value.where.startswith("pkg:deb/debian/a@1")


def test_a_hard_link_out_of_the_root_is_refused(put: Put, deb_of: Deb, locked: Locked) -> None:
    with pytest.raises(Refused, match="NB_DEB_PATH"):
        put(locked("a", deb_of("a", {"./a": "=> ../../etc/shadow"})))


def test_a_file_below_another_packages_symlink_is_refused(put: Put, deb_of: Deb, locked: Locked) -> None:
    one = locked("a", deb_of("a", {"./usr/share/x": "-> /etc"}))
    two = locked("b", deb_of("b", {"./usr/share/x/passwd": b"evil"}))
    with pytest.raises(Refused, match="NB_LAYER_PARENT"):
        layer(put(one, two))


@pytest.mark.parametrize("kind", [tarfile.BLKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused_by_name(put: Put, deb_of: Deb, locked: Locked, kind: bytes) -> None:
    special = tarfile.TarInfo("./dev/sda")
    special.type = kind
    with pytest.raises(Refused, match=r"NB_ARCHIVE_KIND: pkg:deb/debian/a@1.*\./dev/sda"):
        put(locked("a", deb_of("a", {"d": special})))


def test_an_owner_beyond_the_image_is_refused(put: Put, deb_of: Deb, locked: Locked) -> None:
    odd = tarfile.TarInfo("./x")
    odd.uid = 1 << 20
    with pytest.raises(Refused, match="owner 1048576:0"):
        put(locked("a", deb_of("a", {"./x": odd})))


def test_a_package_that_is_not_the_locked_one_is_refused(put: Put, deb_of: Deb, locked: Locked) -> None:
    with pytest.raises(Refused, match=r"NB_DEB: pkg:deb/debian/a@2.*the lock says"):
        put(locked("a", deb_of("a", {}, version="1"), "2"))


def test_two_packages_that_ship_one_file_are_refused(put: Put, deb_of: Deb, locked: Locked) -> None:
    pair = [locked(name, deb_of(name, {"./usr/bin/x": name.encode()})) for name in ("a", "b")]
    with pytest.raises(Refused, match=r"NB_DEB_CLASH: usr/bin/x: a ships a file, b a file"):
        put(*pair)


@pytest.mark.parametrize("winner", ["a", "b"])
def test_the_package_that_replaces_the_other_keeps_its_file(
    put: Put, deb_of: Deb, locked: Locked, winner: str
) -> None:
    other = {"a": "b", "b": "a"}[winner]
    fields = f"Replaces: z (<< 2), {other} (<< 3)"
    done = put(
        locked(winner, deb_of(winner, {"./usr/bin/x": winner.encode()}, fields=fields)),
        locked(other, deb_of(other, {"./usr/bin/x": other.encode()})),
    )
    assert read(done, "usr/bin/x") == winner.encode()


def test_the_package_that_diverts_the_other_keeps_its_file(put: Put, deb_of: Deb, locked: Locked) -> None:
    script = {"preinst": b"dpkg-divert --package a --add --divert /bin/x.distrib /bin/x"}
    done = put(
        locked("a", deb_of("a", {"./bin/x": b"a"}, control=script)),
        locked("b", deb_of("b", {"./bin/x": b"b"})),
    )
    assert read(done, "usr/bin/x") == b"a"


def test_dpkg_finds_its_database(put: Put, deb_of: Deb, locked: Locked) -> None:
    done = put(locked("a", deb_of("a", {"./bin/a": b"a"}, fields="Multi-Arch: same", control={"postinst": b"#!"})))
    status = read(done, "var/lib/dpkg/status").decode()
    assert "Package: a\nStatus: install ok installed\nVersion: 1\n" in status
    conf = hashlib.md5(b"conf\n").hexdigest()
    assert f"Conffiles:\n /etc/passwd.conf {conf}\n" in status and "/etc/not" not in status
    assert status.index("Package: a") < status.index("Package: base-files")
    assert read(done, "var/lib/dpkg/info/a:all.list") == b"/.\n/bin/a\n"
    assert at(done, "var/lib/dpkg/info/a:all.postinst").mode == 0o755
    assert read(done, "var/lib/dpkg/info/base-files.list").startswith(b"/.\n/tmp\n/bin/base\n")


def test_certificates_are_bundled_in_the_order_of_their_names(put: Put, deb_of: Deb, locked: Locked) -> None:
    files = {f"./usr/share/ca-certificates/m/{name}.crt": f"{name}\n\n".encode() for name in ("b", "a")}
    done = put(locked("ca", deb_of("ca", files)))
    assert read(done, "etc/ssl/certs/ca-certificates.crt") == b"a\nb\n"
    assert at(done, "etc/ssl/certs/a.pem").link == "/usr/share/ca-certificates/m/a.crt"
    assert read(done, "etc/ca-certificates.conf") == b"m/a.crt\nm/b.crt\n"


def test_the_same_packages_give_the_same_layer_in_any_order_umask_time_zone_and_directory(
    put: Put, deb_of: Deb, locked: Locked, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = [
        locked(name, deb_of(name, {f"./usr/share/{name}": name.encode() * 999}, packed=packed))
        for name, packed in (("a", "xz"), ("b", "gz"), ("c", "xz"))
    ]
    first = layer(put(*packages))
    random.Random(1).shuffle(packages)
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    monkeypatch.setenv("LC_ALL", "C")
    time.tzset()
    before = os.umask(0o077)
    try:
        again = layer(put(*packages))
    finally:
        os.umask(before)
        monkeypatch.undo()
        time.tzset()
    assert again == first
