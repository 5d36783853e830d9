"""Layers as an image of a Docker daemon: loaded once, known by its digests, run by its id and never by a name.

The daemon gets exactly the stored layers: its classic store calls the image by the digest of its configuration, a
containerd store by that of its manifest, and under both its ``diff_ids`` are ours. Files belong to root in there, as
the layers say; under bubblewrap to the sandbox's user. On a read-only root that is seen by who asks for an owner, and
by who wants to read what is closed to others (``/etc/shadow``, ``/root``), and by nobody else.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from attrs import frozen
from docker import APIClient
from docker.errors import APIError, ImageNotFound

from nanobench.archives import tar
from nanobench.archives.entries import entries_of, open_regular
from nanobench.archives.layer import write_layer
from nanobench.archives.oci import Image, ImageLayer, documents, image_of, place
from nanobench.errors import MachineFailure
from nanobench.formats.digest import split
from nanobench.model.fields import Digest
from nanobench.sandbox.docker_owner import this_process
from nanobench.store.store import Store

STORED, PASSING = "nanobench/layers", "nanobench/passing"
"""Names of images: of stored layers, kept until ``forget``; of plain directories, gone when the run is over."""

_CHUNK = 1 << 20


@frozen(kw_only=True)
class Layer:
    """An uncompressed layer and how to read it."""

    diff_id: Digest
    size: int
    open: Callable[[], BinaryIO]


class Images:
    """The images of one daemon. Several threads may use them."""

    def __init__(self, api: APIClient, store: Store) -> None:
        self._api, self._store = api, store
        self._lock = threading.Lock()
        self._users: Counter[str] = Counter()

    @contextmanager
    def image(self, trees: Sequence[Path]) -> Iterator[str]:
        """The id of the image of these trees, lowest first, good inside the block.

        A tree of the store stands for the layer that it was unpacked from; any other directory is packed.
        """
        with ExitStack() as stack:
            stored = [self._stored(tree) for tree in trees]
            layers = [layer or _packed(tree, stack) for layer, tree in zip(stored, trees, strict=True)]
            roles = [ImageLayer(role="layer", diff_id=layer.diff_id, size=layer.size) for layer in layers]
            image = image_of(roles, epoch=0, env={})
            mark = split(image.config_digest)[1][:16]
            name = f"{STORED}:{mark}" if all(stored) else f"{PASSING}:{this_process()}-{mark}"
            with self._kept(image, name, layers) as identity:
                yield identity

    @contextmanager
    def _kept(self, image: Image, name: str, layers: Sequence[Layer]) -> Iterator[str]:
        with self._lock:
            identity = self._present(image)
            if identity is None:
                self._load(image, name, layers)
                identity = self._present(image)
            if identity is None:
                raise _unknown(image, name)
            self._users[name] += 1
        try:
            yield identity
        finally:
            with self._lock:
                self._users[name] -= 1
                if not self._users[name] and name.startswith(PASSING):
                    remove(self._api, name)

    def _present(self, image: Image) -> str | None:
        """The daemon's id of exactly this image."""
        for digest in (image.config_digest, image.manifest_digest):
            with suppress(ImageNotFound):
                found = self._api.inspect_image(digest)
                if found["Id"] in (image.config_digest, image.manifest_digest) and _same_layers(found, image):
                    return str(found["Id"])
        return None

    def _load(self, image: Image, name: str, layers: Sequence[Layer]) -> None:
        for line in self._api.load_image(_archive(image, name, layers), quiet=True) or ():
            if "error" in line:
                remove(self._api, name)  # a containerd store keeps an image that it could not unpack
                raise MachineFailure("NB_ENGINE", f"the Docker daemon took no image: {line['error']}", where=name)

    def _stored(self, tree: Path) -> Layer | None:
        digest = Digest(f"sha256:{tree.name}")
        if tree.absolute().parent != self._store.root / "trees" or not self._store.has(digest):
            return None
        blob = self._store.blob(digest)
        return Layer(diff_id=digest, size=blob.stat().st_size, open=partial(open_regular, os.fsencode(blob)))


def remove(api: APIClient, name: str) -> None:
    """Take the name away, and the image with it when it is its last and nothing runs on it."""
    with suppress(ImageNotFound):
        try:
            api.remove_image(name)
        except APIError as error:
            if error.status_code != 409:
                raise


def _packed(tree: Path, stack: ExitStack) -> Layer:
    if not tree.is_dir():
        raise MachineFailure("NB_ENGINE", "the sandbox did not start: no such layer", where=str(tree))
    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    facts = write_layer(entries_of(tree, epoch=0), file, epoch=0)
    file.flush()

    def again() -> BinaryIO:
        copy = open(file.fileno(), "rb", closefd=False)  # noqa: SIM115
        copy.seek(0)
        return copy

    return Layer(diff_id=facts.diff_id, size=facts.size, open=again)


def _archive(image: Image, name: str, layers: Sequence[Layer]) -> Iterator[bytes]:
    """The tar that ``docker load`` takes, piece by piece."""
    for path, data in documents(image, name=name).items():
        yield _head(path, len(data)) + data + tar.padding(len(data))
    for layer in {layer.diff_id: layer for layer in layers}.values():
        yield _head(place(layer.diff_id), layer.size)
        with layer.open() as file:
            while chunk := file.read(_CHUNK):
                yield chunk
        yield tar.padding(layer.size)
    yield tar.END


def _head(path: str, size: int) -> bytes:
    return tar.encode(tar.Header(path=path, kind="file", mode=0o644, uid=0, gid=0, size=size, mtime=0))


def _same_layers(found: dict[str, Any], image: Image) -> bool:
    return list(found["RootFS"].get("Layers") or ()) == [layer.diff_id for layer in image.layers]


def _unknown(image: Image, name: str) -> MachineFailure:
    asked = f"it should be known as {image.config_digest} or {image.manifest_digest}, with the layers given"
    hint = "this Docker daemon changes what it loads: use another one, or --engine bubblewrap"
    return MachineFailure("NB_ENGINE_IMAGE", f"what was loaded is another image: {asked}", where=name, hint=hint)
