"""Libraries that are loaded when they are needed, under the name ir_measures has for this."""

from __future__ import annotations

from typing import Any


def pandas() -> Any:
    """Return pandas."""
    import pandas as pd

    return pd
