"""The way of one request: from the sandbox to the provider and, as it arrives, back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import aiohttp
from aiohttp import web
from attrs import evolve

from nanobench.gateway.client import fault_of, open_session, proxy_for
from nanobench.gateway.dialects import DIALECTS, is_asked
from nanobench.gateway.exchange import Fault
from nanobench.gateway.recorder import Draft, Recorder
from nanobench.gateway.redact import Redactor
from nanobench.gateway.request import ChatRequest, changes, not_forwarded, read_request, refused, sent
from nanobench.gateway.upstream import Bounds, Pins, Upstream
from nanobench.model.fields import Document

_PASSED_HEADERS = ("Content-Type", "Retry-After", "Retry-After-Ms")
_KEPT_OF_MALFORMED = 64 << 10


class Relay:
    """Answers every request that comes through the socket of one run."""

    def __init__(self, upstream: Upstream, pins: Pins, bounds: Bounds, recorder: Recorder) -> None:
        self._upstream, self._pins, self._bounds, self._recorder = upstream, pins, bounds, recorder
        self._capped = True
        self._dialect = DIALECTS[upstream.kind]
        self._url = upstream.base_url + self._dialect.endpoint
        self._places = asyncio.Semaphore(1 if recorder.meter.budget.counts else bounds.parallel)
        self._session = open_session(bounds)

    async def close(self, _: web.Application) -> None:
        """Close the client's connections."""
        await self._session.close()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one request, a bounded number at a time."""
        work = partial(self._serve, request)
        async with self._places:
            while True:
                try:
                    return await self._recorded(request, work)
                except _ChangeRefused as refusal:
                    work = partial(self._again, request, refusal.draft)

    async def _recorded(
        self, request: web.Request, work: Callable[[Draft], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        draft = self._recorder.begin(Redactor(self._upstream.key))
        draft.received(request)
        try:
            return await work(draft)
        except asyncio.CancelledError:
            draft.fail(Fault.ABANDONED, "the client hung up")
            raise
        finally:
            self._recorder.end(draft)

    async def _serve(self, request: web.Request, draft: Draft) -> web.StreamResponse:
        if reason := self._recorder.exhausted():
            return self._own_answer(draft, 400, Fault.LIMIT, reason)
        if not is_asked(self._dialect, request.method, request.path):
            return self._own_answer(draft, 404, Fault.ENDPOINT, f"only POST …{self._dialect.endpoint} is forwarded")
        try:
            draft.request = await request.read()
        except web.HTTPRequestEntityTooLarge:
            limit = self._bounds.request_bytes
            return self._own_answer(draft, 413, Fault.REQUEST_TOO_LARGE, f"a request may have {limit} bytes")
        except web.RequestPayloadError:
            return self._own_answer(draft, 400, Fault.MALFORMED, "the request's body is not what its headers say")
        return await self._forward(request, draft)

    async def _forward(self, request: web.Request, draft: Draft) -> web.StreamResponse:
        chat = read_request(draft.request)
        if chat is None:
            draft.request = draft.request[:_KEPT_OF_MALFORMED]
            return self._own_answer(draft, 400, Fault.MALFORMED, "the request is not a JSON object")
        if self._pins.model is not None and chat.body.get("model") != self._pins.model:
            return self._own_answer(draft, 400, Fault.MODEL, f"only the model {self._pins.model} is asked")
        if strange := not_forwarded(chat, self._dialect.keys, self._dialect.tools):
            return self._own_answer(draft, 400, Fault.FEATURE, f"not forwarded: {', '.join(strange)[:500]}")
        if spent := self._recorder.spent():
            return self._ended(draft, chat, *spent)
        draft.stream, draft.tools, draft.changes = chat.stream, chat.tools, self._changes(chat)
        try:
            answer = await self._session.post(
                self._url,
                data=sent(chat, draft.changes),
                headers=self._headers(request),
                allow_redirects=False,
                proxy=proxy_for(self._url),
            )
        except (aiohttp.ClientError, TimeoutError) as error:
            fault, detail = fault_of(error)
            return self._own_answer(draft, 504 if fault is Fault.TIMEOUT else 502, fault, detail)
        async with answer:
            draft.status = answer.status
            draft.content_type = draft.redactor.text(answer.headers.get("Content-Type", ""))
            if answer.status == 400:
                return await self._bad_request(draft, answer, chat.body)
            return await self._pass_on(request, draft, answer)

    def _changes(self, chat: ChatRequest) -> Document:
        left = self._recorder.meter.left() if self._capped else None
        return changes(chat, self._pins, self._dialect.additions(stream=chat.stream), left=left)

    def _headers(self, request: web.Request) -> dict[str, str]:
        kept = {name: request.headers[name] for name in self._dialect.headers if name in request.headers}
        return {
            **kept,
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": request.headers.get("User-Agent", "nanobench"),
            **(self._dialect.authorization(self._upstream.key) if self._upstream.key else {}),
        }

    async def _pass_on(
        self, request: web.Request, draft: Draft, answer: aiohttp.ClientResponse
    ) -> web.StreamResponse:
        """Every chunk goes on when it arrives. A stream that breaks there breaks here too: no false clean end."""
        headers = {n: draft.redactor.text(answer.headers[n]) for n in _PASSED_HEADERS if n in answer.headers}
        response = web.StreamResponse(status=answer.status, headers=headers)
        try:
            await response.prepare(request)
            while data := await self._next(draft, answer):
                await response.write(data)
            if draft.fault is None:
                await response.write_eof()
        except ConnectionError:
            draft.fail(Fault.ABANDONED, "the client hung up")
        if draft.fault is not None and request.transport is not None:
            request.transport.close()
        return response

    async def _next(self, draft: Draft, answer: aiohttp.ClientResponse) -> bytes:
        """The next bytes without the key, recorded; empty at the end or after a fault."""
        clean = b""
        while not clean:
            try:
                data = await answer.content.readany()
            except (aiohttp.ClientError, TimeoutError) as error:
                draft.fail(*fault_of(error))
                return b""
            clean = draft.redactor.feed(data) if data else draft.redactor.end()
            if not data and not clean:
                return b""
        draft.chunk(clean)
        if draft.size > self._bounds.answer_bytes:
            draft.fail(Fault.ANSWER_TOO_LARGE, f"the answer has more than {self._bounds.answer_bytes} bytes")
            return b""
        return clean

    async def _bad_request(self, draft: Draft, answer: aiohttp.ClientResponse, asked: Document) -> web.StreamResponse:
        """Read a refusal whole, to know whether it is about a change of ours; if not, it goes on as it is."""
        body = b""
        while data := await self._next(draft, answer):
            body += data
        if draft.fault is not None:
            return self._plain(502, draft.detail, draft.fault)
        fault = refused(self._dialect.read(draft.content_type or "", body).error, asked, draft.changes)
        if fault is not None:
            draft.fail(fault, f"the provider takes no {fault.value} as we set it")
            raise _ChangeRefused(draft)
        return web.Response(status=answer.status, body=body, headers={"Content-Type": draft.content_type or ""})

    async def _again(self, request: web.Request, first: Draft, draft: Draft) -> web.StreamResponse:
        """Ask once more without what was refused, and from now on. The client sees only this answer."""
        if first.fault is Fault.TEMPERATURE:
            self._pins = evolve(self._pins, temperature=None)
        else:
            self._capped = False
        draft.request = first.request
        return await self._forward(request, draft)

    def _ended(self, draft: Draft, chat: ChatRequest, fault: Fault, detail: str) -> web.Response:
        """A budget ends a run in peace; a context that is full is what a client has to cope with, as elsewhere."""
        draft.stream, draft.tools = chat.stream, chat.tools
        if fault is Fault.CONTEXT:
            return self._own_answer(draft, 400, fault, detail)
        return self._closing(draft, chat, fault, detail)

    def _closing(self, draft: Draft, chat: ChatRequest, fault: Fault, detail: str) -> web.Response:
        """A last message in the model's place: an error would cost the agent its report."""
        draft.fail(fault, detail)
        words = f"[NanoBench, not the model] This run has used up a budget: {detail}. It ends here."
        kind = "text/event-stream" if chat.stream else "application/json"
        body = self._dialect.closing(words, stream=chat.stream)
        return web.Response(body=body, headers={"Content-Type": kind})

    def _own_answer(self, draft: Draft, status: int, fault: Fault, message: str) -> web.Response:
        draft.fail(fault, message)
        return self._plain(status, message, fault)

    def _plain(self, status: int, message: str, fault: Fault) -> web.Response:
        return web.json_response(self._dialect.error(f"gateway: {message}", str(fault)), status=status)


class _ChangeRefused(Exception):
    """The provider refused what we set in a request; ``draft`` is the refused exchange."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
