"""One container: made, held by the runner's connection, and gone at the end of the block however that comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from time import monotonic, sleep
from typing import Any

from docker import APIClient
from docker.errors import APIError, NotFound

from nanobench.errors import MachineFailure
from nanobench.sandbox.docker_stream import Stream, hijack

_PATIENCE = 30  # seconds that a killed container may take to vanish
_PAUSE = 0.02
_CONFLICT = 409


class Container:
    """A running container. ``pid`` is its process 1 on this host."""

    def __init__(self, api: APIClient, address: str, identity: str) -> None:
        self._api, self._address, self._identity = api, address, identity
        self._exec = ""
        self.pid: int = api.inspect_container(identity)["State"]["Pid"]

    def begin(self, command: list[str]) -> Stream:
        """Start a command in it; the stream is what the command says, and ends with it."""
        self._exec = self._api.exec_create(self._identity, command)["Id"]
        url = f"/v{self._api.api_version}/exec/{self._exec}/start"
        return hijack(self._address, url, {"Detach": False, "Tty": False})

    def exit_code(self) -> int:
        """The exit code of the command that has ended; that of a killed one when the container is gone with it."""
        until = monotonic() + _PATIENCE
        with suppress(NotFound):
            while monotonic() < until:
                state = self._api.exec_inspect(self._exec)
                if not state["Running"] and state["ExitCode"] is not None:
                    return int(state["ExitCode"])
                sleep(_PAUSE)
        return 137

    def kill(self) -> None:
        """End all that runs in it, and wait for that."""
        with suppress(NotFound):
            try:
                self._api.kill(self._identity, "SIGKILL")
            except APIError as error:
                if error.status_code != _CONFLICT:  # it has ended already
                    raise


@contextmanager
def container(api: APIClient, address: str, document: dict[str, Any]) -> Iterator[Container]:
    """A running container as ``document`` says. ``address`` is the daemon's socket."""
    identity: str = api.create_container_from_config(document)["Id"]
    try:
        url = f"/v{api.api_version}/containers/{identity}/attach?stream=1&stdin=1"
        with closing(hijack(address, url, {})):
            api.start(identity)
            yield Container(api, address, identity)
    finally:
        _remove(api, identity)


def _remove(api: APIClient, identity: str) -> None:
    """Remove it; the daemon may be about it already."""
    until = monotonic() + _PATIENCE
    with suppress(NotFound):
        while monotonic() < until:
            try:
                api.remove_container(identity, force=True, v=True)
            except APIError as error:
                if error.status_code != _CONFLICT:
                    raise
            sleep(_PAUSE)
            api.inspect_container(identity)
        raise MachineFailure("NB_ENGINE", f"a container stays after {_PATIENCE} seconds", where=identity)
