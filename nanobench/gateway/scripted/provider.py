"""A scripted provider: an OpenAI-compatible server on a loopback port of its own."""

from __future__ import annotations

import socket
from types import TracebackType

from aiohttp import web

from nanobench.formats import json
from nanobench.gateway.scripted.reply import Failure, Reply, Script, events, turn_of
from nanobench.gateway.serving import ServingThread
from nanobench.gateway.upstream import Upstream
from nanobench.model.fields import Document

_MAX_REQUEST = 64 << 20
_AT_ONCE = {"retry-after-ms": "1"}
"""A client that asks again does so without waiting."""


class ScriptedProvider:
    """Serves one script while its ``with`` block runs; :attr:`upstream` is where. Many may run side by side."""

    def __init__(self, name: str, script: Script) -> None:
        self._name, self._script = name, script

    def __enter__(self) -> ScriptedProvider:
        listening = socket.create_server(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        self.upstream = Upstream(name=self._name, base_url=f"http://127.0.0.1:{port}/v1")
        self._serving = ServingThread(self._application, listening, name=f"nanobench-{self._name}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._serving.close()

    async def _application(self) -> web.Application:
        application = web.Application(client_max_size=_MAX_REQUEST)
        application.router.add_post("/v1/chat/completions", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            asked = json.foreign(await request.read())
            messages = tuple(asked["messages"])
            if asked.get("stream") is not True or not all(isinstance(message, dict) for message in messages):
                raise ValueError("only streams are answered, and messages are objects")
        except (ValueError, LookupError, TypeError) as error:
            return web.json_response({"error": {"message": str(error), "type": "invalid_request_error"}}, status=400)
        reply = self._script(messages)
        if isinstance(reply, Failure):
            return web.json_response({"error": reply.error}, status=reply.status, headers=_AT_ONCE)
        return await _stream(request, reply, asked, turn_of(messages))


async def _stream(request: web.Request, reply: Reply, asked: Document, turn: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events(reply, asked, turn=turn):
        await response.write(event)
    if reply.cut and request.transport is not None:
        request.transport.close()
    else:
        await response.write_eof()
    return response
