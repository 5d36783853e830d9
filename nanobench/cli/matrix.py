"""The axes of a run: a file ``matrix.toml``, and the options that stand in place of its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from nanobench.cli import common
from nanobench.cli.provider import AD_HOC
from nanobench.errors import Misuse, NanobenchError, Refused
from nanobench.formats import toml
from nanobench.formats.converter import structure
from nanobench.model.fields import Document, FieldError
from nanobench.model.matrix import Chosen, Matrix
from nanobench.store.plain_file import read_below

_MAX_BYTES = 1 << 20

Texts = Sequence[str] | None


def matrix_of(
    file: Path | None,
    *,
    providers: Texts = None,
    base_url: str | None = None,
    models: Texts = None,
    profiles: Texts = None,
    **axes: Any,
) -> Matrix:
    """The matrix that was asked for; an option that is None or empty was not given.

    Args:
        file: its keys hold where no option is given.
        providers: each ``NAME`` or ``NAME=MODEL,…``.
        base_url: alone, it makes a provider too.
        models: of the one provider.
        profiles: each an inline table of TOML, such as ``{name = "small", tool_profile = "nano"}``.
        axes: the other keys of a matrix.

    Raises:
        Misuse: ``NB_USAGE`` for an option; ``NB_NO_FILE``, ``NB_TOML``, ``NB_VALUE``, ``NB_SCHEMA`` for the file.
    """
    matrix = _read(file) if file else Matrix(schema=1)
    names = providers or ([AD_HOC] if base_url else [])
    axes |= {"provider": [*map(_chosen, names)], "profile": [*map(_profile, profiles or ())]}
    given = {key: value for key, value in axes.items() if value not in (None, [], ())}
    try:
        options = structure({"schema": 1, **given}, Matrix, where="options")
    except Refused as error:
        raise Misuse("NB_USAGE", "an axis that cannot be", details=error.details) from None
    matrix = evolve(matrix, **{key: getattr(options, key) for key in given})
    return evolve(matrix, provider=_with_models(matrix.provider, models)) if models else matrix


def _read(file: Path) -> Matrix:
    try:
        data = read_below(file.absolute().parent, file.name, limit=_MAX_BYTES)
    except OSError as error:
        raise Misuse("NB_NO_FILE", f"cannot be read: {error.strerror}", where=str(file)) from None
    return common.asked_in_file(data, Matrix, file)


_KEYS = {"--provider": "provider", "--model": "provider", "--nanocoder": "nanocoder"}


@contextmanager
def told_of(file: Path | None, given: Mapping[str, object]) -> Iterator[None]:
    """What is wrong with an option that was not given is told of the file's key in its place.

    Args:
        given: what stood on the command line, by option.
    """
    try:
        yield
    except NanobenchError as error:
        if file is not None and error.where in _KEYS and not given.get(error.where):
            error.where = f"{file}: {_KEYS[error.where]}"
        raise


def _chosen(text: str) -> Document:
    name, _, models = text.partition("=")
    return {"name": name, **({"models": models.split(",")} if models else {})}


def _with_models(chosen: tuple[Chosen, ...], models: Sequence[str]) -> tuple[Chosen, ...]:
    if len(chosen) > 1:
        hint = "--provider NAME=MODEL,… says which models are whose"
        raise Misuse("NB_USAGE", "of several providers, whose model is it?", where="--model", hint=hint)
    try:
        return tuple(evolve(each, models=tuple(models)) for each in chosen)
    except FieldError as error:
        raise Misuse("NB_USAGE", str(error), where="--model") from None


def _profile(text: str) -> Any:
    try:
        return toml.parse(b"profile = " + text.encode(), where="--profile")["profile"]
    except Refused as error:
        hint = """e.g. --profile '{name = "small", tool_profile = "nano", agents_md = false}'"""
        raise Misuse("NB_USAGE", error.message, where="--profile", hint=hint) from None
