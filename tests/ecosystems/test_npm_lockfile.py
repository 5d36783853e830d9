from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packageurl import PackageURL

from nanobench.ecosystems.npm_lockfile import Placed, purl_of, read_package_lock, tarball_path
from nanobench.errors import Refused

RAW = hashlib.sha512(b"x").digest()
INTEGRITY = "sha512-" + base64.b64encode(RAW).decode()


def lock(placed: dict[str, Any], **changes: Any) -> tuple[Placed, ...]:
    entries = {
        target: {"version": "1.0.0", "integrity": INTEGRITY, **entry} if target else entry
        for target, entry in placed.items()
    }
    document = {"lockfileVersion": 3, "packages": {"": {"name": "closure"}, **entries}} | changes
    return read_package_lock(json.dumps(document).encode(), where="lock")


def refused(placed: dict[str, Any], code: str, **changes: Any) -> str:
    with pytest.raises(Refused) as caught:
        lock(placed, **changes)
    assert caught.value.code == code
    return str(caught.value)


def test_a_package_is_placed_by_its_own_name_and_registry_path() -> None:
    (found,) = lock({"node_modules/@scope/name": {}})
    assert found == Placed(
        target="node_modules/@scope/name",
        name="@scope/name",
        version="1.0.0",
        path="@scope/name/-/name-1.0.0.tgz",
        digest=f"sha512:{RAW.hex()}",  # type: ignore[arg-type]
        script=False,
    )
    assert found.purl == "pkg:npm/%40scope/name@1.0.0"


def test_an_alias_is_fetched_under_its_real_name() -> None:
    (found,) = lock({"node_modules/short": {"name": "@long/name"}})
    assert (found.purl, found.path) == ("pkg:npm/%40long/name@1.0.0", "@long/name/-/name-1.0.0.tgz")


@pytest.mark.parametrize(
    "url",
    [
        "https://mirror.invalid/npm/@s/n/-/n-1.0.0.tgz",
        "http://mirror.invalid:4873/%40s%2fn/-/n-1.0.0.tgz",
        "https://mirror.invalid/@s/n/-/n-1.0.0.tgz?cache=1#x",
    ],
)
def test_the_mirror_that_wrote_the_url_leaves_no_trace(url: str) -> None:
    (found,) = lock({"node_modules/@s/n": {"resolved": url}})
    assert found.path == "@s/n/-/n-1.0.0.tgz"


def test_an_odd_file_name_of_the_registry_is_kept() -> None:
    (found,) = lock({"node_modules/a": {"resolved": "https://mirror.invalid/a/-/a-1.0.0-fixed.tgz"}})
    assert found.path == "a/-/a-1.0.0-fixed.tgz"


@pytest.mark.parametrize(
    "url",
    [
        "git+ssh://git@host.invalid/a/-/a.git#0123",
        "file:../a/-/a.tgz",
        "https://host.invalid/a-1.0.0.tgz",
        "https://host.invalid/b/-/b-1.0.0.tgz",
        "https://host.invalid/a/-/x/a-1.0.0.tgz",
    ],
)
def test_what_is_no_registrys_is_refused_by_name(url: str) -> None:
    assert "node_modules/a" in refused({"node_modules/a": {"resolved": url}}, "NB_NPM_SOURCE")


@pytest.mark.parametrize("integrity", [None, "", "sha1-" + base64.b64encode(b"x" * 20).decode(), "sha512-AAAA"])
def test_a_package_without_a_sha512_is_refused(integrity: str | None) -> None:
    assert "node_modules/a" in refused({"node_modules/a": {"integrity": integrity}}, "NB_INTEGRITY")


@pytest.mark.parametrize(
    ("rules", "fits"),
    [
        ({"os": ["linux"], "cpu": ["x64"], "libc": ["glibc"]}, True),
        ({"os": "linux", "cpu": "x64", "libc": "glibc"}, True),
        ({"os": ["darwin", "linux"]}, True),
        ({"os": ["!win32"]}, True),
        ({"os": []}, True),
        ({"os": ["any"]}, True),
        ({"os": "darwin"}, False),
        ({"os": ["!linux"]}, False),
        ({"cpu": ["arm64"]}, False),
        ({"libc": ["musl"]}, False),
        ({"os": ["linux"], "cpu": ["x64"], "libc": "musl"}, False),
    ],
)
def test_an_optional_package_is_left_out_exactly_when_it_is_for_another_platform(
    rules: dict[str, Any], fits: bool
) -> None:
    assert bool(lock({"node_modules/a": {"optional": True, **rules}})) is fits


def test_a_needed_package_for_another_platform_is_refused() -> None:
    refused({"node_modules/a": {"os": ["darwin"]}}, "NB_NPM_PLATFORM")


def test_development_and_bundled_packages_are_left_out_and_peers_are_not() -> None:
    found = lock(
        {
            "node_modules/dev": {"dev": True},
            "node_modules/a/node_modules/in": {"inBundle": True},
            "node_modules/peer": {"peer": True},
            "node_modules/a": {},
        }
    )
    assert [p.target for p in found] == ["node_modules/a", "node_modules/peer"]


def test_an_install_script_is_noticed() -> None:
    assert lock({"node_modules/a": {"hasInstallScript": True}})[0].script


@pytest.mark.parametrize(
    "target",
    [
        "packages/a",
        "node_modules/../a",
        "node_modules/a/../../x",
        "/node_modules/a",
        "node_modules/.hidden/../a",
        "node_modules/a/b",
        "node_modules/",
        "node_modules/@s",
        "../node_modules/a",
    ],
)
def test_a_place_that_is_not_below_node_modules_is_refused(target: str) -> None:
    refused({target: {}}, "NB_NPM_LOCK")


def test_links_and_other_lock_versions_are_refused() -> None:
    refused({"node_modules/a": {"link": True}}, "NB_NPM_LOCK")
    refused({}, "NB_NPM_LOCK", lockfileVersion=2)
    refused({}, "NB_NPM_LOCK", packages=[])


NAME = st.from_regex(r"(@[a-z0-9-]{1,8}/)?[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
VERSION = st.from_regex(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(-[a-z]{1,3}\.[0-9])?", fullmatch=True)


@given(NAME, VERSION)
def test_every_purl_reads_back_as_the_name_and_version(name: str, version: str) -> None:
    purl = PackageURL.from_string(purl_of(name, version))
    assert "/".join(filter(None, (purl.namespace, purl.name))) == name
    assert purl.version == version
    assert tarball_path(name, version).startswith(f"{name}/-/")
