"""What a cell is run with, as one digest: it ties a result to what the run says of its provider and its profile."""

from __future__ import annotations

from nanobench.formats.converter import unstructure
from nanobench.formats.digest import document_sha256
from nanobench.model.profile import Profile
from nanobench.model.result import ProviderFacts


def setting_sha256(provider: ProviderFacts, profile: Profile | None) -> str:
    """The sha256 of both: address, models, prices, arm; tools, AGENTS.md, context."""
    return document_sha256({"provider": unstructure(provider), "profile": profile and unstructure(profile)})
