from __future__ import annotations

import hashlib
from collections.abc import Callable

from nanobench.archives.entries import Entry
from nanobench.archives.oci import Image, ImageLayer, documents, image_of, place
from nanobench.formats import json
from nanobench.formats.digest import sha256
from nanobench.image.layers import pack
from nanobench.store.store import Store

EPOCH = 1_700_000_000
LAYERS = (
    ImageLayer(role="debian", diff_id=sha256(b"lower"), size=5),
    ImageLayer(role="task", diff_id=sha256(b"upper"), size=6),
)


def _image(layers: tuple[ImageLayer, ...] = LAYERS) -> Image:
    return image_of(layers, epoch=EPOCH, env={"PATH": "/usr/bin", "LANG": "C.UTF-8"})


def test_the_documents_of_an_image_are_these_for_ever() -> None:
    image = _image()
    assert image.config_digest == "sha256:77636d68666718f55e6aa24d522f23dd6a196f052b24daf0920550d6de2c8e96"
    assert image.manifest_digest == "sha256:a060168f6e87bccc07413eb1ea845eb448799a6fb0f369db2cb646d878c244d2"


def test_the_order_of_the_environment_changes_nothing() -> None:
    image = _image()
    again = image_of(iter(LAYERS), epoch=EPOCH, env={"LANG": "C.UTF-8", "PATH": "/usr/bin"})
    assert again == image
    assert json.parse(image.config, where="config")["created"] == "2023-11-14T22:13:20Z"


def test_the_order_of_layers_matters() -> None:
    assert _image(LAYERS[::-1]).config_digest != _image().config_digest


def test_the_layout_holds_every_blob_under_its_digest(store: Store, entries: Callable[[], list[Entry]]) -> None:
    packed = pack(store, entries(), epoch=EPOCH)
    image = _image((ImageLayer(role="debian", diff_id=packed.diff_id, size=packed.size),))
    files = documents(image, name="nanobench/x:1") | {place(packed.diff_id): store.read(packed.diff_id)}
    found = {path[13:]: hashlib.sha256(data).hexdigest() for path, data in files.items() if path.startswith("blobs/")}
    assert found == {name: name for name in found}
    index = json.parse(files["index.json"], where="index")
    manifest = json.parse(files[place(index["manifests"][0]["digest"])], where="manifest")
    config = json.parse(files[place(manifest["config"]["digest"])], where="config")
    assert config["rootfs"]["diff_ids"] == [layer["digest"] for layer in manifest["layers"]] == [packed.diff_id]
    assert manifest["layers"][0]["size"] == len(files[place(packed.diff_id)])
    assert files["manifest.json"].startswith(b'[{"Config":"blobs/sha256/' + image.config_digest[7:].encode())
