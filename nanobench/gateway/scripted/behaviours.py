"""The scripted behaviours by name. A new one is a line in the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nanobench.errors import Misuse
from nanobench.gateway.scripted import changes
from nanobench.gateway.scripted.oracle import oracle
from nanobench.gateway.scripted.reply import Failure, Messages, Reply, Script, ToolCall, turn_of
from nanobench.gateway.scripted.scene import Scene

if TYPE_CHECKING:
    from nanobench.gateway.scripted.provider import ScriptedProvider

SCRIPTED = "scripted"
"""The provider whose models are behaviours."""

STANDALONE = ("nop", "oracle")
"""Behaviours that are providers of their own too, whatever their model is called."""


Part = Callable[[Scene], Script]
"""The script for a task. Raises ``NB_PART`` for one that has nothing of which it could be made."""


def nop(_: Messages) -> Reply:
    """Answers in prose and calls no tool."""
    return Reply(text="I have read the task and leave the project as it is.")


def _narrates(scene: Scene) -> Script:
    files = ", ".join(scene.required)
    said = Reply(text=f"I have changed {files} as described, and added what was missing. All tests pass now.")
    return lambda _: said


def _works(change: Callable[[Scene], bytes]) -> Part:
    """Carries a change out and says that it is made."""
    return lambda scene: oracle(change(scene))


def _fails(failure: Reply | Failure, *, before: Part | None = None) -> Part:
    """The provider fails at once; or after two turns of another script, in which it reads and edits."""

    def cast(scene: Scene) -> Script:
        script = before(scene) if before else None
        return lambda messages: script(messages) if script and turn_of(messages) < 2 else failure

    return cast


def _never_ends(_: Messages) -> Reply:
    return Reply(calls=(ToolCall(name="list_directory", arguments={"path": "."}),))


def _error(status: int, message: str, kind: str) -> Failure:
    return Failure(status=status, error={"message": message, "type": kind, "code": kind})


_FULL = _error(400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded")
_LIMITED = _error(429, "Rate limit reached. Please try again later.", "rate_limit_exceeded")
_REFUSED = _error(401, "Incorrect API key provided.", "invalid_api_key")
_BROKEN = _error(500, "The server had an error.", "server_error")
_CUT = Reply(text="I begin with", cut=True)

BEHAVIOURS: dict[str, Part] = {
    "oracle": lambda scene: oracle(scene.change.golden, scene.change.said),
    "nop": lambda _: nop,
    "narrate": _narrates,
    "elsewhere": _works(changes.elsewhere),
    "comment": _works(changes.comment),
    "hallucinate": _works(changes.with_unknown_call),
    "wrong-layer": _works(changes.with_mistyped_call),
    "half": _works(changes.half),
    "one-language": _works(changes.one_language),
    "regression": _works(changes.regression),
    "tamper": _works(changes.with_exit),
    "turn-cap": lambda _: _never_ends,
    "context": _fails(_FULL),
    "context-after-edit": _fails(_FULL, before=_works(changes.comment)),
    "rate-limit": _fails(_LIMITED),
    "refused": _fails(_REFUSED),
    "failing": _fails(_BROKEN),
    "dropped": _fails(_CUT),
}
"""docs/providers.md says what each does."""


def part_of(provider: str, model: str) -> str:
    """Which behaviour a scripted provider plays for a model: :data:`SCRIPTED` the one that the model is called."""
    return model if provider == SCRIPTED else provider


def scripted_provider(name: str, scene: Scene) -> ScriptedProvider:
    """The provider that plays a behaviour in one task, not yet started.

    Raises:
        Misuse: ``NB_BEHAVIOUR`` for a name that is not in the table.
        Refused: ``NB_PART`` when the task has nothing of which the part could be made.
    """
    from nanobench.gateway.scripted.provider import ScriptedProvider  # its server is slow to load

    if name not in BEHAVIOURS:
        known = ", ".join(BEHAVIOURS)
        raise Misuse("NB_BEHAVIOUR", f"there is no scripted behaviour {name!r:.80}", hint=f"one of: {known}")
    return ScriptedProvider(name, BEHAVIOURS[name](scene))
