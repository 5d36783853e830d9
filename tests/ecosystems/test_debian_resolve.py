from __future__ import annotations

import http.server
import lzma
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from nanobench.ecosystems import deb_keys
from nanobench.ecosystems.deb_keys import ARCHIVE_KEYS, certificates, pinned_keyring
from nanobench.ecosystems.deb_resolve import resolve
from nanobench.ecosystems.online import Online
from nanobench.ecosystems.registries import Registries
from nanobench.errors import CannotTell, MachineFailure, Refused
from nanobench.model.environment import DebianBase

MACHINE_KEYRING = next((path for path in deb_keys.KEYRINGS if path.is_file()), None)
IN_CI = bool(os.environ.get("CI"))  # there nothing may be missing
has_keyring = pytest.mark.skipif(
    MACHINE_KEYRING is None and not IN_CI, reason="no Debian keyring on this machine (never in CI)"
)
has_apt = pytest.mark.skipif(
    shutil.which("apt-get") is None and not IN_CI, reason="no apt on this machine (never in CI)"
)

BASE = "http://mirror.example/debian"


def key(number: int) -> tuple[str, bytes]:
    """A certificate in the older packet format: a version 4 public key, a user id, a signature."""
    public = b"\x04" + bytes([number]) * 40
    packets = b"\x99" + len(public).to_bytes(2, "big") + public + b"\xb4\x03uid" + b"\x88\x02si"
    (only,) = certificates(packets)
    return only


def nowhere(_: httpx.Request) -> httpx.Response:
    return httpx.Response(404)


def online(handler: Callable[[httpx.Request], httpx.Response] = nowhere) -> Online:
    return Online(Registries(env={}), transport=httpx.MockTransport(handler), sleep=lambda _: None)


def test_only_pinned_keys_are_taken_out_of_a_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other, also = key(1), key(2), key(3)
    monkeypatch.setitem(ARCHIVE_KEYS, "bookworm", frozenset({ours[0], also[0]}))
    trust = b"\xb0\x02tt"  # a trust packet belongs to a local keyring, not to a certificate
    (tmp_path / "ring.gpg").write_bytes(other[1] + trust + ours[1] + trust + other[1] + also[1])
    chosen = pinned_keyring("bookworm", BASE, online=online(), keyrings=(tmp_path / "no", tmp_path / "ring.gpg"))
    assert chosen == ours[1] + also[1]


def test_packets_of_the_newer_format_are_read() -> None:
    public = b"\x04" + b"k" * 250
    short, long, longest = b"\xc2\x02si", b"\xcd\xc0\x08" + b"u" * 200, b"\xce\xff\x00\x00\x00\x01s"
    packet = b"\xc6" + bytes([((251 - 192) >> 8) + 192, 251 - 192]) + public
    ((fingerprint, data),) = certificates(packet + short + long + longest)
    assert data == packet + short + long + longest
    assert len(fingerprint) == 40


@pytest.mark.parametrize("data", [b"-----BEGIN PGP", b"\x99", b"\x99\x00", b"\x99\x00\x05ab", b"\xc6\xe1x", b"\x9bx"])
def test_what_is_no_binary_keyring_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "ring.gpg").write_bytes(data)
    with pytest.raises(Refused, match="NB_KEYRING"):
        pinned_keyring("bookworm", BASE, online=online(), keyrings=(tmp_path / "ring.gpg",))


def test_without_a_keyring_file_the_archives_package_serves_since_the_keys_are_pinned(
    monkeypatch: pytest.MonkeyPatch, deb_of: Callable[..., bytes]
) -> None:
    ours, other = key(1), key(2)
    monkeypatch.setitem(ARCHIVE_KEYS, "bookworm", frozenset({ours[0]}))
    ring = {"./usr/share/keyrings/debian-archive-keyring.gpg": other[1] + ours[1], "./usr/bin/x": b""}
    index = "Package: a\nFilename: pool/a.deb\n\nPackage: debian-archive-keyring\nFilename: pool/k.deb\n\n"
    serves = {
        f"{BASE}/dists/bookworm/main/binary-amd64/Packages.xz": lzma.compress(index.encode()),
        f"{BASE}/pool/k.deb": deb_of("debian-archive-keyring", ring),
    }
    session = online(lambda request: httpx.Response(200, content=serves[str(request.url)]))
    assert pinned_keyring("bookworm", BASE, online=session, keyrings=()) == ours[1]
    monkeypatch.setitem(ARCHIVE_KEYS, "bookworm", frozenset({"0" * 40}))
    with pytest.raises(Refused, match="no keyring holds a key that is pinned"):
        pinned_keyring("bookworm", BASE, online=session, keyrings=())


def test_an_archive_that_does_not_answer_is_no_refusal() -> None:
    with pytest.raises(CannotTell, match="NB_UNREACHABLE"):
        pinned_keyring("bookworm", BASE, online=online(), keyrings=())


def test_a_suite_without_pinned_keys_is_refused() -> None:
    with pytest.raises(Refused, match=r"NB_SUITE(.|\n)*bookworm, trixie"):
        pinned_keyring("woody", BASE, online=online())


@has_keyring
@pytest.mark.parametrize("suite", sorted(ARCHIVE_KEYS))
def test_the_pinned_keys_are_in_debians_keyring(suite: str) -> None:
    assert MACHINE_KEYRING is not None
    found = {fingerprint for fingerprint, _ in certificates(MACHINE_KEYRING.read_bytes())}
    assert ARCHIVE_KEYS[suite] <= found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """An empty directory that a loopback server serves, and its URL."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(tmp_path / "served"))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    (tmp_path / "served/dists/bookworm").mkdir(parents=True)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path / "served", f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def mirrors(*urls: str) -> Registries:
    return Registries(env={"NANOBENCH_DEBIAN_MIRROR": " ".join(urls)})


@has_apt
@has_keyring
def test_an_unsigned_suite_is_refused(served: tuple[Path, str], tmp_path: Path) -> None:
    place, url = served
    (place / "dists/bookworm/Release").write_text("Codename: bookworm\nDate: Sat, 11 Jul 2026 10:16:37 UTC\n")
    with Online(mirrors(url)) as session, pytest.raises(Refused, match="NB_SIGNATURE") as refusal:
        resolve(DebianBase(debian="bookworm"), online=session, work=tmp_path / "work")
    assert refusal.value.where == url


@has_apt
@has_keyring
def test_mirrors_that_do_not_serve_the_suite_are_all_named_without_credentials(
    served: tuple[Path, str], tmp_path: Path
) -> None:
    _, url = served
    secret = url.replace("http://", "http://user:secret@")
    with Online(mirrors(f"{secret}/one", f"{secret}/two")) as session, pytest.raises(CannotTell) as failure:
        resolve(DebianBase(debian="bookworm"), online=session, work=tmp_path / "work")
    assert failure.value.code == "NB_UNREACHABLE"
    assert f"{url}/one" in str(failure.value) and f"{url}/two" in str(failure.value)
    assert "secret" not in str(failure.value)


@has_keyring
def test_a_machine_without_apt_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with online() as session, pytest.raises(MachineFailure, match="NB_APT"):
        resolve(DebianBase(debian="bookworm"), online=session, work=tmp_path / "work")


@pytest.mark.network
@has_apt
@pytest.mark.parametrize("suite", sorted(ARCHIVE_KEYS))
def test_a_real_suite_resolves_to_one_pinned_file_a_package_whatever_the_users_apt_is_told(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apt.conf").write_text('Acquire::http::Proxy "http://127.0.0.1:1"; APT::Architecture "arm64";\n')
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    with Online() as session:
        found = resolve(DebianBase(debian=suite, packages=("python3",)), online=session, work=tmp_path / "work")
        assert session.contacted
    names = [package.purl.split("/")[2].partition("@")[0] for package in found.packages]
    assert {"git", "ca-certificates", "python3", "libc6", "base-files", "bash"} <= set(names)
    assert len(set(names)) == len(names)
    assert [p.purl for p in found.packages] == sorted(p.purl for p in found.packages)
    assert all(p.purl.endswith(f"distro={suite}") and p.path.startswith("pool/main/") for p in found.packages)
    assert 1_700_000_000 < found.source_date_epoch < 2_500_000_000


@pytest.mark.network
@has_apt
def test_a_keyring_can_be_had_from_the_real_archive_alone(tmp_path: Path) -> None:
    with Online() as session:
        base = session.registries.debian("bookworm")[0]
        chosen = pinned_keyring("bookworm", base, online=session, keyrings=())
    assert {fingerprint for fingerprint, _ in certificates(chosen)} == ARCHIVE_KEYS["bookworm"]


@pytest.mark.network
@has_apt
def test_a_package_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with Online() as session, pytest.raises(Refused, match=r"NB_RESOLVE(.|\n)*no-such-package-zz") as refusal:
        resolve(DebianBase(debian="bookworm", packages=("no-such-package-zz",)), online=session, work=tmp_path / "w")
    assert "E: Unable to locate package no-such-package-zz" in refusal.value.details


@pytest.mark.network
@has_apt
@has_keyring
def test_keys_of_another_suite_do_not_sign_this_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MACHINE_KEYRING is not None
    others = {fingerprint for fingerprint, _ in certificates(MACHINE_KEYRING.read_bytes())}
    release = ARCHIVE_KEYS["bookworm"] | ARCHIVE_KEYS["trixie"]
    monkeypatch.setitem(ARCHIVE_KEYS, "bookworm", frozenset(others - release))
    with Online() as session, pytest.raises(Refused, match="NB_SIGNATURE"):
        resolve(DebianBase(debian="bookworm"), online=session, work=tmp_path / "work")
