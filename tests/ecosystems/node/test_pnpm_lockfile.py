from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.ecosystems.pnpm_lockfile import read_pnpm_lock
from nanobench.errors import Refused

INTEGRITY = "sha512-" + "A" * 86 + "=="
NAMES = {".": "root", "packages/a": "a", "packages/b": "@s/b"}


def document(**changes: Any) -> dict[str, Any]:
    """Root needs x (which needs y by an alias); a needs b by a link; b needs z, and for other platforms w."""
    packages = {f"{name}@1.0.0": {"resolution": {"integrity": INTEGRITY}} for name in ("x", "y", "@s/z", "w", "v")}
    packages["w@1.0.0"]["os"] = ["darwin"]  # type: ignore[assignment]
    packages["v@1.0.0"]["cpu"] = "!x64"  # type: ignore[assignment]
    snapshots: dict[str, Any] = {
        "x@1.0.0(y@1.0.0)": {"dependencies": {"other": "y@1.0.0"}},
        "y@1.0.0": {},
        "@s/z@1.0.0": {
            "optionalDependencies": {"w": "1.0.0", "v": "1.0.0"},
            "dependencies": {"a": "link:packages/a"},
        },
        "w@1.0.0": {"optional": True},
        "v@1.0.0": {"optional": True},
    }
    importers: dict[str, Any] = {
        ".": {"devDependencies": {"x": {"specifier": "^1", "version": "1.0.0(y@1.0.0)"}}},
        "packages/a": {"dependencies": {"@s/b": {"specifier": "workspace:*", "version": "link:../b"}}},
        "packages/b": {"dependencies": {"@s/z": {"specifier": "1", "version": "1.0.0"}}},
    }
    whole = {"lockfileVersion": "9.0", "importers": importers, "packages": packages, "snapshots": snapshots}
    return whole | changes


def read(whole: Any, *filters: str) -> list[str]:
    data = whole if isinstance(whole, bytes) else json.dumps(whole).encode()  # JSON is YAML
    return [f"{p.name}@{p.version}" for p in read_pnpm_lock(data, names=NAMES, filters=filters, where="lock")]


def refused(whole: Any, code: str, *filters: str) -> str:
    with pytest.raises(Refused) as caught:
        read(whole, *filters)
    assert caught.value.code == code
    return str(caught.value)


def test_without_filters_everything_for_this_platform_is_wanted() -> None:
    assert read(document()) == ["@s/z@1.0.0", "x@1.0.0", "y@1.0.0"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ((".",), ["x@1.0.0", "y@1.0.0"]),
        (("root",), ["x@1.0.0", "y@1.0.0"]),
        (("a",), ["x@1.0.0", "y@1.0.0"]),
        (("a...",), ["@s/z@1.0.0", "x@1.0.0", "y@1.0.0"]),
        (("./packages/b",), ["@s/z@1.0.0", "x@1.0.0", "y@1.0.0"]),
        (("@s/b", "."), ["@s/z@1.0.0", "x@1.0.0", "y@1.0.0"]),
    ],
)
def test_a_filter_selects_what_pnpm_would_install(filters: tuple[str, ...], found: list[str]) -> None:
    assert read(document(), *filters) == found


def test_a_filter_that_selects_nothing_is_refused_with_the_known_names() -> None:
    assert "@s/b, a, root" in refused(document(), "NB_NODE_FILTER", "c")


def test_a_package_that_is_needed_stays_whatever_its_platform() -> None:
    whole = document()
    del whole["snapshots"]["w@1.0.0"]["optional"]
    assert "w@1.0.0" in read(whole)


@pytest.mark.parametrize(
    ("resolution", "code"),
    [
        ({}, "NB_INTEGRITY"),
        ({"integrity": "sha1-AAAA"}, "NB_INTEGRITY"),
        ({"integrity": INTEGRITY, "tarball": "http://evil.example/x.tgz"}, "NB_NPM_SOURCE"),
        ({"type": "git", "repo": "x", "commit": "y"}, "NB_NPM_SOURCE"),
        ({"directory": "../x", "type": "directory"}, "NB_NPM_SOURCE"),
    ],
)
def test_what_the_registry_does_not_have_by_integrity_is_refused(resolution: Any, code: str) -> None:
    whole = document()
    whole["packages"]["y@1.0.0"]["resolution"] = resolution
    assert "y@1.0.0" in refused(whole, code)


@pytest.mark.parametrize("target", ["link:../../..", "link:/etc", "link:../../packages/../../x"])
def test_a_link_out_of_the_workspace_is_refused(target: str) -> None:
    whole = document()
    whole["importers"]["packages/a"]["dependencies"]["@s/b"]["version"] = target
    refused(whole, "NB_NODE_LINK")


def test_an_importer_outside_is_refused() -> None:
    whole = document()
    whole["importers"]["../a"] = {}
    refused(whole, "NB_NODE_LINK")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a: &x 1\nb: *x\n", "anchor"),
        (b"a: 1\na: 2\n", "twice"),
        (b"[" * 100, "deep"),
        (b"[" * 100_000, "nesting"),
        (b"? [a]\n: 1\n", "twice, or no plain key"),
        (b"a: [\n", "YAML"),
        (b"a: \xff\n", "YAML"),
        (b"---\na: 1\n---\nb: 1\n", "documents"),
        (b"", "documents"),
        (b"lockfileVersion: '6.0'\n", "'6.0'"),
        (b"lockfileVersion: '9.0'\nimporters: 1\n", "not a table"),
    ],
)
def test_an_odd_document_is_refused(data: bytes, said: str) -> None:
    assert said in refused(data, "NB_NPM_LOCK")


def test_a_missing_snapshot_is_refused_by_name() -> None:
    whole = document()
    del whole["snapshots"]["y@1.0.0"]
    assert "y@1.0.0" in refused(whole, "NB_NPM_LOCK")


VALUES = st.recursive(
    st.sampled_from(["", "1.0.0", "link:../x", "x@1.0.0", "a(b)", INTEGRITY, "@", "true"]) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "resolution", "integrity", "version", "dependencies", "."]), inner)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["importers", "packages", "snapshots"]), VALUES)
def test_whatever_stands_in_a_part_gives_packages_or_a_refusal(part: str, value: Any) -> None:
    try:
        read(document(**{part: value}))
    except Refused as refusal:
        assert refusal.code.startswith("NB_")


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    refused(data, "NB_NPM_LOCK")
