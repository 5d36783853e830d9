"""How the sandbox reaches the gateway: a client that speaks only TCP is wrapped by a small Node script."""

from __future__ import annotations

SOCKET = "model.sock"
FORWARDER = "forward.cjs"


def forwarded(command: tuple[str, ...], *, node: str, directory: str, port: int) -> tuple[str, ...]:
    """``command``, to be run with ``http://127.0.0.1:<port>`` leading to the gateway. It exits as ``command`` does.

    Args:
        node: the Node program, inside.
        directory: where the gateway's directory is mounted, inside.
        port: any free port of the sandbox's own loopback.
    """
    return (node, f"{directory}/{FORWARDER}", str(port), f"{directory}/{SOCKET}", *command)
