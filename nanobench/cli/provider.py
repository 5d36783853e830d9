"""Which providers did the person mean: scripted ones, an address on the command line, or entries of a file?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

from nanobench.cli import common
from nanobench.errors import CannotTell, Misuse
from nanobench.gateway.scripted.behaviours import BEHAVIOURS, SCRIPTED, STANDALONE
from nanobench.gateway.upstream import Secret, Upstream
from nanobench.model.fields import FieldError
from nanobench.model.matrix import Chosen
from nanobench.model.provider import ProviderEntry, Providers
from nanobench.model.result import ProviderFacts
from nanobench.runner.providers import Endpoint, Provider, Scripted

FILE = "providers.toml"
AD_HOC = "provider"
"""The name of an endpoint that has only an address."""
_MAX_KEY_FILE = 64 << 10


@frozen(kw_only=True)
class Access:
    """The options that say how a provider is reached: its address and key, or the file whose entry has them (default:
    ``providers.toml`` of the project). A key itself is never an option: others can read command lines."""

    base_url: str | None = None
    key_env: str | None = None
    key_file: Path | None = None
    file: Path | None = None


def providers_of(chosen: Sequence[Chosen], access: Access, *, folder: Path) -> dict[str, Provider]:
    """Every provider of a matrix by its name; address and key of the command line are of the one provider.

    Args:
        folder: the project's.

    Raises:
        Misuse: ``NB_USAGE`` when nothing fits, or for an address or a key of several; ``NB_KEY`` when the key that
            is named is not there.
    """
    if not chosen:
        raise _no_provider("name a provider", _entries(access, folder))
    own = {"--base-url": access.base_url, "--key-env": access.key_env, "--key-file": access.key_file}
    if len(chosen) > 1 and (options := [option for option, value in own.items() if value is not None]):
        hint = f"give each its entry in {FILE}"
        raise Misuse("NB_USAGE", "which of the providers is this of?", where=options[0], hint=hint)
    return {each.name: _provider(each, access, folder) for each in chosen}


def _provider(chosen: Chosen, access: Access, folder: Path) -> Provider:
    if access.base_url is not None:
        return _endpoint(_ad_hoc(chosen.name, access.base_url), chosen.models, access, folder)
    if chosen.name == SCRIPTED:
        return Scripted(models=_parts(chosen.models))
    if chosen.name in STANDALONE:
        return Scripted(behaviour=chosen.name, models=chosen.models or (chosen.name,))
    entries = _entries(access, folder)
    if chosen.name in entries:
        return _endpoint(entries[chosen.name], chosen.models, access, folder)
    raise _no_provider(f"no provider {chosen.name!r}", entries)


def _no_provider(message: str, entries: Iterable[str]) -> Misuse:
    known = ", ".join((*STANDALONE, SCRIPTED, *sorted(entries)))
    hint = f"one of {known}; or give --base-url and --model, or an entry in {FILE}"
    return Misuse("NB_USAGE", message, where="--provider", hint=hint)


def check_reach(providers: Iterable[ProviderFacts]) -> None:
    """Refuse to begin with a provider that nobody answers for.

    Raises:
        CannotTell: ``NB_UNREACHABLE`` with the address.
    """
    from nanobench.gateway.reach import unreachable  # its HTTP client is slow to load, and most verbs need none

    for facts in providers:
        if facts.base_url is not None and (why := unreachable(facts.base_url)):
            hint = f"start the server of {facts.name}, or mend its address; nothing has been run"
            raise CannotTell(
                "NB_UNREACHABLE", f"no connection to the provider: {why}", where=facts.base_url, hint=hint
            )


def _parts(models: tuple[str, ...]) -> tuple[str, ...]:
    """The behaviours that were asked for, or all."""
    for model in models:
        if model not in BEHAVIOURS:
            known = f"one of {', '.join(BEHAVIOURS)}"
            raise Misuse("NB_USAGE", f"no scripted behaviour {model!r:.80}", where="--model", hint=known)
    return models or tuple(BEHAVIOURS)


def _ad_hoc(name: str, base_url: str) -> ProviderEntry:
    try:
        return ProviderEntry(name=name, base_url=base_url)
    except FieldError as error:
        option = "--provider" if error.field == "name" else "--base-url"
        raise Misuse("NB_USAGE", str(error), where=option) from None


def _entries(access: Access, folder: Path) -> dict[str, ProviderEntry]:
    path = access.file or folder / FILE
    if not path.is_file():
        if access.file is not None:
            raise Misuse("NB_NO_FILE", "there is no such file", where=str(path))
        return {}
    return {entry.name: entry for entry in common.asked_in_file(path.read_bytes(), Providers, path).provider}


def _endpoint(entry: ProviderEntry, models: tuple[str, ...], access: Access, folder: Path) -> Endpoint:
    if not (models or entry.models):
        raise Misuse("NB_USAGE", "name at least one model", where="--model")
    env = access.key_env or (entry.key_env if access.key_file is None else None)
    file = access.key_file or (folder / entry.key_file if entry.key_file and access.key_env is None else None)
    address = Upstream(name=entry.name, kind=entry.kind, base_url=entry.base_url, key=_key(env, file))
    return Endpoint(address=address, models=models or entry.models, prices=entry.price, arm=entry.arm)


def _key(env: str | None, file: Path | None) -> Secret | None:
    if env is not None:
        if not os.environ.get(env):
            raise Misuse("NB_KEY", f"the variable {env} is not set, or empty", where="--key-env")
        return Secret(os.environ[env])
    if file is not None:
        if not file.is_file() or file.stat().st_size > _MAX_KEY_FILE:
            raise Misuse("NB_KEY", "there is no such file, or it is no key", where=str(file))
        return Secret(file.read_text("utf-8", "replace").strip())
    return None
