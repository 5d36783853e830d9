"""The scripted behaviours by name. A new one is a line in the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import frozen

from nanobench.errors import Misuse
from nanobench.gateway.scripted import changes
from nanobench.gateway.scripted.oracle import oracle
from nanobench.gateway.scripted.reply import Failure, Messages, Reply, Script, ToolCall, turn_of
from nanobench.gateway.scripted.scene import Scene

if TYPE_CHECKING:
    from nanobench.gateway.scripted.provider import ScriptedProvider

SCRIPTED = "scripted"
"""The provider whose models are behaviours."""

SOLOISTS = ("nop", "oracle")
"""Behaviours that are providers of their own too, whatever their model is called."""


@frozen(kw_only=True)
class Behaviour:
    """One part that can be played: what it does, and its script for a task.

    ``script`` raises ``NB_PART`` for a task that it does not fit.
    """

    does: str
    script: Callable[[Scene], Script]


def nop(_: Messages) -> Reply:
    """Answers in prose and calls no tool."""
    return Reply(text="I have read the task and leave the project as it is.")


def _narrates(scene: Scene) -> Script:
    files = ", ".join(scene.required)
    said = Reply(text=f"I have changed {files} as described, and added what was missing. All tests pass now.")
    return lambda _: said


def _works(change: Callable[[Scene], bytes]) -> Callable[[Scene], Script]:
    """Carries a change out and says that it is made."""
    return lambda scene: oracle(change(scene))


def _fails(failure: Reply | Failure, *, before: Callable[[Scene], Script] | None = None) -> Callable[[Scene], Script]:
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

BEHAVIOURS: dict[str, Behaviour] = {
    "oracle": Behaviour(
        does="carries out the known solution",
        script=lambda scene: oracle(scene.change.golden, scene.change.said),
    ),
    "nop": Behaviour(does="does nothing, and says so", script=lambda _: nop),
    "narrate": Behaviour(does="says that it made the change, and made none", script=_narrates),
    "elsewhere": Behaviour(
        does="writes a file that is not asked for, and no other", script=_works(changes.elsewhere)
    ),
    "comment": Behaviour(does="adds a comment to a required file", script=_works(changes.comment)),
    "hallucinate": Behaviour(
        does="makes the change with calls of a function that is nowhere", script=_works(changes.with_unknown_call)
    ),
    "wrong-layer": Behaviour(
        does="makes the change with calls that a function does not take", script=_works(changes.with_mistyped_call)
    ),
    "half": Behaviour(
        does="leaves out a part of the change, so that at least half of the target tests pass",
        script=_works(changes.half),
    ),
    "one-language": Behaviour(
        does="makes the change in one language of two, that with fewer target tests",
        script=_works(changes.one_language),
    ),
    "regression": Behaviour(does="makes the change and breaks a test that passed", script=_works(changes.regression)),
    "tamper": Behaviour(does="ends the tests before they can fail", script=_works(changes.with_exit)),
    "turn-cap": Behaviour(does="lists a folder again and again", script=lambda _: _never_ends),
    "context": Behaviour(does="finds its context full at once", script=_fails(_FULL)),
    "context-after-edit": Behaviour(
        does="finds its context full after it has added a comment",
        script=_fails(_FULL, before=_works(changes.comment)),
    ),
    "rate-limit": Behaviour(does="meets a rate limit that stays", script=_fails(_LIMITED)),
    "refused": Behaviour(does="is refused by its provider", script=_fails(_REFUSED)),
    "failing": Behaviour(does="has a provider that fails", script=_fails(_BROKEN)),
    "dropped": Behaviour(does="loses the connection amid every answer", script=_fails(_CUT)),
}
"""Name → behaviour."""


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
    return ScriptedProvider(name, BEHAVIOURS[name].script(scene))
