import json

import pytest

from tidefeed import Feed, answer


@pytest.fixture
def feed():
    feed = Feed()
    for number in range(7):
        feed.add(f"2026-03-02T0{number}:00Z", 1000 + number)
    return feed


def ask(feed, query):
    status, body = answer(feed, query)
    assert status == 200, body
    return json.loads(body)


def ids(page):
    return [reading["id"] for reading in page["readings"]]


def test_a_page_says_where_the_next_one_goes_on(feed):
    first = ask(feed, "limit=3")
    assert (ids(first), first["next"]) == ([7, 6, 5], 5)
    second = ask(feed, "before=5&limit=3")
    assert (ids(second), second["next"]) == ([4, 3, 2], 2)
    assert ask(feed, "before=2&limit=3") == {
        "readings": [{"id": 1, "at": "2026-03-02T00:00Z", "mm": 1000}],
        "total": 7,
    }


def test_a_page_that_ends_with_the_oldest_is_the_last(feed):
    assert "next" not in ask(feed, "limit=7")
    assert "next" not in ask(feed, "before=4&limit=3")


def test_what_comes_meanwhile_moves_no_page(feed):
    before = ask(feed, "limit=3")["next"]
    feed.add("2026-03-02T07:00Z", 1007)
    page = ask(feed, f"before={before}&limit=3")
    assert (ids(page), page["total"]) == ([4, 3, 2], 8)


def test_nothing_is_older_than_the_oldest(feed):
    assert ask(feed, "before=1") == {"readings": [], "total": 7}
    assert ids(ask(feed, "before=1000&limit=2")) == [7, 6]


@pytest.mark.parametrize("query", ["offset=0", "before=", "before=x", "before=-1", "before=1&before=2"])
def test_what_cannot_be_asked_for_is_answered_with_400(feed, query):
    assert answer(feed, query)[0] == 400
