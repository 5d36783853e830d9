"""An aiohttp application served from a thread of its own, with an event loop of its own, until it is closed."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from aiohttp import web

_GRACE_SECONDS = 0.2
_TURNS_TO_ACCEPT = 4
"""Turns of the loop after which an accepted connection is known to the runner, which closes it."""


class ServingThread:
    """Serves ``application()`` on a listening socket from construction to :meth:`close`.

    The factory runs inside the loop, so that what it makes may belong to it. A client that hangs up cancels its
    handler. ``close`` cancels what still runs after a short grace, and returns when thread and socket are gone.
    """

    def __init__(
        self, application: Callable[[], Awaitable[web.Application]], listening: socket.socket, *, name: str
    ) -> None:
        self._application, self._listening = application, listening
        self._started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._loop, self._stop = self._started.result()

    def close(self) -> None:
        """Stop serving and wait for the thread."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._started.done():
                raise
            self._started.set_exception(error)
        finally:
            self._listening.close()

    async def _serve(self) -> None:
        stop = asyncio.Event()
        runner = web.AppRunner(
            await self._application(),
            handler_cancellation=True,
            access_log=None,
            shutdown_timeout=_GRACE_SECONDS,
        )
        await runner.setup()
        try:
            await web.SockSite(runner, self._listening).start()
            self._started.set_result((asyncio.get_running_loop(), stop))
            await stop.wait()
            await self._stop_accepting()
        finally:
            await runner.cleanup()

    async def _stop_accepting(self) -> None:
        """Let the last accepted connections become known before the server closes: asyncio leaks them otherwise."""
        asyncio.get_running_loop().remove_reader(self._listening)
        for _ in range(_TURNS_TO_ACCEPT):
            await asyncio.sleep(0)
