from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanobench.ecosystems.devcontainer import MAX_BYTES, Build, read
from nanobench.errors import Refused

PATH = PurePosixPath("box/.devcontainer/devcontainer.json")


def asked(document: Any) -> Any:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read(data, PATH, where="here")


def test_comments_and_final_commas_may_stand_in_it() -> None:
    found = asked(b'{ // an image\n "image": "registry.test/x:1", /* and more */ "remoteUser": "me", }')
    assert (found.image, found.build, found.unheard) == ("registry.test/x:1", None, ("remoteUser",))


@pytest.mark.parametrize(
    "document",
    [
        {"build": {"dockerfile": "../Dockerfile", "context": ".."}},
        {"dockerFile": "../Dockerfile", "context": ".."},
    ],
)
def test_a_build_is_relative_to_the_file(document: Any) -> None:
    build = asked(document).build
    assert build == Build(dockerfile=PurePosixPath("box/Dockerfile"), context=PurePosixPath("box"))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "either image or build"),
        ({"image": "x", "build": {"dockerfile": "D"}}, "either image or build"),
        ({"image": 7}, "no string"),
        ({"image": "x", "features": {"ghcr": {}}}, "features cannot be had"),
        ({"dockerComposeFile": "c.yml"}, "dockerComposeFile cannot be had"),
        ({"build": {"context": "."}}, "dockerfile must be there"),
        ({"build": {"dockerfile": "D", "options": ["--privileged"]}}, "build takes"),
        ({"build": {"dockerfile": "../../../etc/passwd"}}, "leads out of environments/box"),
        ({"build": {"dockerfile": "/etc/passwd"}}, "leads out"),
        ({"build": {"dockerfile": "D", "context": "../.."}}, "leads out"),
        ({"build": {"dockerfile": 7}}, "leads out"),
        ({"build": {"dockerfile": "D", "args": {"KEY": "${localEnv:KEY}"}}}, "build.args"),
        ({"build": {"dockerfile": "D", "args": {"KEY": 7}}}, "build.args"),
        ({"build": {"dockerfile": "D", "target": 7}}, "build.target"),
        (b'{"image": "a", "image": "b"}', "not JSON with comments"),
        (b"[" * 5000, "not JSON with comments"),
        (b"[]", "not a table"),
        (b"\xff", "not JSON with comments"),
        (b" " * (MAX_BYTES + 1), "more than"),
    ],
)
def test_what_cannot_be_had_is_refused_with_its_reason(document: Any, words: str) -> None:
    with pytest.raises(Refused, match=f"NB_DEVCONTAINER: here: .*{words}"):
        asked(document)


@given(st.binary(max_size=30) | st.text("{}[]\"':,/*\\ imagebuld0n", max_size=30).map(str.encode))
def test_no_bytes_at_all_break_the_program(data: bytes) -> None:
    with pytest.raises(Refused, match="NB_DEVCONTAINER"):
        asked(data)
