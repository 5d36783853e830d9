"""Debian as a base: resolve with apt, lock exact files, unpack them in pure Python. This is the room's front door."""

from __future__ import annotations

from nanobench.ecosystems.deb_resolve import DebianResolution, resolve

__all__ = ["DebianResolution", "resolve"]
