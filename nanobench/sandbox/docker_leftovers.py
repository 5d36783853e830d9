"""What killed runs left at a Docker daemon, and the images that nobody needs any more.

A container whose runner was killed ends by itself and removes itself (its process 1 hangs on the runner's
connection); what can be left is one that was never started, and the image of a run over plain directories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from docker import APIClient
from docker.errors import NotFound

from nanobench.model.fields import Digest
from nanobench.sandbox.docker_images import PASSING, STORED, remove
from nanobench.sandbox.docker_owner import LABEL, OWNER, is_dead


def leftovers(api: APIClient) -> tuple[str, ...]:
    """Containers (by id) and images (by name) whose maker is dead."""
    return (*_containers(api), *_passing(api))


def sweep(api: APIClient) -> tuple[str, ...]:
    """Remove them; what was removed."""
    containers, images = _containers(api), _passing(api)
    for container in containers:
        with suppress(NotFound):
            api.remove_container(container, force=True)
    for image in images:
        remove(api, image)
    return (*containers, *images)


def forget(api: APIClient, *, has: Callable[[Digest], bool]) -> tuple[str, ...]:
    """Remove the images of stored layers of which a layer is not stored any more; their names."""
    gone = tuple(
        name for name in _names(api, STORED) if not all(map(has, api.inspect_image(name)["RootFS"]["Layers"]))
    )
    for name in gone:
        remove(api, name)
    return gone


def _containers(api: APIClient) -> list[str]:
    found = api.containers(all=True, filters={"label": LABEL})
    return [each["Id"] for each in found if _is_dead(each.get("Labels", {}).get(OWNER, ""))]


def _passing(api: APIClient) -> list[str]:
    return [name for name in _names(api, PASSING) if _is_dead(name.rpartition(":")[2].rpartition("-")[0])]


def _is_dead(owner: str) -> bool:
    with suppress(ValueError):
        return is_dead(owner)
    return False


def _names(api: APIClient, repository: str) -> Iterable[str]:
    found = api.images(name=repository)
    return sorted(
        name for image in found for name in image.get("RepoTags") or () if name.startswith(f"{repository}:")
    )
