"""The permission to use the network: one HTTP client, bounded retries, and a record of every host contacted.

Offline is ``None`` in place of an :class:`Online`, so that nothing that must not connect holds a client at all.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

import httpx

from nanobench.ecosystems.hosts import Hosts
from nanobench.ecosystems.reasons import lasting, passing, reason, retry_after
from nanobench.ecosystems.registries import Registries, safe

T = TypeVar("T")

ATTEMPTS = 4
MAX_WAIT = 30.0
"""Seconds. A server that asks for a longer pause is treated as unreachable."""
GRACE, SLOWEST = 60.0, 4096
"""Seconds, and bytes a second: an answer that is slower than this on the whole, after the grace, is given up."""

_TIMEOUT = httpx.Timeout(60.0, connect=20.0)
_TRANSIENT = {408, 425, 429, 500, 502, 503, 504}


class Gone(Exception):
    """The server answered that there is no such file (404, 410)."""


class Unreachable(Exception):
    """No usable answer, after all attempts.

    ``again``: another attempt may help; ``wait`` is the pause a server asked for before it. ``lasting``: no other
    file of this host can be had either.
    """

    def __init__(
        self, message: str, *, again: bool = False, wait: float | None = None, lasting: bool = False
    ) -> None:
        super().__init__(message)
        self.again, self.wait, self.lasting = again, wait, lasting


class Online:
    """May use the network. The client is made at the first request; ``close`` or a ``with`` block ends it.

    Args:
        registries: where packages come from; this process's configuration by default.
        transport: what carries requests (tests put a simulated server here).
        sleep: how to wait between attempts.
        say: told of every attempt that failed and is made again (from several threads).
    """

    def __init__(
        self,
        registries: Registries | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.registries = registries or Registries()
        self._transport, self._sleep, self._say = transport, sleep, say
        self._client: httpx.Client | None = None
        self._hosts = Hosts()
        self._lock = threading.Lock()

    @property
    def contacted(self) -> tuple[str, ...]:
        """Every host that was contacted, sorted; by programs that we ran too, as far as they were noted."""
        return self._hosts.contacted

    def note(self, url: str) -> None:
        """Record that ``url``'s host is contacted (by apt, uv or npm, which do not go through our client)."""
        self._hosts.note(url)

    def get(
        self, url: str, *, limit: int, accept: str = "*/*", headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """The whole answer, of at most ``limit`` bytes after decoding, with retries.

        Raises:
            Gone, Unreachable: as their docstrings say.
        """

        def once() -> httpx.Response:
            with self.stream(url, headers={"Accept": accept, **(headers or {})}) as response:
                body = bytearray()
                for chunk in self.paced(response.iter_bytes(), url):
                    body += chunk
                    if len(body) > limit:
                        raise Unreachable(f"{safe(url)}: more than {limit} bytes")
                # The body is decoded already: its headers about the coding no longer hold.
                kept = [(k, v) for k, v in response.headers.multi_items() if k.lower() != "content-encoding"]
                return httpx.Response(200, headers=kept, content=bytes(body), request=response.request)

        return self.retrying(url, once)

    def challenge(self, url: str) -> str | None:
        """What the server wants to be shown before it answers (its ``WWW-Authenticate``); None when it wants nothing.

        Raises:
            Gone, Unreachable: as :meth:`get`.
        """

        def once() -> str | None:
            with self._answer(url, None) as response:
                if response.status_code == 401:
                    return str(response.headers.get("WWW-Authenticate", ""))
                _check_status(response, url)
                return None

        return self.retrying(url, once)

    def retrying(self, url: str, once: Callable[[], T]) -> T:
        """The result of ``once``, which gets ``url``, tried again a few times while it fails in a way that may pass.

        Nothing more is asked of a host that has failed lastingly, or for several files in a row.
        """
        for attempt in range(1, ATTEMPTS + 1):
            if (closed := self._hosts.closed(url)) is not None:
                raise Unreachable(f"{safe(url)}: not tried (again), for its host had failed: {closed}")
            try:
                result = once()
            except Unreachable as error:
                wait = min(0.5 * 2**attempt, MAX_WAIT) if error.wait is None else error.wait
                if not error.again or attempt == ATTEMPTS or wait > MAX_WAIT:
                    if error.again or error.lasting:
                        self._hosts.failed(url, str(error), lasting=error.lasting)
                    raise
                self._say(f"{error}; attempt {attempt + 1} of {ATTEMPTS} in {wait:.0f} s")
                self._sleep(wait)
            else:
                self._hosts.answered(url)
                return result
        raise AssertionError

    def paced(self, chunks: Iterable[bytes], url: str) -> Iterator[bytes]:
        """The ``chunks`` of an answer, as long as they come at :data:`SLOWEST` at least.

        Raises:
            Unreachable: when a server drips: no timeout of a single read would end that.
        """
        begun, received = time.monotonic(), 0
        for chunk in chunks:
            received += len(chunk)
            taken = time.monotonic() - begun
            if taken > GRACE + received / SLOWEST:
                raise Unreachable(f"{safe(url)}: too slow, {received} bytes in {taken:.0f} seconds", again=True)
            yield chunk

    @contextmanager
    def stream(self, url: str, *, headers: dict[str, str] | None = None) -> Iterator[httpx.Response]:
        """One GET whose answer is 200; its body has not been read yet. No retries.

        Raises:
            Gone, Unreachable: with a message that names the URL without credentials.
        """
        with self._answer(url, headers) as response:
            _check_status(response, url)
            yield response

    @contextmanager
    def _answer(self, url: str, headers: dict[str, str] | None) -> Iterator[httpx.Response]:
        """The answer to one GET, whatever its status."""
        try:
            with self._http().stream("GET", url, headers=headers) as response:
                yield response
        except (httpx.HTTPError, httpx.InvalidURL, ssl.SSLError) as error:
            message = f"{safe(url)}: {reason(error)}"
            raise Unreachable(message, again=passing(error), lasting=lasting(error)) from error

    def close(self) -> None:
        """Close the connections, if any were made."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> Online:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _http(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                bundle = self.registries.ca_bundle()
                self._client = httpx.Client(
                    verify=True if bundle is None else ssl.create_default_context(cafile=str(bundle)),
                    transport=self._transport,
                    timeout=_TIMEOUT,
                    follow_redirects=True,
                    max_redirects=5,
                    headers={"User-Agent": "nanobench"},
                    event_hooks={"request": [self._before]},
                )
            return self._client

    def _before(self, request: httpx.Request) -> None:
        """Called before every request, also those that follow a redirect."""
        if request.url.scheme not in ("http", "https"):
            raise httpx.UnsupportedProtocol(f"a redirect to {request.url.scheme}:", request=request)
        self.note(str(request.url))


def _check_status(response: httpx.Response, url: str) -> None:
    status = response.status_code
    if status in (404, 410):
        raise Gone(f"{safe(url)}: {status}")
    if status != 200:
        wait = retry_after(response.headers.get("Retry-After"))
        raise Unreachable(f"{safe(url)}: HTTP status {status}", again=status in _TRANSIENT, wait=wait)
