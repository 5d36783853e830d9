"""Whatever becomes of a runner, no container outlives it; what can be left is found by its dead owner."""

from __future__ import annotations

import os
import pickle
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nanobench.sandbox.diagnose import host_layer
from nanobench.sandbox.docker import Docker
from nanobench.sandbox.docker_images import PASSING, Images
from nanobench.sandbox.docker_owner import LABEL, OWNER, is_dead, this_process
from nanobench.sandbox.interface import Mount, Request, SandboxLimits
from nanobench.store.store import Store

RUNNER = """
import pickle, sys
from pathlib import Path
from nanobench.sandbox.docker import Docker
from nanobench.store.store import Store
Docker(Store(Path(sys.argv[2])), address=sys.argv[1]).run(pickle.loads(bytes.fromhex(sys.argv[3])))
"""


@pytest.fixture(scope="module")
def api(docker: Docker) -> Any:
    return docker._daemon.connect().api


@pytest.fixture
def dead() -> str:
    """The name of a process that is no more."""
    process = subprocess.Popen(["true"])
    pid, mine = process.pid, this_process().split("-")
    process.wait()
    return "-".join([*mine[:2], str(pid), mine[3]])


@pytest.fixture
def created(api: Any, docker: Docker, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A container that was never started, of this owner."""
    (tmp_path / "layer").mkdir()
    made = []
    with docker._daemon.connect().images.image((tmp_path / "layer",)) as image:

        def create(owner: str) -> str:
            document = {"Image": image, "Cmd": ["true"], "Labels": {LABEL: "sandbox", OWNER: owner}}
            made.append(str(api.create_container_from_config(document)["Id"]))
            return made[-1]

        yield create
        for container in {each["Id"] for each in api.containers(all=True)} & set(made):
            api.remove_container(container)


def test_a_container_of_a_dead_owner_is_found_and_removed(
    docker: Docker, created: Callable[[str], str], dead: str
) -> None:
    lost, ours = created(dead), created(this_process())
    assert docker.leftovers() == (lost,)
    assert docker.sweep() == (lost,)
    assert docker.leftovers() == ()
    assert ours in {each["Id"] for each in docker._daemon.connect().api.containers(all=True)}


def test_containers_of_others_are_left_alone(docker: Docker, created: Callable[[str], str]) -> None:
    created("")
    created("somebody else's own words")
    assert docker.leftovers() == ()


def test_the_image_of_a_dead_owners_directories_is_found_and_removed(
    docker: Docker, api: Any, tmp_path: Path, dead: str
) -> None:
    (tmp_path / "plain").mkdir()
    with Images(api, Store(tmp_path / "store")).image((tmp_path / "plain",)) as identity:
        api.tag(identity, PASSING, f"{dead}-0123")
    assert docker.sweep() == (f"{PASSING}:{dead}-0123",)
    assert api.images(name=PASSING) == []


def test_a_restart_kills_every_owner_and_another_namespace_hides_them() -> None:
    boot, namespace, pid, began = this_process().split("-")
    assert not is_dead(this_process())
    assert is_dead("-".join(("0" * 16, namespace, pid, began)))
    assert is_dead("-".join((boot, namespace, pid, "1")))
    assert not is_dead("-".join((boot, "1", pid, "1")))


def test_a_container_ends_with_its_killed_runner(docker: Docker, api: Any, tmp_path: Path) -> None:
    """``kill -9``: the daemon closes the input of process 1, and it, and with it all others, ends."""
    layer, mounts = host_layer(tmp_path / "layer")
    there = tmp_path / "there"
    os.mkfifo(there)
    docker.own(there)
    request = Request(
        layers=(layer,),
        argv=("sh", "-c", "trap '' TERM HUP; setsid sleep 1000 & echo > /nanobench/there; sleep 1000"),
        limits=SandboxLimits(cpus=1, memory_mib=256, pids=32, disk_mib=64, seconds=900),
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
        cwd="/",
        mounts=(*mounts, Mount(source=there, target="/nanobench/there", writable=True)),
    )
    arguments = (docker._daemon.address, str(tmp_path / "store"), pickle.dumps(request).hex())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen([sys.executable, "-c", RUNNER, *arguments], env=environment) as runner:
        reader = os.open(there, os.O_RDONLY | os.O_NONBLOCK)
        assert select.select([reader], [], [], 60)[0], "the command did not come so far"
        os.close(reader)
        (container,) = api.containers()
        runner.kill()
    ended = next(
        event
        for event in api.events(decode=True, since=0, filters={"container": container["Id"], "event": "destroy"})
    )
    assert ended["id"] == container["Id"]
    assert api.containers(all=True) == []
    assert len(docker.sweep()) == 1  # the image of plain directories
