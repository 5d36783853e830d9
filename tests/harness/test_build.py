"""A packed build is a foreign archive with a foreign package.json: what is taken of it, and what is refused."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nanobench.errors import CannotTell, Misuse, NanobenchError, Refused
from nanobench.harness import build as module
from nanobench.harness.build import NANOCODER, import_build, read_build
from nanobench.harness.lock import lock_name, request_for_build
from nanobench.model.fields import Digest
from nanobench.store.store import Store

GOOD: dict[str, Any] = {
    "name": NANOCODER,
    "version": "1.31.0-beta.1",
    "dependencies": {"ai": "6.0.193", "@scope/x": "^1.0.0 || >=2 <3 | 4.x", "aliased": "npm:@scope/other@~1.2.3"},
    "optionalDependencies": {"maybe": "latest"},
    "peerDependencies": {"react": ">=19", "ai": "*"},
    "devDependencies": {"evil": "git+ssh://example.invalid/x.git"},
    "scripts": {"postinstall": "touch /tmp/ran"},
    "overrides": {"ai": "1.0.0"},
}

Make = Callable[..., Path]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A packed build; ``files`` are laid over its two, and None takes one away."""

    def pack(manifest: Any = GOOD, files: dict[str, bytes | None] | None = None, top: str = "package") -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.tgz"
        data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        wanted = {"package.json": data, "dist/cli.js": b"// built\n", **(files or {})}
        with tarfile.open(path, "w:gz") as archive:
            for name, content in wanted.items():
                if content is not None:
                    member = tarfile.TarInfo(f"{top}/{name}")
                    member.size = len(content)
                    archive.addfile(member, io.BytesIO(content))
        return path

    return pack


def refusal(path: Path, store: Store) -> Refused:
    with pytest.raises(Refused) as caught:
        read_build(import_build(path, store), store)
    return caught.value


def test_a_build_is_known_by_its_bytes_and_says_version_and_dependencies(make: Make, store: Store) -> None:
    path = make()
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    digest = import_build(path, store)
    assert digest == f"sha256:{sha256}" and store.read(digest) == path.read_bytes()
    build = read_build(digest, store)
    assert build.dependencies == {**GOOD["dependencies"], "react": ">=19"}
    assert build.optional == GOOD["optionalDependencies"]
    package = build.package
    assert (package.digest, package.size, package.target) == (
        digest,
        path.stat().st_size,
        f"node_modules/{NANOCODER}",
    )
    assert package.purl == "pkg:generic/nanocoder@1.31.0-beta.1"
    request = request_for_build(digest, store)
    assert lock_name(request, dated=False) == f"nanocoder-1.31.0-beta.1-{sha256[:8]}"
    assert lock_name(request, dated=True) == f"nanocoder-1.31.0-beta.1-{sha256[:8]}-{request.before}"
    assert (request.tarball, request.nanocoder) == (digest, "1.31.0-beta.1")
    assert not list((store.root / "scratch").iterdir())


def test_two_builds_of_one_version_have_two_names(make: Make, store: Store) -> None:
    builds = (make(), make(files={"dist/cli.js": b"// another\n"}))
    names = {lock_name(request_for_build(import_build(path, store), store), dated=False) for path in builds}
    assert len(names) == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"dist/cli.js": None}, "it has no dist/cli.js"),
        ({"package.json": None}, "it has no package.json"),
        ({"package.json": b"{"}, "cannot be read"),
        ({"package.json": b"[" * 100_000}, "cannot be read"),
        ({"package.json": b"[]"}, f"is not of {NANOCODER}"),
        ({"package.json": b'{"name": "a", "name": "b"}'}, "cannot be read"),
        ({"package.json": b" " * (2 << 20) + b"{}"}, "cannot be read"),
    ],
)
def test_what_is_no_built_nanocoder_is_refused_by_name(
    make: Make, store: Store, files: dict[str, bytes | None], words: str
) -> None:
    error = refusal(make(files=files), store)
    assert (error.code, words in error.message) == ("NB_BUILD", True)
    assert "pack" in error.hint


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "nanocoder"),
        ("name", None),
        ("version", "1.31"),
        ("version", "1.31.0/../../x"),
        ("version", "1.31.0+build"),
        ("version", "1.31.0-RC.1"),
        ("version", "1.31.0-" + "x" * 60),
        ("version", 1),
        ("dependencies", []),
        ("dependencies", {"a": 1}),
        ("dependencies", {"../a": "1.0.0"}),
        ("dependencies", {"-g": "1.0.0 --prefix=/"}),
        ("dependencies", {f"a{number}": "1" for number in range(1001)}),
        *(
            ("dependencies", {"a": wanted})
            for wanted in (
                "git+ssh://-oProxyCommand=x/y.git",
                "git+https://example.invalid/a.git",
                "github:a/b",
                "a/b",
                "file:../../etc",
                "link:../x",
                "workspace:*",
                "http://127.0.0.1/a.tgz",
                "../a.tgz",
                "npm:../x@1",
                "1.0.0\n2",
            )
        ),
        ("optionalDependencies", {"a": "file:x"}),
        ("peerDependencies", {"a": "file:x"}),
    ],
)
def test_what_would_lead_npm_elsewhere_than_to_the_registry_is_refused(
    make: Make, store: Store, key: str, value: Any
) -> None:
    assert refusal(make(GOOD | {key: value}), store).code == "NB_BUILD"


def test_a_version_older_than_every_contract_is_refused(make: Make, store: Store) -> None:
    with pytest.raises(Refused) as caught:
        request_for_build(import_build(make(GOOD | {"version": "1.28.1"}), store), store)
    assert caught.value.code == "NB_HARNESS_VERSION"


def test_a_hostile_archive_is_refused_as_an_archive(make: Make, store: Store, tmp_path: Path) -> None:
    evil = tmp_path / "evil.tgz"
    with tarfile.open(evil, "w:gz") as archive:
        link = tarfile.TarInfo("package/package.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert refusal(evil, store).code == "NB_ARCHIVE_LINK"
    assert refusal(make(files={"../../escaped": b"x"}), store).code == "NB_ARCHIVE_PATH"
    assert not list(tmp_path.rglob("escaped"))
    (tmp_path / "text.tgz").write_text("no archive")
    assert refusal(tmp_path / "text.tgz", store).code == "NB_ARCHIVE_BROKEN"
    assert not list((store.root / "scratch").iterdir())


def test_what_is_no_file_is_misuse_and_nothing_is_kept(
    make: Make, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe.tgz")
    for name in ("missing.tgz", "pipe.tgz", "store"):
        with pytest.raises(Misuse) as misuse:
            import_build(tmp_path / name, store)
        assert misuse.value.code == "NB_NO_FILE"
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    with pytest.raises(Refused) as refused:
        import_build(make(), store)
    assert refused.value.code == "NB_BUILD"
    assert not [path for path in (store.root / "blobs").rglob("*") if path.is_file()]


def test_a_build_that_is_not_here_names_its_digest_and_what_brings_it(store: Store) -> None:
    digest = Digest(f"sha256:{'5' * 64}")
    with pytest.raises(CannotTell) as caught:
        read_build(digest, store)
    assert (caught.value.code, caught.value.where) == ("NB_BUILD_MISSING", digest)
    assert "nanobench lock --nanocoder PATH.tgz" in caught.value.hint


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["version", "dependencies", "optionalDependencies", "peerDependencies"])


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(KEYS, JSON, max_size=3))
def test_no_manifest_gets_past_in_any_other_way(make: Make, store: Store, changes: dict[str, Any]) -> None:
    try:
        build = read_build(import_build(make(GOOD | changes), store), store)
    except NanobenchError as error:
        assert error.code == "NB_BUILD"
    else:
        assert all("/" not in wanted or wanted.startswith("npm:") for wanted in build.dependencies.values())
