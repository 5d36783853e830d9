import json

import pytest

from tidefeed import Feed, answer


@pytest.fixture
def feed():
    feed = Feed()
    for number in range(5):
        feed.add(f"2026-03-02T0{number}:00Z", 1000 + number)
    return feed


def ids(page):
    return [reading["id"] for reading in page["readings"]]


def test_newest_come_first(feed):
    page = feed.page(limit=2)
    assert ids(page) == [5, 4]
    assert page["total"] == 5
    assert page["readings"][0] == {"id": 5, "at": "2026-03-02T04:00Z", "mm": 1004}


def test_an_empty_feed_has_one_empty_page():
    assert Feed().page() == {"readings": [], "total": 0}


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "limit=1&limit=2", "size=3", "limit="])
def test_what_cannot_be_asked_for_is_answered_with_400(feed, query):
    status, body = answer(feed, query)
    assert status == 400
    assert "error" in json.loads(body)


def test_a_query_is_answered_with_json(feed):
    status, body = answer(feed, "limit=3")
    assert status == 200
    assert ids(json.loads(body)) == [5, 4, 3]
