"""Decimal numbers, many at once: each as Python reads it, to the last bit, or none at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exaequo.read.decimals import decimals
from exaequo.read.mending import finite

#: Digits, a point somewhere, perhaps a minus: what is read all at once, up to fifteen digits, and what is not.
USUAL = st.builds(
    lambda minus, digits, point: minus + digits[:point] + ("." if point <= len(digits) else "") + digits[point:],
    st.sampled_from(["", "-"]),
    st.text("0123456789", min_size=1, max_size=18),
    st.integers(0, 20),
)
TEXTS = st.one_of(
    USUAL,
    st.text("0123456789+-.eE", min_size=1, max_size=20),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(str),
)


def words_of(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    size = np.array([len(text) for text in texts])
    width = (int(size.max()) + 7) // 8
    return np.array(texts, dtype=f"S{8 * width}").view("<u8").reshape(len(texts), width), size


def read(texts: list[str]) -> list[float] | None:
    found = decimals(*words_of(texts))
    return None if found is None else found.tolist()


@settings(max_examples=400)
@given(st.lists(TEXTS, min_size=1, max_size=8))
@example(["-1.23456789012345"])  # fifteen digits, but seventeen letters
@example(["123456789012345", "1.5"])
@example(["12345678", "1234567.8", "1234567890.12345"])
def test_as_python_reads_them(texts: list[str]) -> None:
    expected = [finite(text) for text in texts]
    found = read(texts)
    if None in expected:
        assert found is None
        return
    assert found == expected
    assert np.signbit(found).tolist() == np.signbit(np.array(expected, dtype=float)).tolist()


@pytest.mark.parametrize(
    "text",
    ["", ".", "-", "-.", "1..2", "1.2.3", "--1", "1-", "1_0", "nan", "inf", "1e999", "e5", "/", ":", "1:", "0x10"],
)
def test_what_is_no_number(text: str) -> None:
    assert finite(text) is None
    for other in ("1", "12345.6789"):  # in one word, and in two
        assert read([other, text + "\0" * (not text)]) is None


def test_every_number_of_few_digits() -> None:
    texts = [f"{whole}.{rest:02d}" for whole in range(-120, 120) for rest in range(100)]
    assert read(texts) == [float(text) for text in texts]
    assert read([str(grade) for grade in range(10)]) == [float(grade) for grade in range(10)]
