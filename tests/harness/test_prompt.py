from __future__ import annotations

import pytest

from nanobench.errors import Refused
from nanobench.harness.prompt import MAX_BYTES, prompt


def test_hinted_mode_names_the_files_and_navigation_says_the_statement_alone() -> None:
    assert prompt("Fix it.\n\n", "hinted", ["a.py", "b/c.py"]) == "Fix it.\n\nKey files to focus on:\na.py\nb/c.py"
    assert prompt("Fix it.\n\n", "navigation", ["a.py"]) == "Fix it."


def test_the_bound_counts_bytes_not_characters() -> None:
    fits = "a" + "é" * ((MAX_BYTES - 1) // 2)
    assert len(prompt(fits, "navigation", []).encode()) == MAX_BYTES
    with pytest.raises(Refused) as caught:
        prompt(fits + "b", "navigation", [])
    assert caught.value.code == "NB_PROMPT_SIZE"


@pytest.mark.parametrize(
    "text", ["", " \n\t", "a\0b", "-v", "--help\n", "--json", "--mode=x and more", "-c", "--acp"]
)
def test_what_would_not_reach_the_model_is_refused(text: str) -> None:
    with pytest.raises(Refused) as caught:
        prompt(text, "navigation", [])
    assert caught.value.code == "NB_PROMPT"


@pytest.mark.parametrize(
    "text", ["-v please", "--help me", "-x", "run", "@file", "/cmd", "!ls", "--modest=1", "daemon"]
)
def test_what_only_looks_like_an_option_is_said_as_it_is(text: str) -> None:
    assert prompt(text, "navigation", []) == text
