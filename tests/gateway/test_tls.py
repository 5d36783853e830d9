"""TLS towards a provider: verified always, by the authorities that the user's environment names."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from nanobench.gateway.exchange import Fault
from nanobench.gateway.gateway import Gateway

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None and not os.environ.get("CI"), reason="needs openssl (never missing in CI)"
)


@pytest.fixture
def certificate(provider: Any, tmp_path: Path) -> Path:
    """A certificate for the loopback address that nobody signed; the provider speaks TLS with it."""
    made, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", "/CN=double", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(made)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made, key)
    provider.socket = context.wrap_socket(provider.socket, server_side=True)
    provider.handle_error = lambda *_: None
    return made


def test_a_certificate_that_nobody_signed_is_not_accepted(
    certificate: Path,
    provider: Any,
    open_gateway: Callable[..., Gateway],
    connect: Callable[[Gateway], httpx.Client],
    chat: Any,
) -> None:
    gateway = open_gateway(base_url=provider.base_url.replace("http:", "https:"))
    assert connect(gateway).post("chat/completions", json=chat).status_code == 502
    assert provider.seen == []
    gateway.close()
    assert [exchange.fault for exchange in gateway.exchanges()] == [Fault.TLS]


def test_an_authority_of_the_environment_is_trusted(
    certificate: Path,
    provider: Any,
    open_gateway: Callable[..., Gateway],
    connect: Callable[[Gateway], httpx.Client],
    chat: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    gateway = open_gateway(base_url=provider.base_url.replace("http:", "https:"))
    assert "hello" in connect(gateway).post("chat/completions", json=chat).text
