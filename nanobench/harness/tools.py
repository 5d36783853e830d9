"""Which tools does a profile of Nanocoder's offer? As its releases have it; a packed build may have it otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nanobench.model.provider import ToolProfile

_NANO = frozenset(("read_file", "diff_edit", "write_file", "execute_bash", "search_file_contents"))
_MINIMAL = frozenset(
    (
        *("read_file", "write_file", "string_replace", "execute_bash"),
        *("find_files", "search_file_contents", "list_directory", "agent"),
    )
)
RELEASES = ("nanocoder-1.29.0", "nanocoder-1.30.0")
"""Names of harness locks whose ways are known here."""


def unlike(
    offered: Collection[str], *, harness: str, profile: ToolProfile, disabled: Collection[str]
) -> Iterator[str]:
    """Where the tools that were offered are not those of ``profile`` without the ``disabled`` ones.

    Args:
        harness: the name of its lock; of one that is not known here only ``disabled`` can be told.
    """
    if shown := sorted(set(offered) & set(disabled)):
        yield f"disabled_tools: published {', '.join(shown)}, the transcript offers it"
    if harness in RELEASES and not _fits(profile, _offering(offered), disabled):
        yield f"tool_profile: published {profile}, the transcript offers that of {_offering(offered)}"


def _offering(offered: Collection[str]) -> ToolProfile:
    """The smallest profile that offers so much."""
    if _NANO.issuperset(offered):
        return "nano"
    return "minimal" if _MINIMAL.issuperset(offered) else "full"


def _fits(said: ToolProfile, smallest: ToolProfile, disabled: Collection[str]) -> bool:
    """Without some of its tools a profile may look like a smaller one; but minimal is no smaller nano."""
    return said == smallest or (bool(disabled) and (said == "full" or smallest == "nano"))
