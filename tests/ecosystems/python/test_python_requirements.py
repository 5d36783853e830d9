from __future__ import annotations

import pytest

from nanobench.ecosystems.py_requirements import exact_pins, parse
from nanobench.errors import Refused

BAD = ["-r other.txt", "--index-url=http://x", "./local", "/abs", "a @ file:///x", "a@https://x/a.whl", "a\n-r b", ""]


@pytest.mark.parametrize("text", BAD)
def test_an_option_a_url_or_a_path_is_refused(text: str) -> None:
    with pytest.raises(Refused) as error:
        parse([text], where="python.requirements")
    assert (error.value.code, error.value.where) == ("NB_PYTHON_REQUIREMENT", "python.requirements")


def test_all_bad_requirements_are_named_at_once() -> None:
    with pytest.raises(Refused) as error:
        parse(["fine>=1", *BAD], where="w")
    assert len(error.value.details) == len(BAD)


def test_names_versions_extras_and_markers_are_taken() -> None:
    texts = ["a", "b>=1,<2", "c[x,y]==1.0", 'd; python_version < "4"']
    assert [r.name for r in parse(texts, where="w")] == ["a", "b", "c", "d"]


def test_only_one_exact_version_is_a_pin() -> None:
    texts = ["A_b==1.0", "c==1.*", "d>=1", "e==1,!=2", "f===1", "g"]
    assert [(p.name, p.version) for p in exact_pins(parse(texts, where="w"))] == [("a-b", "1.0")]
