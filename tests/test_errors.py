from __future__ import annotations

from nanobench.errors import Refused


def test_an_indented_detail_stands_below_the_one_it_belongs_to() -> None:
    error = Refused("NB_X", "no", details=("gate fail", "    - why"), hint="mend it")
    assert str(error) == "NB_X: no\n  - gate fail\n    - why\n  → mend it"


def test_people_see_the_first_details_and_the_document_has_all() -> None:
    error = Refused("NB_X", "no", details=("a", "b", "c"), shown=1)
    assert str(error) == "NB_X: no\n  - a\n  - and 2 more"
    assert error.document()["details"] == ["a", "b", "c"]
