"""What is practically no difference: so much, or so many percent of a mean. In: text or a number. Out: a `Margin`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter


@dataclass(frozen=True)
class Margin:
    """A difference in the units of the measure, or a share of the mean it is taken of."""

    size: float
    relative: bool = False

    @classmethod
    def of(cls, given: str | float | Margin) -> Margin:
        """Read `0.01`, or `1%` (of the mean of the baseline)."""
        if isinstance(given, Margin):
            return given
        text = str(given).strip()
        relative = text.endswith("%")
        try:
            size = float(text.removesuffix("%")) / (100 if relative else 1)
        except ValueError:
            size = float("nan")
        if isinstance(given, bool) or not (0 <= size <= 1e9):
            raise BadParameter(
                f"A drop or margin must be a number from 0 to 1e9, as 0.01, or 1%. Got {given!r} instead."
            )
        return cls(size, relative)

    def at(self, mean: Floats | float) -> Floats:
        """Return the margin in the units of the measure."""
        return np.asarray(self.size * np.abs(mean) if self.relative else np.full(np.shape(mean), self.size))

    def __str__(self) -> str:
        return f"{100 * self.size:g}%" if self.relative else f"{self.size:g}"
