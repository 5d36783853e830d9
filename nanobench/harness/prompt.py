"""The prompt: what the agent is told, and what cannot be told on a command line."""

from __future__ import annotations

from collections.abc import Sequence

from nanobench.errors import Refused
from nanobench.model.result import Mode

MAX_BYTES = 131_071
"""Linux's MAX_ARG_STRLEN without the final NUL: the prompt is one argument."""

_HEADING = "\n\nKey files to focus on:\n"
# Nanocoder looks for these anywhere on its command line, also after `run`; the last two also as a beginning.
_FLAGS = frozenset(
    (
        *("-v", "--version", "-h", "--help", "-c", "--continue", "-r", "--resume", "--acp", "--vscode"),
        *("--vscode-port", "--provider", "--model", "--context-max", "--mode", "--json", "--output-format"),
        *("--trust-directory", "--plain", "--no-plain", "--alt-screen", "--no-alt-screen"),
    )
)
_FUSED = ("--mode=", "--output-format=")


def prompt(statement: str, mode: Mode, required_files: Sequence[str]) -> str:
    """The statement without its final line breaks; in hinted mode the required files below it.

    Raises:
        Refused: ``NB_PROMPT_SIZE`` over ``MAX_BYTES`` bytes; ``NB_PROMPT`` when it is empty, holds a NUL, or would
            be taken for an option.
    """
    text = statement.rstrip("\n")
    if mode == "hinted":
        text += _HEADING + "\n".join(required_files)
    check_prompt(text)
    return text


def check_prompt(text: str) -> None:
    """Refuse what would not reach the model as it is."""
    size = len(text.encode("utf-8"))
    if size > MAX_BYTES:
        hint = "shorten the statement"
        raise Refused("NB_PROMPT_SIZE", f"{size} bytes; at most {MAX_BYTES} fit", where="prompt", hint=hint)
    if not text.strip():
        raise Refused("NB_PROMPT", "the prompt is empty", where="prompt")
    if "\0" in text:
        raise Refused("NB_PROMPT", "the prompt holds a NUL", where="prompt")
    if text in _FLAGS or text.startswith(_FUSED):
        hint = "begin the statement with a word"
        raise Refused("NB_PROMPT", f"{text!r:.40} would be taken for an option", where="prompt", hint=hint)
