"""Why a server gave nothing, in words, and whether it may pass by waiting."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

import httpx

_LONGEST = 200
_OF_THE_REQUEST = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)


def reason(error: Exception) -> str:
    """The real reason behind what the client raised, on one line, without credentials."""
    name = type(error).__name__
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message}"
        if isinstance(cause, socket.gaierror):
            return f"the name of its host (or proxy) cannot be resolved: {cause.strerror}"
        if isinstance(cause, OSError) and cause.strerror:
            return f"{name}: {cause.strerror}"
    # Other texts may quote the URL or a header of the request, and so a password.
    quotes = not isinstance(error, httpx.TransportError) or isinstance(error, _OF_THE_REQUEST)
    words = "" if quotes else " ".join(str(error).split())[:_LONGEST]
    return f"{name}: {words}" if words else name


def lasting(error: Exception) -> bool:
    """Will every other file of this host fail in the same way, now and in a minute?"""
    return any(isinstance(cause, ssl.SSLCertVerificationError | socket.gaierror) for cause in _causes(error))


def passing(error: Exception) -> bool:
    """May it pass? Only what the transport met; a bad URL or a redirect loop never does."""
    met = isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)
    return met and not lasting(error)


def retry_after(value: str | None) -> float | None:
    """Seconds; the header holds a number of them or a date. None when it holds neither."""
    digits = (value or "").strip()
    if digits.isascii() and digits.isdigit():
        return float(digits)
    try:
        return max(0.0, parsedate_to_datetime(digits).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
