"""The axes of a run, from a file and from options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nanobench.cli.matrix import matrix_of, told_of
from nanobench.errors import Misuse
from nanobench.model.matrix import Chosen, Matrix
from nanobench.model.profile import Profile

FILE = """\
schema = 1
tasks = ["a", "b"]
nanocoder = ["1.29.0", "1.30.0"]
modes = ["hinted", "navigation"]
repeats = 5
order_seed = 7

[[provider]]
name = "oracle"

[[provider]]
name = "hosted"
models = ["large", "org/small:7b"]

[[profile]]
name = "default"

[[profile]]
name = "small"
tool_profile = "nano"
disabled_tools = ["execute_bash"]
agents_md = false
context_limit = 32768
"""
SMALL = Profile(
    name="small", tool_profile="nano", disabled_tools=("execute_bash",), agents_md=False, context_limit=32768
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "matrix.toml"
    path.write_text(FILE)
    return path


def test_a_file_says_all_of_it(file: Path) -> None:
    assert matrix_of(file) == Matrix(
        schema=1,
        tasks=("a", "b"),
        nanocoder=("1.29.0", "1.30.0"),
        modes=("hinted", "navigation"),
        repeats=5,
        order_seed=7,
        provider=(Chosen(name="oracle"), Chosen(name="hosted", models=("large", "org/small:7b"))),
        profile=(Profile(name="default"), SMALL),
    )


def test_options_say_the_same(file: Path) -> None:
    options: dict[str, Any] = {
        "tasks": ["a", "b"],
        "nanocoder": ["1.29.0", "1.30.0"],
        "modes": ["hinted", "navigation"],
        "repeats": 5,
        "order_seed": 7,
        "providers": ["oracle", "hosted=large,org/small:7b"],
        "profiles": [
            '{name = "default"}',
            '{name = "small", tool_profile = "nano", disabled_tools = ["execute_bash"], agents_md = false,'
            " context_limit = 32768}",
        ],
    }
    assert matrix_of(None, **options) == matrix_of(file)


def test_an_option_stands_in_place_of_its_key_and_of_no_other(file: Path) -> None:
    found = matrix_of(file, repeats=1, providers=["nop"], models=["m"], tasks=None, modes=[])
    assert (found.repeats, found.provider) == (1, (Chosen(name="nop", models=("m",)),))
    assert (found.tasks, found.modes, len(found.profile)) == (("a", "b"), ("hinted", "navigation"), 2)


def test_nothing_asked_is_one_run_of_everything_locked() -> None:
    assert matrix_of(None) == Matrix(schema=1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('models = ["m"]', "models: unknown key"),
        ("repeats = 0", "repeats: 0 is not within 1 and 1000"),
        ('modes = ["psychic"]', "modes[0]: expected one of 'hinted', 'navigation', found a string ('psychic')"),
        ("modes = []", "modes: at least one is needed, and each once"),
        ('modes = ["hinted", "hinted"]', "modes: at least one is needed, and each once"),
        ("order_seed = -1", "order_seed: -1 is not within"),
        ('[[provider]]\nname = "p"\n[[provider]]\nname = "p"', "provider: two of them have the same name"),
        ('[[provider]]\nname = "p"\nbase_url = "http://x/v1"', "provider[0].base_url: unknown key"),
        ('[[profile]]\ntool_profile = "nano"', "profile[0].name: missing"),
        ('[[profile]]\nname = "x"\ntool_profile = "tiny"', "profile[0].tool_profile: expected one of 'full'"),
        ('[[profile]]\nname = "x"\ncontext_limit = "32k"', "profile[0].context_limit: expected an integer"),
        (
            '[[profile]]\nname = "x"\ndisabled_tools = ["rm -rf"]',
            "profile[0].disabled_tools: 'rm -rf' does",
        ),
    ],
)
def test_what_a_file_may_not_say_is_named_by_its_key(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "matrix.toml"
    path.write_text(f"schema = 1\n{line}\n")
    with pytest.raises(Misuse) as caught:  # it stands in place of options: exit 2
        matrix_of(path)
    assert (caught.value.code, caught.value.where) == ("NB_SCHEMA", str(path))
    assert any(words in detail for detail in caught.value.details), caught.value.details


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repeats": 1001}, "repeats: 1001 is not within"),
        ({"tasks": ["../x"]}, "tasks: '../x' does not match"),
        ({"providers": ["p=m,m"]}, "provider[0].models: 'm' stands twice"),
        ({"providers": ["p=m,"]}, "provider[0].models: '' does not match"),
        ({"profiles": ['{name = "x", agents_md = "off"}']}, "profile[0].agents_md: expected a boolean"),
        ({"profiles": ['"x"']}, "profile[0]: expected a table"),
    ],
)
def test_what_an_option_may_not_say_is_misuse(options: Any, words: str) -> None:
    with pytest.raises(Misuse) as caught:
        matrix_of(None, **options)
    assert any(words in detail for detail in caught.value.details), caught.value.details


def test_a_model_of_several_providers_is_nobodys(file: Path) -> None:
    with pytest.raises(Misuse, match="whose model") as caught:
        matrix_of(file, models=["m"])
    assert "--provider NAME=MODEL" in caught.value.hint


def test_a_profile_that_is_no_table_of_toml_is_misuse_with_an_example() -> None:
    with pytest.raises(Misuse, match="not TOML") as caught:
        matrix_of(None, profiles=["name=small"])
    assert caught.value.where == "--profile"
    assert "tool_profile" in caught.value.hint


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="cannot be read") as caught:
        matrix_of(tmp_path)
    assert caught.value.code == "NB_NO_FILE"


def test_an_axis_of_the_file_is_told_of_the_file_and_an_option_of_itself(file: Path) -> None:
    given = {"--provider": ["nop"], "--model": [], "--nanocoder": []}
    for where, told in (
        ("--provider", "--provider"),
        ("--nanocoder", f"{file}: nanocoder"),
        ("--model", f"{file}: provider"),
        ("--key-env", "--key-env"),
    ):
        with pytest.raises(Misuse) as caught, told_of(file, given):
            raise Misuse("NB_USAGE", "no", where=where)
        assert caught.value.where == told
