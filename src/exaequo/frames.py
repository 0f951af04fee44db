"""Polars, loaded when it is first used: small work does without it, and the time it takes to load. Out: `pl`."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["pl"]

if TYPE_CHECKING:
    import polars as pl
else:

    class _OnUse:
        """A module that is imported when one of its names is asked for."""

        def __getattr__(self, name: str) -> Any:
            return getattr(sys.modules.get("polars") or import_module("polars"), name)

    pl = _OnUse()
