from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import httpx
import pytest

from nanobench.ecosystems.hosts import GIVE_UP
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


@pytest.mark.parametrize("pause", ["soon", "", "\u00b2", "9" * 5000 + " Jan 2000"])
def test_a_pause_that_is_no_date_and_no_number_is_passed_over(pause: str) -> None:
    headers = {b"Retry-After": pause.encode("latin-1")}
    session, waited = online(answers(httpx.Response(503, headers=headers), httpx.Response(200)))
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


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> tuple[Online, list[float], list[str]]:
    """A real client without a proxy, what it waited and what it said."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    waited: list[float] = []
    said: list[str] = []
    registries = Registries(env={}, home=Path("/nonexistent"), etc=Path("/nonexistent"))
    return Online(registries, sleep=waited.append, say=said.append), waited, said


def test_a_name_that_nobody_knows_is_said_at_once(direct: tuple[Online, list[float], list[str]]) -> None:
    session, waited, _ = direct
    with (
        session,
        pytest.raises(Unreachable, match=r"a\.invalid/x: the name of its host .* cannot be resolved"),
    ):
        session.get("https://a.invalid/x", limit=10)
    assert waited == []


def test_a_refused_connection_is_named_and_every_further_attempt_is_said(
    direct: tuple[Online, list[float], list[str]],
) -> None:
    session, waited, said = direct
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    url = f"http://127.0.0.1:{port}/x"
    with session, pytest.raises(Unreachable, match="ConnectError: Connection refused"):
        session.get(url, limit=10)
    assert waited == [1.0, 2.0, 4.0]
    assert said[0] == f"{url}: ConnectError: Connection refused; attempt 2 of 4 in 1 s"
    assert len(said) == len(waited)


@pytest.mark.skipif(
    shutil.which("openssl") is None and not os.environ.get("CI"), reason="needs openssl (never missing in CI)"
)
def test_a_certificate_that_is_not_trusted_is_said_at_once_and_its_host_left_alone(
    direct: tuple[Online, list[float], list[str]], tmp_path: Path
) -> None:
    session, waited, _ = direct
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key", "-out", "cert"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)

        def shake_hands() -> None:
            connection, _ = server.accept()
            with connection, pytest.raises(OSError):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=shake_hands)
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        with session:
            with pytest.raises(Unreachable, match=r"its certificate is not trusted: self.signed certificate"):
                session.get(f"{url}/x", limit=10)
            thread.join()
            with pytest.raises(Unreachable, match=r"/y: not tried .*/x: its certificate is not trusted"):
                session.get(f"{url}/y", limit=10)  # nobody accepts any more: it would fail otherwise
    assert waited == []


def test_a_host_that_fails_file_after_file_is_left_alone_and_no_other_one() -> None:
    asked: list[str] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(503 if request.url.host == "bad.example" else 200)

    session, waited = online(handler)
    for number in range(GIVE_UP + 100):
        with pytest.raises(Unreachable, match=r"HTTP status 503"):
            session.get(f"https://bad.example/{number}", limit=10)
        session.get(f"https://good.example/{number}", limit=10)
    assert asked.count("bad.example") == GIVE_UP * ATTEMPTS
    assert len(waited) == GIVE_UP * (ATTEMPTS - 1)


def test_a_host_that_fails_now_and_then_is_asked_on() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200 if request.url.path == "/good" else 503)

    session, _ = online(handler)
    for _ in range(GIVE_UP * 2):
        with pytest.raises(Unreachable):
            session.get("https://a.example/bad", limit=10)
        session.get("https://a.example/good", limit=10)


def test_a_server_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    sent = count(1)
    session, _ = online(lambda _: httpx.Response(200, content=(bytes([next(sent) % 256]) for _ in range(10_000))))
    with pytest.raises(Unreachable, match=r"too slow, 61 bytes in 61 seconds"):
        session.get(URL, limit=100_000)
    assert next(sent) == 61 * ATTEMPTS + 1


def test_a_slow_but_steady_server_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(seconds)))
    session, _ = online(lambda _: httpx.Response(200, content=(bytes(5000) for _ in range(1000))))
    assert len(session.get(URL, limit=5_000_000).content) == 5_000_000


def test_no_password_is_said(direct: tuple[Online, list[float], list[str]]) -> None:
    session, _, _ = direct
    with session, pytest.raises(Unreachable) as failure:
        session.get("https://user:secret@a.example:port/x", limit=10)
    assert "secret" not in str(failure.value)
