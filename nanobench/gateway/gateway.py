"""One gateway for one attempt at a cell: a unix socket for the sandbox, a transcript for everybody else."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from types import TracebackType

from aiohttp import web

from nanobench.errors import MachineFailure
from nanobench.gateway.budget import Budget, Meter
from nanobench.gateway.exchange import Exchange
from nanobench.gateway.forwarder import FORWARDER, SOCKET
from nanobench.gateway.recorder import Recorder
from nanobench.gateway.relay import Relay
from nanobench.gateway.serving import ServingThread
from nanobench.gateway.summary import Summary, summarise
from nanobench.gateway.transcript import Transcript, read_transcript
from nanobench.gateway.upstream import Bounds, Pins, Upstream


class Gateway:
    """Serves while its ``with`` block runs; :meth:`summary` answers afterwards.

    Args:
        upstream: the provider, with its key.
        directory: made if missing, for this gateway alone; mount it (read-only is enough) into the sandbox. It holds
            the socket and the forwarder script, and is open to the sandbox's uid whatever the umask.
        transcript: a new file, outside of what the sandbox sees.
        budget: what the run may use up; then the agent is told a last message and ends in peace.
    """

    def __init__(
        self,
        upstream: Upstream,
        *,
        directory: Path,
        transcript: Path,
        pins: Pins | None = None,
        bounds: Bounds | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.upstream, self.directory, self.transcript = upstream, directory, transcript
        self._pins, self._bounds, self._meter = pins or Pins(), bounds or Bounds(), Meter(budget or Budget())
        self._log: Transcript | None = None
        self._serving: ServingThread | None = None

    @property
    def socket(self) -> Path:
        """The unix socket, on the host."""
        return self.directory / SOCKET

    def __enter__(self) -> Gateway:
        self._log = Transcript(self.transcript)
        try:
            self._furnish()
            application = partial(self._application, Recorder(self._log, self._bounds, self._meter))
            self._serving = ServingThread(application, _listen(self.socket), name="nanobench-gateway")
        except OSError as error:
            self.close()
            raise MachineFailure(
                "NB_GATEWAY", f"the gateway's socket cannot be made: {error}", where=str(self.directory)
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Break off what still runs, remove the socket, bring the transcript to the disk. A second call does nothing.

        Raises:
            MachineFailure: ``NB_TRANSCRIPT`` when an exchange could not be recorded.
        """
        serving, self._serving = self._serving, None
        log, self._log = self._log, None
        if serving is not None:
            serving.close()
        self.socket.unlink(missing_ok=True)
        if log is not None:
            log.close()

    def summary(self) -> Summary:
        """The run in figures, read from the transcript: what a stranger computes from it too."""
        return summarise(self.exchanges(), self._pins)

    def exchanges(self) -> Iterator[Exchange]:
        """Every exchange so far, read from the transcript."""
        return read_transcript(self.transcript)

    def _furnish(self) -> None:
        self.directory.mkdir(exist_ok=True)
        self.directory.chmod(0o755)
        with as_file(files("nanobench.gateway") / FORWARDER) as script:
            shutil.copyfile(script, self.directory / FORWARDER)
        (self.directory / FORWARDER).chmod(0o644)

    async def _application(self, recorder: Recorder) -> web.Application:
        relay = Relay(self.upstream, self._pins, self._bounds, recorder)
        application = web.Application(client_max_size=self._bounds.request_bytes)
        application.router.add_route("*", "/{path:.*}", relay.handle)
        application.on_cleanup.append(relay.close)
        return application


def _listen(path: Path) -> socket.socket:
    """A listening unix socket, bound through its directory's descriptor: paths over 107 bytes work too."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listening.bind(f"/proc/self/fd/{directory}/{path.name}")
        path.chmod(0o666)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    finally:
        os.close(directory)
    return listening
