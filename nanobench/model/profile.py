"""A harness profile: how Nanocoder itself is set up, under a name that cells and results carry."""

from __future__ import annotations

from attrs import frozen

from nanobench.model.fields import IDENTIFIER, optional_whole, text, texts
from nanobench.model.provider import ToolProfile

TOOL_NAME = r"[A-Za-z0-9_.-]{1,64}"


@frozen(kw_only=True)
class Profile:
    """One setting of the harness. Every cell without a profile runs as one of which nothing but the name is said.

    ``tool_profile`` stands in place of the one of the provider's arm. ``disabled_tools`` are not offered to the
    model (Nanocoder hides them; the sandbox is what forbids). ``agents_md``: whether the repository's AGENTS.md
    goes into the prompt. ``context_limit``: a conversation of so many tokens, as the provider counts them, is refused
    like one that is too long for its model.
    """

    name: str = text(IDENTIFIER)
    tool_profile: ToolProfile | None = None
    disabled_tools: tuple[str, ...] = texts(TOOL_NAME, default=())
    agents_md: bool = True
    context_limit: int | None = optional_whole(1, 10**8)
