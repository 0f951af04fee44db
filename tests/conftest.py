"""Settings for all tests."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

#: Tests speak English, whoever runs them.
for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(name, "").startswith("fr"):
        os.environ[name] = "C.UTF-8"
#: They write on a page, also where a plugin speaks of a terminal.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)

# Every change runs them all: half of the usual examples each. --hypothesis-profile=long looks further.
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=50,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("local", deadline=None, max_examples=50)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the tests of Spark: they take longest, and would be at work alone at the end."""
    items.sort(key=lambda item: "spark" not in item.path.parts)


@pytest.fixture(autouse=True)
def from_the_start(request: pytest.FixtureRequest) -> None:
    """Let the generator of a module begin anew: random numbers of a test do not depend on the tests before it."""
    source = getattr(request.module, "RANDOM", None)
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = np.random.PCG64(17).state
