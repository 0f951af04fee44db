"""Decimal numbers, many at once: each as Python reads it, to the last bit, or none at all."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exaequo.read import decimals as decimal_numbers
from exaequo.read.decimals import decimals
from exaequo.read.mending import finite

#: Digits, a point somewhere, perhaps a minus: what is read all at once, up to nineteen digits, and what is not.
USUAL = st.builds(
    lambda minus, digits, point: minus + digits[:point] + ("." if point <= len(digits) else "") + digits[point:],
    st.sampled_from(["", "-"]),
    st.text("0123456789", min_size=1, max_size=22),
    st.integers(0, 24),
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


def near_the_middle() -> list[str]:
    """Numbers of sixteen to nineteen digits as near as can be to the middle between two doubles, or in it."""
    draw, found = random.Random(11), list[str]()
    while len(found) < 400:
        digits, whole = draw.randrange(16, 20), draw.randrange(1, 10)
        one = float(f"{draw.random():.17f}") * 10.0 ** draw.randrange(whole)
        middle = (Fraction(one) + Fraction(float(np.nextafter(one, 1e30)))) / 2
        scale = 10 ** (digits - len(str(int(one))))
        text = str(int(middle * scale) + draw.randrange(-1, 3))
        found.append(text[: -len(str(scale)) + 1] + "." + text[-len(str(scale)) + 1 :])
    return [*found, "9007199254740993", "-9007199254740993.0", "4503599627370496.5", "4503599627370497.5"]


def test_long_numbers_are_rounded_once() -> None:
    texts = near_the_middle()
    assert read(texts) == [float(text) for text in texts]
    assert read([f"-{text}" for text in texts[:400]]) == [-float(text) for text in texts[:400]]


def test_long_numbers_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decimal_numbers, "_one_by_one", None)
    texts = [repr(draw) for draw in np.random.default_rng(3).normal(0, 30, 2000).tolist()]
    texts = [text for text in texts if sum(map(str.isdigit, text)) <= 19]
    assert len(texts) > 1900
    assert read(texts) == [float(text) for text in texts]


def test_every_number_of_few_digits() -> None:
    texts = [f"{whole}.{rest:02d}" for whole in range(-120, 120) for rest in range(100)]
    assert read(texts) == [float(text) for text in texts]
    assert read([str(grade) for grade in range(10)]) == [float(grade) for grade in range(10)]
