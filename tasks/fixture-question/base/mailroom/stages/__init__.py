"""The stages by name: each is a module of this package with a function ``make``."""

from __future__ import annotations

from importlib import import_module

from mailroom.message import Stage

MODULES = {
    "spam": "mailroom.stages.words",
    "route": "mailroom.stages.route",
    "quota": "mailroom.stages.quota",
}


def load(name: str, options: dict[str, str]) -> Stage:
    """The stage of that name, made with its options."""
    make = import_module(MODULES[name]).make
    stage: Stage = make(options)
    return stage
