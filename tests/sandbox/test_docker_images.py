"""Images at a Docker daemon: exactly the stored layers, loaded once, run by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from nanobench.archives.entries import entries_of
from nanobench.archives.layer import write_layer
from nanobench.archives.oci import Image, image_of
from nanobench.archives.unpack import unpack_layer
from nanobench.errors import MachineFailure
from nanobench.formats.digest import split
from nanobench.model.fields import Digest
from nanobench.sandbox import docker_images
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.docker_images import PASSING, STORED, Images, Layer
from nanobench.store.store import Store

NOTHING = Digest("sha256:" + "0" * 64)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module", params=["docker_socket", "containerd_socket"])
def engine_of_store(request: pytest.FixtureRequest, store: Store) -> Docker:
    """The engine of this store, at a daemon of either kind."""
    return Docker(store, address=str(request.getfixturevalue(request.param)))


@pytest.fixture(scope="module")
def api(engine_of_store: Docker) -> Any:
    return engine_of_store._daemon.connect().api


@pytest.fixture
def images(api: Any, store: Store) -> Images:
    return Images(api, store)


@pytest.fixture
def stored(store: Store, tmp_path: Path) -> Callable[..., Path]:
    """A tree of the store that was unpacked from a layer with these files."""

    def make(**files: str) -> Path:
        source = tmp_path / "source"
        source.mkdir(exist_ok=True)
        for name, text in files.items():
            (source / name).write_text(text)
        with store.incoming() as incoming:
            facts = write_layer(entries_of(source, epoch=7), incoming, epoch=7)
        return store.make_tree(split(facts.diff_id)[1], lambda dest: unpack_layer(store.blob(facts.diff_id), dest))

    return make


def names(api: Any, repository: str) -> set[str]:
    return {name for image in api.images(name=repository) for name in image["RepoTags"] or ()}


def test_a_stored_tree_stands_for_its_layer_and_stays_loaded(
    images: Images, api: Any, store: Store, stored: Callable[..., Path]
) -> None:
    lower, upper = stored(a="1"), stored(a="1", b="2")
    with images.image((lower, upper)) as identity:
        pass
    found = api.inspect_image(identity)
    assert found["RootFS"]["Layers"] == [f"sha256:{lower.name}", f"sha256:{upper.name}"]
    (name,) = found["RepoTags"]
    assert name.startswith(f"{STORED}:")
    assert identity == found["Id"]


def test_what_the_daemon_has_is_not_loaded_again(
    images: Images, api: Any, store: Store, stored: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = stored(c="3")
    with images.image((tree,)) as first:
        monkeypatch.setattr(api, "load_image", None)
        with Images(api, store).image((tree,)) as second:
            assert first == second


def test_a_plain_directory_is_packed_and_its_image_goes_with_its_last_user(
    images: Images, api: Any, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "file").write_text("x")
    with images.image((tmp_path / "plain",)) as first:
        with images.image((tmp_path / "plain",)) as second:
            assert first == second
        assert len(names(api, PASSING)) == 1
    assert names(api, PASSING) == set()


def test_a_daemon_that_changes_what_it_loads_is_not_trusted(
    images: Images, stored: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    load = docker_images._archive

    def another(*arguments: Any, **named: Any) -> Image:
        return evolve(image_of(*arguments, **named), manifest=b"{}", config=b"{}")

    def as_it_should_be(image: Image, name: str, layers: Sequence[Layer]) -> Iterator[bytes]:
        return load(image_of(image.layers, epoch=0, env={}), name, layers)

    monkeypatch.setattr(docker_images, "image_of", another)
    monkeypatch.setattr(docker_images, "_archive", as_it_should_be)
    with pytest.raises(MachineFailure, match="NB_ENGINE_IMAGE"), images.image((stored(d="4"),)):
        pass


def test_a_layer_whose_bytes_are_others_is_refused_by_the_daemon(
    images: Images, stored: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(self: Images, tree: Path) -> Layer | None:
        layer = right(self, tree)
        return layer and evolve(layer, diff_id=NOTHING)

    right = Images._stored
    monkeypatch.setattr(Images, "_stored", lie)
    for _ in range(2):
        with pytest.raises(MachineFailure, match=r"took no image|NB_ENGINE_IMAGE"), images.image((stored(e="5"),)):
            pass


def test_images_of_layers_that_are_gone_from_the_store_are_forgotten(
    images: Images, engine_of_store: Docker, api: Any, store: Store, stored: Callable[..., Path]
) -> None:
    kept, lost = stored(f="6"), stored(f="6", g="7")
    loaded = []
    for trees in ((kept,), (kept, lost)):
        with images.image(trees) as identity:
            loaded += api.inspect_image(identity)["RepoTags"]
    before = names(api, STORED)
    store.blob(Digest(f"sha256:{lost.name}")).unlink()
    gone = set(engine_of_store.forget())
    assert before - names(api, STORED) == gone
    assert [name in gone for name in loaded] == [False, True]
