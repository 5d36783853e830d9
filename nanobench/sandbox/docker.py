"""The engine of a Docker daemon on this machine: the daemon's limits, and the same watch as the other engine's.

Compared with bubblewrap, CPUs, memory and processes are enforced by the kernel, not watched; the price is the daemon
(whoever may use it is root) and most of a second for every command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

from docker import APIClient
from docker.errors import DockerException
from requests import RequestException

from nanobench.errors import MachineFailure
from nanobench.sandbox import docker_leftovers
from nanobench.sandbox.cpus import Cpus
from nanobench.sandbox.diagnose import trial
from nanobench.sandbox.docker_account import Account
from nanobench.sandbox.docker_container import Container, container
from nanobench.sandbox.docker_daemon import Daemon, address_of
from nanobench.sandbox.docker_inside import CLOSED, NOWHERE, READY, command, container_document, misplaced
from nanobench.sandbox.docker_owner import LABEL, OWNER, this_process
from nanobench.sandbox.docker_stream import Stream
from nanobench.sandbox.interface import SANDBOX_UID, Ended, Finished, Request
from nanobench.sandbox.output import Outputs, outputs
from nanobench.sandbox.tree import give
from nanobench.sandbox.watch import Watch
from nanobench.store.store import Store

START_SECONDS = 120

_KILLED = 137
_FAULTS = {NOWHERE: 127, CLOSED: 126}
_LOOK = "nanobench doctor tries it again and says what it finds; --engine bubblewrap needs no daemon"


class Docker:
    """Runs requests in containers. See :class:`~.interface.Engine`.

    Args:
        store: where the layers are that unpacked trees come from.
        address: the daemon's unix socket; ``$DOCKER_HOST``'s or the usual one without.
    """

    name = "docker"

    def __init__(self, store: Store, *, address: str | None = None) -> None:
        self._cpus = Cpus()
        self._store = store
        self._daemon = Daemon(address_of(os.environ) if address is None else address, store)
        self._stopped = False

    def run(self, request: Request) -> Finished:
        """Run the request to its end; see :meth:`.interface.Engine.run`."""
        target = misplaced(request)
        if target is not None:
            raise _failure(request, f"the image has no {target} to mount on")
        uid = SANDBOX_UID if os.geteuid() == 0 else None
        try:
            with (
                outputs(request, uid) as files,
                self._cpus.take(request.limits.cpus) as cpus,
                self._box(request, cpus) as box,
            ):
                return self._follow(request, box, files, cpus)
        except (DockerException, RequestException) as error:
            raise _failure(request, f"the Docker daemon said: {_words(error)}") from error

    def own(self, path: Path) -> None:
        """Give the tree to user 1000 of this host, who is user 1000 in a container too."""
        if os.geteuid() == 0:
            give(path, SANDBOX_UID)

    def stop(self) -> None:
        """End every run of this engine, now and from now on."""
        self._stopped = True

    def check(self) -> tuple[str, ...]:
        """Ask the daemon, then try it: start a sandbox with this machine's own programs."""
        problems = self._daemon.problems(os.geteuid())
        if problems:
            return problems
        try:
            with trial() as request:
                self.own(request.layers[0].parent)
                finished = self.run(request)
                said = request.stderr.read_text(errors="replace")[-500:].strip()
                return () if finished.exit_code == 0 else (f"a container started but failed: {said}",)
        except MachineFailure as failure:
            return (f"{failure.message} → {failure.hint}",)

    def leftovers(self) -> tuple[str, ...]:
        """What killed runs left at the daemon; nothing when none answers."""
        return self._ask(docker_leftovers.leftovers)

    def sweep(self) -> tuple[str, ...]:
        """Remove what killed runs left at the daemon; what was removed."""
        return self._ask(docker_leftovers.sweep)

    def forget(self) -> tuple[str, ...]:
        """Remove loaded images of layers that are no longer in the store; their names."""
        return self._ask(partial(docker_leftovers.forget, has=self._store.has))

    def _ask(self, question: Callable[[APIClient], tuple[str, ...]]) -> tuple[str, ...]:
        return () if self._daemon.problems(os.geteuid()) else question(self._daemon.connect().api)

    @contextmanager
    def _box(self, request: Request, cpus: frozenset[int]) -> Iterator[Container]:
        """A container of the request's image, CPUs and mounts, in which nothing runs yet."""
        labels = {LABEL: "sandbox", OWNER: this_process(), f"{LABEL}.phase": request.phase}
        daemon = self._daemon.connect()
        with ExitStack() as stack:
            image = stack.enter_context(daemon.images.image(request.layers))
            document = container_document(request, image, cpus=cpus, labels=labels)
            yield stack.enter_context(container(daemon.api, self._daemon.address, document))

    def _follow(self, request: Request, box: Container, files: Outputs, cpus: frozenset[int]) -> Finished:
        account = Account(box.pid)
        with closing(box.begin(command(request))) as stream:
            word = _first_word(stream)
            if word in _FAULTS:
                return Finished(
                    exit_code=_FAULTS[word], ended=Ended.EXITED, wall_ms=0, weak=self._daemon.connect().weak
                )
            if word != READY:
                raise _failure(request, stream.said or f"it was not there after {START_SECONDS} seconds")
            with closing(Watch(request, box.pid, files, cpus)) as watch:
                stopped = None
                while not (ended := stream.ended(watch.pause)) and stopped is None:
                    stopped = self._look(watch, account)
                account.look()
                exit_code = box.exit_code() if ended else _KILLED
                box.kill()
                return self._finished(request, exit_code, watch, account, stopped or self._late(watch, account))

    def _look(self, watch: Watch, account: Account) -> Ended | None:
        """The limit that is exceeded now. The kernel ends one process for want of memory; we end all."""
        if self._stopped:
            return Ended.INTERRUPTED
        return Ended.MEMORY if account.look() else watch.look()

    def _late(self, watch: Watch, account: Account) -> Ended:
        return Ended.MEMORY if account.killed else watch.last() or Ended.EXITED

    def _finished(self, request: Request, code: int, watch: Watch, account: Account, ended: Ended) -> Finished:
        peak, wall_ms = watch.peak >> 20, watch.wall_ms
        return Finished(
            exit_code=code,
            ended=ended,
            starved=watch.starved() if ended is Ended.TIME else None,
            wall_ms=wall_ms,
            cpu_ms=watch.cpu_ms if account.cpu_ms is None else account.cpu_ms,
            peak_mib=max(peak, request.limits.memory_mib) if account.killed else peak,
            weak=self._daemon.connect().weak,
        )


def _first_word(stream: Stream) -> str:
    """What the shell before the command says (complaints apart); empty when it says nothing in time."""
    until = monotonic() + START_SECONDS
    word, over = "", False
    while not word and not over:
        over = stream.ended(until - monotonic()) or monotonic() > until
        word = next((line for line in stream.said.splitlines() if line == READY or line in _FAULTS), "")
    return word


def _failure(request: Request, reason: str) -> MachineFailure:
    message = f"the sandbox did not start: {reason}"
    return MachineFailure("NB_ENGINE", message, where=f"sandbox: {request.phase}", hint=_LOOK)


def _words(error: Exception) -> str:
    return str(getattr(error, "explanation", None) or error).strip()[-1000:]
