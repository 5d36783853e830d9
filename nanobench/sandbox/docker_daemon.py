"""The Docker daemon of this machine: is it there, may we use it, and what can it not do?"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen
from docker import APIClient
from docker.errors import DockerException
from requests import RequestException

from nanobench.sandbox.docker_images import Images
from nanobench.sandbox.interface import SANDBOX_UID
from nanobench.store.store import Store

USUAL = "/var/run/docker.sock"
_SCHEME = "unix://"
_TIMEOUT = 600  # seconds that the daemon may be silent, as when it unpacks a large layer on a slow disk

REMOTE = (
    "DOCKER_HOST={} is not a unix socket of this machine, and a container elsewhere cannot mount workspaces of here: "
    "unset DOCKER_HOST"
)
ABSENT = "no Docker daemon listens at {}: install and start one (systemctl start docker), or use bubblewrap"
CLOSED = (
    "the Docker daemon's socket {} is closed to this user: run as root, or as a member of the group docker (which is "
    "as good as root), or use bubblewrap, which needs neither"
)
NOT_LINUX = "the Docker daemon runs {} containers, not Linux ones: switch it over"
MAPPED = (
    "the Docker daemon maps users ({}), so that user 1000 of a container is nobody who could be given a workspace: "
    "use a daemon without, or bubblewrap, which needs no root either"
)
OTHER_USER = (
    "user {} cannot give workspaces to user 1000, who works in the container: run as root or as user 1000, or use "
    "bubblewrap"
)


@frozen(kw_only=True)
class Connected:
    """A daemon that answered: its API, its images, and the limits that it can only watch or not keep at all."""

    api: APIClient
    images: Images
    weak: tuple[str, ...]


class Daemon:
    """The daemon at ``address``, contacted when it is first needed."""

    def __init__(self, address: str, store: Store) -> None:
        self.address = address.removeprefix(_SCHEME)
        self._store, self._lock = store, threading.Lock()
        self._known: Connected | None = None

    def connect(self) -> Connected:
        """The daemon, contacted once. Raises DockerException when it does not answer."""
        with self._lock:
            if self._known is None:
                reach(self.address)
                api = APIClient(base_url=_SCHEME + self.address, version="auto", timeout=_TIMEOUT)
                swaps = len(Path("/proc/swaps").read_text().splitlines()) > 1
                self._known = Connected(api=api, images=Images(api, self._store), weak=weak(api.info(), swaps=swaps))
            return self._known

    def problems(self, uid: int) -> tuple[str, ...]:
        """What keeps the user ``uid`` of this host from using it, each with its remedy."""
        if "://" in self.address:
            return (REMOTE.format(self.address),)
        try:
            return unsuitable(self.connect().api.info(), uid)
        except (DockerException, RequestException) as error:
            return (str(error),)


def address_of(env: Mapping[str, str]) -> str:
    """Where the daemon listens, by the environment."""
    return env.get("DOCKER_HOST") or USUAL


def reach(address: str) -> None:
    """Raises DockerException with what helps when nothing listens there for us (the SDK would leak a socket)."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
        except OSError as error:
            words = CLOSED if isinstance(error, PermissionError) else ABSENT
            raise DockerException(words.format(address)) from error


def unsuitable(info: Mapping[str, Any], uid: int) -> tuple[str, ...]:
    """What about a daemon that answered keeps us from using it."""
    mapped = [kind for kind in ("rootless", "userns") if any(kind in each for each in info["SecurityOptions"] or ())]
    problems = {
        NOT_LINUX.format(info["OSType"]): info["OSType"] != "linux",
        MAPPED.format(", ".join(mapped)): bool(mapped),
        OTHER_USER.format(uid): uid not in (0, SANDBOX_UID),
    }
    return tuple(words for words, holds in problems.items() if holds)


def weak(info: Mapping[str, Any], *, swaps: bool) -> tuple[str, ...]:
    """The limits that the kernel does not keep here: disk is always watched; with swap space, memory may spill."""
    lacking = {
        "cpus": not info["CPUSet"],
        "disk": True,
        "memory": not info["MemoryLimit"] or (swaps and not info["SwapLimit"]),
        "pids": not info["PidsLimit"],
        "system calls": not any("name=seccomp" in each for each in info["SecurityOptions"] or ()),
    }
    return tuple(name for name, holds in lacking.items() if holds)
