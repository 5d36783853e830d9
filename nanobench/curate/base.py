"""From the base that an environment asks for to what pins it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import PurePosixPath

from nanobench.ecosystems import debian, devcontainer, image
from nanobench.ecosystems.base import Resolution
from nanobench.ecosystems.devcontainer import Build
from nanobench.ecosystems.online import Online
from nanobench.errors import MachineFailure, Refused
from nanobench.formats.digest import split
from nanobench.image.layers import pack
from nanobench.image.workbench import Workbench
from nanobench.model.environment import DebianBase, DevcontainerBase, DockerfileBase, Environment, ImageBase
from nanobench.model.lock import Package
from nanobench.project.context import refuse_links
from nanobench.project.files import Spec


def resolve_base(spec: Spec[Environment], *, online: Online, bench: Workbench) -> Resolution:
    """What the base is now. An image or layer that Docker built is captured: in the store from now on.

    Raises:
        Refused, CannotTell: what resolving, building and capturing raise.
        MachineFailure: ``NB_DOCKER`` when a Dockerfile has to be built and no Docker daemon answers.
    """
    base, where = spec.value.base, f"environments/{spec.value.name}.toml: base"
    if isinstance(base, DebianBase):
        bench.say(f"resolving Debian {base.debian}")
        with bench.store.scratch("resolve") as work:
            return debian.resolve(base, online=online, work=work / "apt")
    if isinstance(base, ImageBase):
        return _image(base.image, online, bench, where)
    if isinstance(base, DockerfileBase):
        path = PurePosixPath(base.dockerfile)
        return _captured(spec, Build(dockerfile=path, context=path.parent), base.date, bench)
    return _devcontainer(spec, base, online, bench, where)


def _image(reference: str, online: Online, bench: Workbench, where: str) -> Resolution:
    bench.say(f"resolving the image {reference}")
    return image.resolve(reference, store=bench.store, online=online, where=where)


def _devcontainer(
    spec: Spec[Environment], base: DevcontainerBase, online: Online, bench: Workbench, where: str
) -> Resolution:
    path = PurePosixPath(base.devcontainer)
    with (spec.path.parent / path).open("rb") as file:
        asked = devcontainer.read(
            file.read(devcontainer.MAX_BYTES + 1), path, where=f"environments/{base.devcontainer}"
        )
    if asked.unheard:
        bench.say(f"environments/{base.devcontainer}: not taken over: {', '.join(asked.unheard)}")
    if asked.image is not None:
        return _image(asked.image, online, bench, where)
    assert asked.build is not None
    if base.date is None:
        hint = 'state date = "YYYY-MM-DD" under [base]: the time of all that the build writes'
        raise Refused("NB_DEVCONTAINER", "its build needs a date", where=where, hint=hint)
    return _captured(spec, asked.build, base.date, bench)


def _captured(spec: Spec[Environment], build: Build, date: str, bench: Workbench) -> Resolution:
    from docker.errors import DockerException  # slow to load, and few environments need it

    from nanobench.ecosystems.dockerfile import capture
    from nanobench.sandbox.docker_daemon import Daemon, address_of

    where, name = f"environments/{build.dockerfile}", spec.value.name
    refuse_links(spec, build.dockerfile, build.context)
    epoch = _epoch(date, where)
    bench.say(f"building {where} with Docker")
    try:
        api = Daemon(address_of(os.environ), bench.store).connect().api
    except DockerException as error:
        hint = "only locking needs Docker; what is locked is built and run without"
        raise MachineFailure(
            "NB_DOCKER", f"a Dockerfile is built by Docker: {error}", where=where, hint=hint
        ) from None
    with bench.store.scratch("capture") as scratch:
        made = capture(build, spec.path.parent, api, scratch, epoch=epoch, say=bench.say, where=where)
        packed = pack(bench.store, made.entries, epoch=epoch)
    layer = Package(
        purl=f"pkg:generic/{name}@{split(packed.diff_id)[1]}",
        role="captured",
        path=f"{name}.tar",
        digest=packed.diff_id,
        size=packed.size,
    )
    return Resolution(packages=(layer,), source_date_epoch=epoch)


def _epoch(date: str, where: str) -> int:
    """The seconds of a past day: what the build writes is later, and gets this time."""
    try:
        found = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        found = None
    if found is None or found > datetime.now(UTC) or found.year < 1980:
        raise Refused("NB_DATE", f"{date} is no day between 1980 and today", where=f"{where}: base.date")
    return int(found.timestamp())
