from __future__ import annotations

import pytest

from nanobench.harness.tools import unlike
from nanobench.model.provider import ToolProfile

NANO = ("read_file", "diff_edit", "write_file", "execute_bash", "search_file_contents")
MINIMAL = ("read_file", "write_file", "string_replace", "execute_bash", "find_files", "search_file_contents",
           "list_directory", "agent")  # fmt: skip
FULL = (*NANO, *MINIMAL, "git_log")
SIZES: dict[ToolProfile, tuple[str, ...]] = {"nano": NANO, "minimal": MINIMAL, "full": FULL}
RELEASE = "nanocoder-1.30.0"


@pytest.mark.parametrize("said", SIZES)
@pytest.mark.parametrize("offered", SIZES)
def test_the_tools_of_another_profile_are_told(said: ToolProfile, offered: ToolProfile) -> None:
    found = list(unlike(SIZES[offered], harness=RELEASE, profile=said, disabled=()))
    words = f"tool_profile: published {said}, the transcript offers that of {offered}"
    assert found == ([] if said == offered else [words])


def test_a_disabled_tool_that_was_offered_is_told_and_one_that_was_not_explains_a_smaller_profile() -> None:
    without = [tool for tool in MINIMAL if tool not in ("string_replace", "agent", "find_files", "list_directory")]
    disabled = ("string_replace", "agent", "find_files", "list_directory")
    assert list(unlike(without, harness=RELEASE, profile="minimal", disabled=disabled)) == []
    assert list(unlike(MINIMAL, harness=RELEASE, profile="full", disabled=("git_log",))) == []
    (shown,) = unlike(MINIMAL, harness=RELEASE, profile="minimal", disabled=("agent", "git_log"))
    assert shown == "disabled_tools: published agent, the transcript offers it"
    assert list(unlike(NANO, harness=RELEASE, profile="nano", disabled=("git_log",))) == []
    (larger,) = unlike(MINIMAL, harness=RELEASE, profile="nano", disabled=("git_log",))
    assert larger.startswith("tool_profile: published nano")


def test_what_a_build_offers_is_its_own() -> None:
    assert list(unlike(FULL, harness="nanocoder-1.31.0-12345678", profile="nano", disabled=())) == []
