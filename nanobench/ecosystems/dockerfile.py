"""A Dockerfile as a base: built by Docker once, exported, and captured as one canonical layer.

What a build gives differs from build to build; what is exported, made canonical, does so only where the build itself
does. The layer is the pin: nobody else can build it, so it has to be passed on as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from docker import APIClient
from docker.errors import APIError, NotFound

from nanobench.archives.bounds import Meter
from nanobench.archives.entries import entries_of
from nanobench.archives.layer import write_layer
from nanobench.archives.root import Root
from nanobench.ecosystems.base import Assembled, furnish
from nanobench.ecosystems.devcontainer import Build
from nanobench.ecosystems.image import BOUNDS, members
from nanobench.errors import Refused
from nanobench.model.lock import PLATFORM
from nanobench.sandbox.docker_owner import LABEL, OWNER, this_process

Say = Callable[[str], None]

_SHOWN = 30


def capture(
    build: Build, folder: Path, api: APIClient, scratch: Path, *, epoch: int, say: Say, where: str
) -> Assembled:
    """Build it at a Docker daemon, and take what came out as entries.

    Nothing is left at the daemon, but for the steps that went well of a build that fails: as after ``docker build``.

    Args:
        folder: what the paths of ``build`` are relative to.
        scratch: an existing, empty directory with room for context and image; the entries refer to files in it.
        epoch: seconds since 1970: SOURCE_DATE_EPOCH of the build, and the time of all that it wrote.

    Raises:
        Refused: ``NB_DOCKERFILE`` with the build's last lines when it fails; ``NB_IMAGE_PLATFORM``; ``NB_BASE``.
    """
    exported = scratch / "exported.tar"
    labels = {LABEL: "", OWNER: this_process()}
    with (scratch / "context.tar").open("w+b") as context:
        write_layer(entries_of(folder / build.context, epoch=epoch), context, epoch=epoch)
        context.seek(0)
        with _built(build, context, api, labels, epoch, say, where) as image, exported.open("xb") as out:
            _export(api, image, labels, out, where)
    root = Root(epoch=epoch, limit=BOUNDS.members, where=where)
    root.apply(members(exported, Meter(BOUNDS, exported.stat().st_size, where), where))
    furnish(root, where=where)
    return Assembled(entries=tuple(root), warnings=())


@contextmanager
def _built(
    build: Build, context: BinaryIO, api: APIClient, labels: dict[str, str], epoch: int, say: Say, where: str
) -> Iterator[str]:
    """The id of the image, which is gone after the block."""
    said: list[str] = []
    image = None
    try:
        for line in api.build(
            fileobj=context,
            custom_context=True,
            dockerfile=build.dockerfile.relative_to(build.context).as_posix(),
            buildargs={"SOURCE_DATE_EPOCH": str(epoch), **build.args},
            target=build.target or "",
            labels=labels,
            nocache=True,
            forcerm=True,
            decode=True,
        ):
            image = None if "error" in line else line.get("aux", {}).get("ID", image)
            said += (line.get("stream") or line.get("error") or "").splitlines()
            if said and said[-1].startswith("Step "):
                say(said[-1])
            del said[:-_SHOWN]
    except APIError as error:
        said.append(str(error.explanation or error))
        image = None
    if image is None:
        raise Refused("NB_DOCKERFILE", "Docker could not build it", where=where, details=tuple(said))
    try:
        yield image
    finally:
        with suppress(NotFound):
            api.remove_image(image, force=True)


def _export(api: APIClient, image: str, labels: dict[str, str], out: BinaryIO, where: str) -> None:
    facts = api.inspect_image(image)
    platform = f"{facts['Os']}/{facts['Architecture']}"
    if platform != PLATFORM:
        raise Refused("NB_IMAGE_PLATFORM", f"it was built for {platform}, not for {PLATFORM}", where=where)
    container = api.create_container(image, command=["/"], labels=labels)["Id"]  # never started
    try:
        left = BOUNDS.total
        for piece in api.export(container):
            left -= len(piece)
            if left < 0:
                raise Refused("NB_ARCHIVE_BOMB", f"the image has more than {BOUNDS.total} bytes", where=where)
            out.write(piece)
    finally:
        api.remove_container(container, force=True)
