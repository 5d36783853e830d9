"""How Nanocoder is started: its command line, environment and configuration, the same for every run.

Nothing depends on the machine, nothing is looked up in the network, and what the agent's shell can read (the whole
environment and configuration) holds a dummy key. Facts about 1.30.0 behind the choices:

* providers come from the environment, which wins over every file, so that no repository redirects them;
* without a tool profile the tools depend on digits in the model's name, and with the smallest one AGENTS.md is left
  out; without a context window the list of models is fetched from the network. Without a terminal a window is only
  shown, never acted upon, so a profile's limit holds at the gateway too;
* a model whose native tools are disabled is told them in its prompt, and its text is read for calls;
* a time-out of the client would only repeat requests: the gateway and the phase's limit decide, so it is off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from nanobench.errors import Refused
from nanobench.formats import json
from nanobench.gateway.forwarder import forwarded
from nanobench.harness.closure import ENTRY, MOUNT, NODE
from nanobench.harness.prompt import check_prompt
from nanobench.model.fields import Document
from nanobench.model.profile import Profile
from nanobench.model.provider import MODEL_NAME, PROVIDER_NAME, Arm, Wire
from nanobench.sandbox.interface import HOME, WORKSPACE, Mount, Request, SandboxLimits
from nanobench.store.files import make_folder

GATEWAY = "/nanobench/gateway"
CONFIG = "/nanobench/config"
PORT = 41750
"""On the sandbox's own loopback; seldom used by anything that a test suite starts."""

MAX_TURNS = 200
"""Turns of one run, Nanocoder's own default, stated."""

_CONTEXT = 131_072  # tokens
_KEY = "nanobench"
_PROVIDER, _MODEL = re.compile(PROVIDER_NAME), re.compile(MODEL_NAME)
_RESERVED = re.compile(r"NANOCODER_\w*|NODE_OPTIONS|NODE_PATH|XDG_\w*")


@frozen(kw_only=True)
class Invocation:
    """The command and its environment, to be run in the workspace with the mounts of :func:`agent_request`.

    ``config`` is for :func:`write_config`.
    """

    argv: tuple[str, ...]
    env: dict[str, str]
    config: Document


@frozen(kw_only=True)
class Places:
    """Host directories and files of one run: image layers, workspace copy, closure tree, the gateway's directory,
    the configuration written by :func:`write_config`, and where stdout and stderr go (regular files)."""

    layers: tuple[Path, ...]
    workspace: Path
    closure: Path
    gateway: Path
    config: Path
    stdout: Path
    stderr: Path


def invocation(
    prompt: str,
    *,
    provider: str,
    model: str,
    wire: Wire = "openai-compatible",
    arm: Arm | None = None,
    profile: Profile | None = None,
    max_turns: int = MAX_TURNS,
) -> Invocation:
    """The invocation for one prompt; every provider is reached through the gateway, under its name.

    Args:
        wire: how the agent speaks to the provider; Nanocoder's own names for it are the same.
        profile: how Nanocoder is set up; as ever when there is none.

    Raises:
        Refused: ``NB_PROVIDER_NAME`` or ``NB_MODEL_NAME`` for a name that Nanocoder does not take, and what
            :func:`nanobench.harness.prompt.check_prompt` refuses.
    """
    check_prompt(prompt)
    _check_name(_PROVIDER, provider, "NB_PROVIDER_NAME")
    _check_name(_MODEL, model, "NB_MODEL_NAME")
    arm, profile = arm or Arm(), profile or Profile(name="none")
    window = profile.context_limit or _CONTEXT
    options = ("--provider", provider, "--model", model, "--mode", "yolo", "--trust-directory", "--plain", "--json")
    command = (NODE, ENTRY, *options, "run", prompt)
    return Invocation(
        argv=forwarded(command, node=NODE, directory=GATEWAY, port=PORT),
        env={
            "NANOCODER_CONFIG_DIR": CONFIG,
            "NANOCODER_DATA_DIR": f"{HOME}/.local/share/nanocoder",
            "NANOCODER_PROVIDERS": json.dump([_provider(provider, model, wire, arm, window)]).decode("utf-8"),
            "NANOCODER_MAX_TURNS": str(max_turns),
            "NANOCODER_CONTEXT_LIMIT": str(window),
            "NODE_DISABLE_COMPILE_CACHE": "1",
            "XDG_CONFIG_HOME": f"{HOME}/.config",
            "XDG_DATA_HOME": f"{HOME}/.local/share",
            "XDG_CACHE_HOME": f"{HOME}/.cache",
            "XDG_STATE_HOME": f"{HOME}/.local/state",
        },
        config=_config(arm, profile),
    )


def _config(arm: Arm, profile: Profile) -> Document:
    tools = profile.tool_profile or arm.tool_profile
    tune = {"enabled": True, "toolProfile": tools, "includeAgentsMd": profile.agents_md}
    return {"nanocoder": {"tune": tune, "disabledTools": list(profile.disabled_tools)}}


def write_config(folder: Path, config: Document) -> None:
    """Write the configuration directory, to be mounted read-only; readable for the sandbox's user."""
    make_folder(folder)
    file = folder / "agents.config.json"
    file.write_bytes(json.pretty(config))
    file.chmod(0o644)


def agent_request(call: Invocation, places: Places, *, limits: SandboxLimits, env: Mapping[str, str]) -> Request:
    """The sandbox's request for an invocation.

    Args:
        env: the task's own environment.

    Raises:
        Refused: ``NB_ENV`` when ``env`` sets what steers Nanocoder or its Node.
    """
    reserved = sorted(name for name in env if _RESERVED.fullmatch(name))
    if reserved:
        raise Refused("NB_ENV", f"{', '.join(reserved)} would steer the agent", where="env")
    return Request(
        layers=places.layers,
        argv=call.argv,
        limits=limits,
        stdout=places.stdout,
        stderr=places.stderr,
        cwd=WORKSPACE,
        env={**env, **call.env},
        mounts=(
            Mount(source=places.workspace, target=WORKSPACE, writable=True),
            Mount(source=places.closure, target=MOUNT),
            Mount(source=places.gateway, target=GATEWAY),
            Mount(source=places.config, target=CONFIG),
        ),
        phase="agent",
    )


def _provider(name: str, model: str, wire: Wire, arm: Arm, window: int) -> dict[str, object]:
    return {
        "name": name,
        "sdkProvider": wire,
        "baseUrl": f"http://127.0.0.1:{PORT}/v1",
        "apiKey": _KEY,
        "models": [model],
        "contextWindow": window,
        "requestTimeout": -1,
        "socketTimeout": -1,
        **({"disableToolModels": [model]} if arm.tools == "xml" else {}),
    }


def _check_name(pattern: re.Pattern[str], name: str, code: str) -> None:
    # `run` as a name would be taken for the verb.
    if not pattern.fullmatch(name) or name == "run":
        raise Refused(code, f"{name!r:.100} does not match {pattern.pattern}, or is a verb of Nanocoder")
