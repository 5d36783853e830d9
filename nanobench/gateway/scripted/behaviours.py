"""The scripted behaviours by name. A new one is a line in the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nanobench.errors import Misuse
from nanobench.gateway.scripted.oracle import oracle
from nanobench.gateway.scripted.reply import Messages, Reply, Script

if TYPE_CHECKING:
    from nanobench.gateway.scripted.provider import ScriptedProvider


def nop(_: bytes, said: str | None = None) -> Script:
    """Answers in prose and calls no tool."""

    def script(_: Messages) -> Reply:
        return Reply(text="I have read the task and leave the project as it is.")

    return script


BEHAVIOURS: dict[str, Callable[[bytes, str | None], Script]] = {"nop": nop, "oracle": oracle}
"""Name → script for a task's golden patch, and the words that answer it if it is a question."""


def scripted_provider(name: str, golden_patch: bytes, *, said: str | None = None) -> ScriptedProvider:
    """The provider of that name for one task, not yet started.

    Raises:
        Misuse: ``NB_BEHAVIOUR`` for a name that is not in the table.
    """
    from nanobench.gateway.scripted.provider import ScriptedProvider  # its server is slow to load

    if name not in BEHAVIOURS:
        known = ", ".join(sorted(BEHAVIOURS))
        raise Misuse("NB_BEHAVIOUR", f"there is no scripted provider {name!r:.80}", hint=f"one of: {known}")
    return ScriptedProvider(name, BEHAVIOURS[name](golden_patch, said))
