"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: Tests speak English, whoever runs them.
for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(name, "").startswith("fr"):
        os.environ[name] = "C.UTF-8"

settings.register_profile(
    "ci", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")
