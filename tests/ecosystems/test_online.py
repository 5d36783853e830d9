from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from nanobench.ecosystems.online import ATTEMPTS, Gone, Online, Unreachable
from nanobench.ecosystems.registries import Registries

URL = "https://user:secret@a.example/x"


def online(handler: Callable[[httpx.Request], httpx.Response]) -> tuple[Online, list[float]]:
    waited: list[float] = []
    registries = Registries(env={}, home=Path("/nonexistent"), etc=Path("/nonexistent"))
    return Online(registries, transport=httpx.MockTransport(handler), sleep=waited.append), waited


def answers(*given: httpx.Response | Exception) -> Callable[[httpx.Request], httpx.Response]:
    left = list(given)

    def handler(request: httpx.Request) -> httpx.Response:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return handler


def test_a_busy_server_is_asked_again_after_the_pause_it_wished() -> None:
    given = (httpx.Response(503), httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, text="ok"))
    session, waited = online(answers(*given))
    assert session.get(URL, limit=10).text == "ok"
    assert waited == [1.0, 7.0]


def test_a_broken_connection_is_tried_again() -> None:
    session, waited = online(answers(httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.Response(200, text="ok")))
    assert session.get(URL, limit=10).text == "ok"
    assert len(waited) == 2


def test_after_the_last_attempt_the_server_is_unreachable() -> None:
    session, waited = online(answers(*[httpx.ConnectError("x")] * ATTEMPTS))
    with pytest.raises(Unreachable, match=r"https://a\.example/x: ConnectError") as failure:
        session.get(URL, limit=10)
    assert "secret" not in str(failure.value)
    assert len(waited) == ATTEMPTS - 1


@pytest.mark.parametrize("pause", ["3600", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_server_that_wants_a_very_long_pause_is_not_waited_for(pause: str) -> None:
    session, waited = online(answers(httpx.Response(503, headers={"Retry-After": pause})))
    with pytest.raises(Unreachable, match="HTTP status 503"):
        session.get(URL, limit=10)
    assert waited == []


def test_a_pause_that_is_no_date_and_no_number_is_passed_over() -> None:
    session, waited = online(answers(httpx.Response(503, headers={"Retry-After": "soon"}), httpx.Response(200)))
    session.get(URL, limit=10)
    assert waited == [1.0]


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_not_there_is_not_asked_for_again(status: int) -> None:
    session, _ = online(answers(httpx.Response(status)))
    with pytest.raises(Gone):
        session.get(URL, limit=10)


@pytest.mark.parametrize("status", [204, 401, 403, 501])
def test_a_refusal_is_not_asked_for_again(status: int) -> None:
    session, waited = online(answers(httpx.Response(status)))
    with pytest.raises(Unreachable, match=f"HTTP status {status}"):
        session.get(URL, limit=10)
    assert waited == []


def test_an_answer_over_the_limit_is_cut() -> None:
    session, _ = online(answers(httpx.Response(200, text="x" * 11)))
    with pytest.raises(Unreachable, match="more than 10 bytes"):
        session.get(URL, limit=10)


@pytest.mark.parametrize("target", ["ftp://b.example/y", "file:///etc/passwd"])
def test_a_redirect_to_something_else_than_http_is_not_followed(target: str) -> None:
    session, waited = online(answers(httpx.Response(302, headers={"Location": target})))
    with pytest.raises(Unreachable):
        session.get(URL, limit=10)
    assert waited == []


def test_every_host_is_recorded_also_one_that_a_redirect_leads_to() -> None:
    session, _ = online(
        answers(httpx.Response(302, headers={"Location": "https://b.example/y"}), httpx.Response(200, text="ok"))
    )
    assert not session.contacted
    session.get(URL, limit=10)
    session.note("http://c.example:8080/debian")
    assert session.contacted == ("a.example", "b.example", "c.example")


def test_no_client_is_made_before_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx, "Client", lambda **_: pytest.fail("a client was made"))
    with Online(Registries(env={})):
        pass
