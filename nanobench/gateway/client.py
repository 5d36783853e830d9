"""The HTTP client towards providers: verified TLS, the user's own proxy and CA settings, no redirects, no retries."""

from __future__ import annotations

import ipaddress
import os
import ssl
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from nanobench.gateway.exchange import Fault
from nanobench.gateway.upstream import Bounds


def open_session(bounds: Bounds) -> aiohttp.ClientSession:
    """A session for one run.

    Every request gets its own connection: a provider that closes an idle one would otherwise look like a broken
    wire.
    """
    timeout = aiohttp.ClientTimeout(
        total=bounds.total_seconds, sock_connect=bounds.connect_seconds, sock_read=bounds.idle_seconds
    )
    trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
    connector = aiohttp.TCPConnector(ssl=trusted, force_close=True)
    return aiohttp.ClientSession(timeout=timeout, connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for ``url``; never one for the loopback."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if _is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def fault_of(error: Exception) -> tuple[Fault, str]:
    """What a client error means, in words without addresses."""
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError)):
        return Fault.TLS, "the provider's certificate was not accepted"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Fault.CONNECT, "no connection to the provider: its name has no address"
    if isinstance(error, aiohttp.ClientConnectorError):
        return Fault.CONNECT, f"no connection to the provider: {os.strerror(error.errno or 0)}"
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Fault.CONNECT, "no connection to the provider: timed out"
    if isinstance(error, TimeoutError):
        return Fault.TIMEOUT, "the provider was silent for too long"
    return Fault.DROPPED, f"the provider broke the connection off ({type(error).__name__})"


@cache
def _trusted(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The default context, which honours ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``; reading all authorities takes longer
    than starting a gateway, so it is done once."""
    del file, folder  # what the context depends on
    return ssl.create_default_context()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
