from __future__ import annotations

import pytest

from nanobench.model.environment import Environment
from nanobench.project.files import Project, Spec


@pytest.fixture
def spec(repository: Project, demo: str) -> Spec[Environment]:
    """The demo task's environment, as the curator wrote it."""
    return repository.environment(repository.task(demo).value.environment)
