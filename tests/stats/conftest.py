"""Random numbers of a test do not depend on the tests before it."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def from_the_start(request: pytest.FixtureRequest) -> None:
    """Let the generator of the module begin anew."""
    source = getattr(request.module, "RANDOM", None)
    if isinstance(source, np.random.Generator):
        source.bit_generator.state = np.random.PCG64(len(request.node.name)).state
