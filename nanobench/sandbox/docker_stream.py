"""Docker's raw streams: the connection of an ``attach`` or ``exec`` request after the daemon switched protocols.

Our own few lines, because the SDK reads the answer's head through a buffer and drops what came along with it.
"""

from __future__ import annotations

import json
import select
import socket
import struct
from contextlib import suppress

from nanobench.errors import MachineFailure

_MOST = 64 << 10  # bytes kept; what a command gets in here by mischief is thrown away
_HEAD = 32 << 10
_FRAME = struct.Struct(">BxxxI")


class Stream:
    """One hijacked connection. Closing it, for whatever reason, is what the daemon sees as the end of input."""

    def __init__(self, connection: socket.socket, data: bytes) -> None:
        self._connection, self._data = connection, data
        self._open = True

    def close(self) -> None:
        """Let go."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def ended(self, seconds: float) -> bool:
        """Has the other side ended it? Waits so long for news of any kind."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        if self._open and poll.poll(max(0, seconds * 1000)):
            chunk = self._connection.recv(65536)
            self._open = bool(chunk)
            self._data = (self._data + chunk)[:_MOST]
        return not self._open

    @property
    def said(self) -> str:
        """What came, both outputs in order."""
        text, at = b"", 0
        while at + _FRAME.size <= len(self._data):
            _, size = _FRAME.unpack_from(self._data, at)
            text += self._data[at + _FRAME.size : at + _FRAME.size + size]
            at += _FRAME.size + size
        return text.decode(errors="replace").strip()


def hijack(address: str, url: str, document: dict[str, object]) -> Stream:
    """The stream that this POST request to the daemon's unix socket at ``address`` becomes.

    Raises:
        MachineFailure: ``NB_ENGINE`` when the daemon refuses.
        OSError: no daemon is there.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
        body = json.dumps(document).encode()
        head = (
            *(f"POST {url} HTTP/1.1", "Host: docker", "Connection: Upgrade", "Upgrade: tcp"),
            *("Content-Type: application/json", f"Content-Length: {len(body)}", "", ""),
        )
        connection.sendall("\r\n".join(head).encode() + body)
        status, data = _answer(connection)
        if b" 101 " not in status and b" 200 " not in status:
            said = (status + b" " + data + connection.recv(2000)).decode(errors="replace").strip()
            raise MachineFailure("NB_ENGINE", f"the Docker daemon refused: {said}", where=url)
        return Stream(connection, data)
    except BaseException:
        connection.close()
        raise


def _answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """The status line, and what came after the head."""
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _HEAD:
        chunk = connection.recv(4096)
        if not chunk:
            break
        data += chunk
    head, _, rest = data.partition(b"\r\n\r\n")
    return head.partition(b"\r\n")[0], rest
