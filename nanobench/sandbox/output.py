"""The two host files that a command's output goes to: regular files, bounded, cut to their bound at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import frozen

from nanobench.sandbox.interface import Request


@frozen(kw_only=True)
class Outputs:
    """Open descriptors of the files, and the most bytes that each may hold."""

    stdout: int
    stderr: int
    most: int

    def over(self) -> bool:
        """Does one hold more than it may?"""
        return any(os.fstat(fd).st_size > self.most for fd in (self.stdout, self.stderr))


@contextmanager
def outputs(request: Request, uid: int | None) -> Iterator[Outputs]:
    """The files of the request, empty, belonging to ``uid`` (so that the command may open ``/dev/stdout`` again)."""
    with ExitStack() as stack:
        opened = Outputs(
            stdout=_open(stack, request.stdout, uid),
            stderr=_open(stack, request.stderr, uid),
            most=request.output_mib * 1024 * 1024,
        )
        try:
            yield opened
        finally:
            for fd in (opened.stdout, opened.stderr):
                if os.fstat(fd).st_size > opened.most:
                    os.ftruncate(fd, opened.most)


def _open(stack: ExitStack, path: Path, uid: int | None) -> int:
    """Appending, so that both outputs can go to one file and keep their order."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    stack.callback(os.close, fd)
    if uid is not None:
        os.fchown(fd, uid, uid)
    return fd
