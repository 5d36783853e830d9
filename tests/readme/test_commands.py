"""Every command of the README and of docs/ is run, as it stands, in a copy of the project with a warm store."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from nanobench.gateway.scripted.behaviours import nop
from nanobench.gateway.scripted.provider import ScriptedProvider

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
THIS = "make test\n"
OLLAMA = "http://127.0.0.1:11434/v1"
DOCUMENTS = (
    "README.md",
    "docs/benchmarks.md",
    "docs/environments.md",
    "docs/house.md",
    "docs/local-model.md",
    "docs/matrix.md",
    "docs/other-nanocoders.md",
    "docs/providers.md",
    "docs/reports.md",
    "docs/rules.md",
    "docs/security.md",
    "docs/why-it-failed.md",
    "docs/writing-a-task.md",
)

pytestmark = [pytest.mark.network, pytest.mark.timeout(1800)]


def blocks(text: str) -> list[str]:
    """The shell blocks; ``make test`` is what runs this."""
    return [block for block in BLOCK.findall(text) if block != THIS]


def test_no_text_is_forgotten(texts: dict[str, str]) -> None:
    assert tuple(texts) == DOCUMENTS
    assert f"```sh\n{THIS}```" in texts["README.md"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_works(name: str, texts: dict[str, str], copy: Path, environment: dict[str, str]) -> None:
    found = blocks(texts[name])
    if not found:
        return
    with ScriptedProvider("nop", nop) as provider:  # in the place of a model that would listen on a known port
        script = "\n".join(["set -eu", *found]).replace(OLLAMA, provider.upstream.base_url)
        command = ["bash", "-o", "pipefail", "-v", "-c", script]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=1700)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-6000:]}"
