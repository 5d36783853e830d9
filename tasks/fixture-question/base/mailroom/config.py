"""What ``stages.ini`` says."""

from __future__ import annotations

from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """The order of the stages and what each was told."""

    order: tuple[str, ...]
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    report: bool = False


def read_settings(file: Path) -> Settings:
    """The settings of a file; a key that is missing has its default."""
    parser = ConfigParser()
    parser.read(file, encoding="utf-8")
    order = tuple(name.strip() for name in parser.get("pipeline", "order", fallback="").split(",") if name.strip())
    return Settings(
        order=order,
        options={name: dict(parser[name]) for name in parser.sections() if name != "pipeline"},
        report=parser.getboolean("pipeline", "report", fallback=False),
    )
