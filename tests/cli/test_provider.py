from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nanobench.cli.provider import Access, providers_of
from nanobench.errors import Misuse
from nanobench.model.matrix import Chosen
from nanobench.model.provider import Arm
from nanobench.runner.providers import Endpoint, Provider, Scripted

FILE = """\
schema = 1
[[provider]]
name = "local"
base_url = "http://127.0.0.1:11434/v1"
models = ["small", "large"]
[[provider]]
name = "hosted"
base_url = "https://models.example/v1"
key_env = "HOSTED_KEY"
[[provider]]
name = "filed"
base_url = "https://models.example/v1"
key_file = "key.txt"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "providers.toml").write_text(FILE)
    (tmp_path / "key.txt").write_text("key-of-the-file\n")
    return tmp_path


def provider_of(name: str, *models: str, folder: Path, **access: Any) -> Provider:
    (provider,) = providers_of([Chosen(name=name, models=models)], Access(**access), folder=folder).values()
    return provider


def key(provider: object) -> str | None:
    assert isinstance(provider, Endpoint)
    return provider.address.key.reveal() if provider.address.key else None


def test_a_scripted_behaviour_is_its_own_model(folder: Path) -> None:
    provider = provider_of("oracle", folder=folder)
    assert provider == Scripted(behaviour="oracle", models=("oracle",))


def test_an_entry_of_the_file_brings_its_address_and_models(folder: Path) -> None:
    provider = provider_of("local", folder=folder)
    assert isinstance(provider, Endpoint)
    assert (provider.address.base_url, provider.models) == ("http://127.0.0.1:11434/v1", ("small", "large"))
    assert key(provider) is None


def test_an_entry_says_how_its_models_are_asked(folder: Path) -> None:
    arm = '[provider.arm]\ntools = "xml"\ntool_profile = "nano"\ntemperature = 1\nseed = 5\n'
    (folder / "providers.toml").write_text(FILE + arm)
    plain, own = (provider_of(name, "m", folder=folder).facts.arm for name in ("local", "filed"))
    assert plain == Arm()
    assert own == Arm(tools="xml", tool_profile="nano", temperature=1, seed=5)
    assert [own.seed_of(repeat) for repeat in (0, 4)] == [5, 9]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("temperature = 1", "needs a seed"),
        ("temperature = 0.7\nseed = 1", "float"),
        ("temperature = 3\nseed = 1", "arm.temperature"),
        ("seed = -1", "arm.seed"),
        ('tools = "json"', "arm.tools"),
        ('tool_profile = "auto"', "arm.tool_profile"),
    ],
)
def test_an_arm_that_cannot_be_is_refused(folder: Path, line: str, words: str) -> None:
    (folder / "providers.toml").write_text(f"{FILE}[provider.arm]\n{line}\n")
    with pytest.raises(Misuse) as caught:
        provider_of("local", folder=folder)
    assert words in str(caught.value)


def test_models_of_the_command_line_win(folder: Path) -> None:
    provider = provider_of("local", "other", folder=folder)
    assert provider.models == ("other",)


def test_the_key_comes_from_the_named_variable_or_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTED_KEY", "key-of-the-variable")
    assert key(provider_of("hosted", "m", folder=folder)) == "key-of-the-variable"
    assert key(provider_of("filed", "m", folder=folder)) == "key-of-the-file"
    assert key(provider_of("hosted", "m", folder=folder, key_file=folder / "key.txt")) == "key-of-the-file"


@pytest.mark.parametrize(
    ("chosen", "access", "words"),
    [
        ([], {}, "name a provider"),
        ([Chosen(name="unknown")], {}, "no provider 'unknown'"),
        ([Chosen(name="hosted", models=("m",))], {}, "HOSTED_KEY is not set"),
        ([Chosen(name="provider")], {"base_url": "http://127.0.0.1/v1"}, "name at least one model"),
        ([Chosen(name="local")], {"key_file": Path("/nonexistent")}, "no such file"),
        ([Chosen(name="local")], {"file": Path("/nonexistent")}, "no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, chosen: list[Chosen], access: dict[str, Any], words: str
) -> None:
    monkeypatch.delenv("HOSTED_KEY", raising=False)
    with pytest.raises(Misuse, match=words):
        providers_of(chosen, Access(**access), folder=folder)


@pytest.mark.parametrize("line", ['key = "sk-secret"', 'base_url = "https://user:pw@models.example/v1"'])
def test_a_file_that_holds_a_key_itself_is_refused(folder: Path, line: str) -> None:
    (folder / "providers.toml").write_text(f'schema = 1\n[[provider]]\nname = "x"\n{line}\n')
    with pytest.raises(Misuse, match="Providers"):
        provider_of("x", folder=folder)


@pytest.mark.parametrize("host", ["[::1", "127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1:x", ":80"])
def test_an_address_that_leads_nowhere_is_misuse(folder: Path, host: str) -> None:
    with pytest.raises(Misuse, match="is not an http"):
        provider_of("provider", "m", folder=folder, base_url=f"http://{host}/v1")
