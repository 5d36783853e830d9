"""What can go wrong, once: a stable code, the place, what to do, and the exit code that it means.

Every refusal a user can meet is a :class:`NanobenchError`; anything else that reaches the top is a bug of
ours and exits 2 with a traceback to paste. The exit codes are a promise to scripts and CI.
"""

from __future__ import annotations

from typing import Any

MAX_DETAILS = 1000
"""How many problems of one thing are named; what is hostile may have millions."""


class NanobenchError(Exception):
    """A refusal in the user's words: ``CODE: where: message`` and a remedy.

    Args:
        code: stable identifier such as ``NB_LOCK_STALE``; scripts may match on it.
        message: what was asked and what was found.
        where: file and context path, e.g. ``tasks/x/task.toml: source.base.sha256``.
        hint: the command or edit that mends it.
        details: further lines, each a complete reason (all stale reasons, all bad members …); one that is indented
            belongs to the line before it.
        shown: how many details are for people (None: all); the document has all.
    """

    exit_code = 1

    def __init__(
        self,
        code: str,
        message: str,
        *,
        where: str = "",
        hint: str = "",
        details: tuple[str, ...] = (),
        shown: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.where, self.hint, self.details = code, message, where, hint, details
        self.shown = len(details) if shown is None else shown

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        lines = [f"{self.code}: {place}{self.message}"]
        lines += [detail if detail.startswith(" ") else f"  - {detail}" for detail in self.details[: self.shown]]
        if len(self.details) > self.shown:
            lines.append(f"  - and {len(self.details) - self.shown} more")
        return "\n".join([*lines, *([f"  → {self.hint}"] if self.hint else [])])

    def document(self) -> dict[str, Any]:
        """The error as a JSON document, for ``--json``."""
        return {
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "hint": self.hint,
            "details": list(self.details),
        }


class Refused(NanobenchError):
    """A definite no: invalid, stale, mismatching, gate failed (exit 1)."""


class Misuse(NanobenchError):
    """The command line itself is wrong (exit 2)."""

    exit_code = 2


class CannotTell(NanobenchError):
    """An input is missing and may not or cannot be fetched, so there is no verdict (exit 3)."""

    exit_code = 3


class MachineFailure(NanobenchError):
    """The machine failed us: no engine, disk full, lock wait timed out (exit 4)."""

    exit_code = 4
