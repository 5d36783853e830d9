from __future__ import annotations

import socket

import pytest

from nanobench.gateway import reach
from nanobench.gateway.reach import unreachable


def test_a_server_that_listens_is_reached_and_one_that_ended_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        assert unreachable(url) is None
    assert unreachable(url) == "Connection refused"


def test_a_server_that_takes_no_connection_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        place = server.getsockname()
        waiting = [socket.socket() for _ in range(3)]  # they fill the queue that nobody takes them from
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(place)
        assert unreachable(f"http://127.0.0.1:{place[1]}/v1") == "no answer within 0.05 s"
        for each in waiting:
            each.close()


def test_a_name_without_an_address_and_the_usual_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def connect(place: tuple[str, int], timeout: float) -> None:
        asked.append(place)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "create_connection", connect)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    assert unreachable("https://models.example/v1") == "its name has no address"
    assert unreachable("http://[::1]/v1") == "its name has no address"
    assert asked == [("models.example", 443), ("::1", 80)]


def test_behind_a_proxy_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", None)
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert unreachable("https://models.example/v1") is None
