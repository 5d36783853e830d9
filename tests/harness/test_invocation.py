from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from nanobench.errors import Refused
from nanobench.harness.invocation import Places, agent_request, invocation, write_config
from nanobench.model.profile import Profile
from nanobench.model.provider import Arm
from nanobench.sandbox.interface import SandboxLimits

LIMITS = SandboxLimits(cpus=1, memory_mib=512, pids=64, disk_mib=64, seconds=9)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    names = ("workspace", "closure", "gateway", "config", "stdout", "stderr")
    return Places(layers=(tmp_path / "layer",), **{name: tmp_path / name for name in names})


def test_the_command_line_is_the_rules_one_behind_the_forwarder() -> None:
    call = invocation("Do it.", provider="p", model="org/m:1b")
    text = " ".join(call.argv)
    assert text.endswith(
        "dist/cli.js --provider p --model org/m:1b --mode yolo --trust-directory --plain --json run Do it."
    )
    assert call.argv[-1] == "Do it."
    assert call.argv[1].endswith("forward.cjs")


def test_the_environment_holds_a_dummy_key_and_leads_to_loopback_without_lookups() -> None:
    call = invocation("x", provider="p", model="m", max_turns=7)
    (provider,) = json.loads(call.env["NANOCODER_PROVIDERS"])
    assert provider["apiKey"] == "nanobench"
    assert provider["baseUrl"].startswith("http://127.0.0.1:")
    assert provider["contextWindow"] > 0
    assert call.env["NANOCODER_MAX_TURNS"] == "7"
    assert "NANOCODER_LOG_LEVEL" not in call.env


def test_tools_are_disabled_only_for_a_model_that_is_to_call_them_in_its_text() -> None:
    def provider(arm: Arm | None) -> Any:
        (found,) = json.loads(invocation("x", provider="p", model="m", arm=arm).env["NANOCODER_PROVIDERS"])
        return found

    assert "disableToolModels" not in provider(None)
    assert provider(Arm(tools="xml"))["disableToolModels"] == ["m"]


@pytest.mark.parametrize("name", ["", "run", "-v", "a b", "a.b", "a$HOME", "ü", "a\n"])
def test_a_provider_name_that_nanocoder_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="NB_PROVIDER_NAME"):
        invocation("x", provider=name, model="m")


@pytest.mark.parametrize("name", ["", "run", "--help", "a@b", "a b", "a+b", "${HOME}"])
def test_a_model_name_that_nanocoder_does_not_take_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="NB_MODEL_NAME"):
        invocation("x", provider="p", model=name)


def test_only_the_workspace_is_writable(places: Places) -> None:
    request = agent_request(invocation("x", provider="p", model="m"), places, limits=LIMITS, env={"A": "1"})
    assert [mount.target for mount in request.mounts if mount.writable] == ["/workspace"]
    assert request.env["A"] == "1"


@pytest.mark.parametrize("name", ["NANOCODER_LOG_LEVEL", "NANOCODER_PROVIDERS", "NODE_OPTIONS", "XDG_CONFIG_HOME"])
def test_a_task_cannot_steer_the_agent_by_its_environment(places: Places, name: str) -> None:
    with pytest.raises(Refused) as caught:
        agent_request(invocation("x", provider="p", model="m"), places, limits=LIMITS, env={name: "x"})
    assert caught.value.code == "NB_ENV"
    assert name in caught.value.message


def test_the_configuration_is_readable_inside_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_config(tmp_path / "config", {"nanocoder": {}})
    finally:
        os.umask(before)
    file = tmp_path / "config/agents.config.json"
    assert (tmp_path / "config").stat().st_mode & 0o777 == 0o755
    assert file.stat().st_mode & 0o777 == 0o644
    assert json.loads(file.read_bytes()) == {"nanocoder": {}}


def test_nanocoder_is_set_up_as_ever_without_a_profile_and_as_it_says_with_one() -> None:
    def setup(profile: Profile | None) -> Any:
        call = invocation("x", provider="p", model="m", arm=Arm(tool_profile="minimal"), profile=profile)
        (provider,) = json.loads(call.env["NANOCODER_PROVIDERS"])
        nanocoder = call.config["nanocoder"]
        return nanocoder["tune"], nanocoder["disabledTools"], provider["contextWindow"], call.env

    tune, disabled, window, env = setup(None)
    assert tune == {"enabled": True, "toolProfile": "minimal", "includeAgentsMd": True}
    assert (disabled, window, env["NANOCODER_CONTEXT_LIMIT"]) == ([], 131_072, "131072")
    own = Profile(name="own", tool_profile="nano", disabled_tools=("agent",), agents_md=False, context_limit=9000)
    tune, disabled, window, env = setup(own)
    assert tune == {"enabled": True, "toolProfile": "nano", "includeAgentsMd": False}
    assert (disabled, window, env["NANOCODER_CONTEXT_LIMIT"]) == (["agent"], 9000, "9000")
    assert setup(Profile(name="none"))[:3] == setup(None)[:3]
