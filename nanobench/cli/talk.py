"""What goes on, on stderr: lines for everybody, and at a terminal a moving line with time and bytes below them."""

from __future__ import annotations

import os
import sys
from threading import Lock

from rich.console import Console
from rich.filesize import decimal
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from nanobench.formats.printable import printable


class _Stderr(Console):
    """Stderr. When its reader has gone away, the work goes on in silence."""

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Rich would end the program here."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class _Arrived(ProgressColumn):
    """The bytes that have arrived, once any have."""

    def render(self, task: Task) -> Text:
        return Text(decimal(int(task.completed)) if task.completed else "")


class Talk:
    """Says lines; from several threads. Nothing moves when stderr is no terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or _Stderr()
        self._progress: Progress | None = None
        self._lock = Lock()

    def say(self, line: str) -> None:
        """A line that stays. At a terminal it is also what the moving line is about, until the next one."""
        text = printable(line)
        with self._lock:
            self._console.print(text, markup=False)
            if self._progress is not None:
                self._restart(text.splitlines()[-1] if text else "")

    def fetched(self, size: int) -> None:
        """Some bytes have arrived."""
        with self._lock:
            if self._progress is not None:
                self._progress.advance(self._progress.task_ids[-1], size)

    def begin(self) -> None:
        """Show the moving line from now on, when there is a terminal to show it on."""
        if self._console.is_terminal and self._progress is None:
            text = TextColumn("{task.description}", markup=False)
            columns = (SpinnerColumn(), text, TimeElapsedColumn(), _Arrived())
            self._progress = Progress(*columns, console=self._console, transient=True)
            self._progress.start()
            self._restart("")

    def end(self) -> None:
        """Take the moving line away."""
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.stop()

    def _restart(self, text: str) -> None:
        assert self._progress is not None
        for task in self._progress.task_ids:
            self._progress.remove_task(task)
        self._progress.add_task(text, total=None)
