"""A person's terminal joined to a command in a sandbox, through a pseudo-terminal of its own.

The sandbox gets the far end as its output file and opens it again as its input, so no engine needs to know of it,
and the person's own terminal is never inside.
"""

from __future__ import annotations

import fcntl
import os
import select
import sys
import termios
import tty
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

WRAPPER = ("/bin/sh", "-c", 'exec 0<>/dev/stdout; exec setsid --ctty --wait "$@"', "sh")
"""Put before the command: it makes its output its input too, and the controlling terminal."""


def joined(run: Callable[[Path], T]) -> T:
    """What ``run`` returns; it is given the path of the pseudo-terminal that the person's terminal is joined to."""
    near, far = os.openpty()
    stop_read, stop_write = os.pipe()
    fcntl.ioctl(far, termios.TIOCSWINSZ, fcntl.ioctl(sys.stdin.fileno(), termios.TIOCGWINSZ, b"\0" * 8))
    before = termios.tcgetattr(sys.stdin.fileno())
    relay = Thread(target=_relay, args=(near, stop_read), daemon=True)
    try:
        tty.setraw(sys.stdin.fileno())
        relay.start()
        return run(Path(os.ttyname(far)))
    finally:
        os.close(stop_write)
        relay.join()
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, before)
        for descriptor in (near, far, stop_read):
            os.close(descriptor)


def _relay(near: int, stop: int) -> None:
    """Copy both ways until the other end of ``stop`` is closed; what the command printed last is still shown."""
    ways = {sys.stdin.fileno(): near, near: sys.stdout.fileno()}
    stopping = False
    while not stopping:
        ready, _, _ = select.select([*ways, stop], [], [])
        stopping = stop in ready and near not in ready
        for source in set(ready) & ways.keys():
            data = os.read(source, 65536)
            os.write(ways[source], data)
