"""Kinds of arrays: what flat columns hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
#: Words of 64 bits: letters of text, hashes, random numbers.
Words = npt.NDArray[np.uint64]
