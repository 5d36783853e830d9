"""Is anybody there? Asked before a run, so that nobody waits for retries to learn that a server was not started."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

from nanobench.gateway.client import proxy_for

_SECONDS = 10


def unreachable(base_url: str) -> str | None:
    """Why no connection to this address opens, in words; None when one does, or when a proxy stands between."""
    parts = urlsplit(base_url)
    if proxy_for(base_url) is not None:
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_SECONDS).close()
    except socket.gaierror:
        return "its name has no address"
    except TimeoutError:
        return f"no answer within {_SECONDS} s"
    except OSError as error:
        return os.strerror(error.errno) if error.errno else str(error)
    return None
