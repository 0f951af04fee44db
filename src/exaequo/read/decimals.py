"""Decimal numbers as text: many at once in, doubles out, each the nearest there is.

A text is held in words of eight bytes, its first letter in the lowest byte, zeros behind the last; arithmetic on words
treats eight letters at a time. Numbers of up to fifteen digits are whole numbers over a power of ten, both of them
doubles without rounding, so that their quotient is rounded once. Others are read one by one.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]

#: Bytes of the longest text, in words of eight.
LONGEST = 64
#: What is kept of the words of a text of so many bytes.
KEPT = np.array(
    [[256 ** min(max(size - 8 * at, 0), 8) - 1 for at in range(LONGEST // 8)] for size in range(LONGEST + 1)],
    dtype=np.uint64,
)
#: Digits of a number, and their powers of ten, that doubles hold without rounding.
_DIGITS = 15
_POWERS = 10.0 ** np.arange(_DIGITS + 1)
#: Bytes that are looked at: fifteen digits and a point.
_LETTERS = 16
_NUMBERS = re.compile(rb"[0-9+\-.eE\0]*")


def _every(byte: int) -> np.uint64:
    """Return a word of eight such bytes."""
    return np.uint64(0x0101010101010101 * byte)


_ONES, _TOPS, _POINTS, _ZEROS, _OVER_NINE = map(_every, (0x01, 0x80, ord("."), ord("0"), 0x80 - 10))
_BYTE, _EIGHT, _TOP_BYTE, _WORD, _DIGIT = map(np.uint64, (0xFF, 8, 56, 64, ord("0")))


def decimals(words: Words, size: Ints) -> Floats | None:
    """Read decimal numbers, in rows of words; None if one is no finite number."""
    low = words[:, 0]
    if words.shape[1] == 1 and size.max() == 1 and ((low - _DIGIT) < 10).all():  # grades, mostly
        return (low - _DIGIT).astype(np.float64)
    high = words[:, 1] if words.shape[1] > 1 else None
    minus = low & _BYTE == ord("-")
    if minus.any():  # of seventeen letters the last is lost; without it there is a digit too few, which is seen
        moved = low >> _EIGHT if high is None else low >> _EIGHT | high << _TOP_BYTE
        low, high = np.where(minus, moved, low), None if high is None else np.where(minus, high >> _EIGHT, high)
        size = size - minus
    low, high, point = _without_point(low, high)
    value, simple = _whole(low, high, size - (point < _LETTERS))
    value /= _POWERS.take(size - 1 - point, mode="clip")
    if minus.any():
        value = np.where(minus, -value, value)
    if not simple.all():
        rest = _one_by_one(words[~simple])
        if rest is None:
            return None
        value[~simple] = rest
    return value


def _without_point(low: Words, high: Words | None) -> tuple[Words, Words | None, Ints]:
    """Take the first point out of texts; return how many letters stand before it, or a large number without one."""
    before = _before_point(low)
    place = np.bitwise_count(before).astype(np.int64) >> 3
    here = place < 8
    without = low & before | low >> _EIGHT & ~before
    if high is None:
        return without, None, np.where(here, place, _LETTERS)
    later = _before_point(high)
    without |= np.where(here, high << _TOP_BYTE, np.uint64(0))
    rest = np.where(here, high >> _EIGHT, high & later | high >> _EIGHT & ~later)
    return without, rest, np.where(here, place, 8 + (np.bitwise_count(later).astype(np.int64) >> 3))


def _before_point(word: Words) -> Words:
    """Return the bits of the letters before the first point; all of them if there is none."""
    differs = word ^ _POINTS
    marks = (differs - _ONES) & ~differs & _TOPS  # the lowest of them is the highest bit of the first point
    return ((marks & (~marks + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)


def _whole(low: Words, high: Words | None, digits: Ints) -> tuple[Floats, Bools]:
    """Return whole numbers of so many digits, and which of them are such numbers."""
    simple = (digits > 0) & (digits <= _DIGITS)
    if not simple.all():
        digits = np.where(simple, digits, 1)
    shift = (_LETTERS - digits).astype(np.uint64) << np.uint64(3)  # so that the last digits stand in one column
    low = low - (_ZEROS & KEPT[:, 0].take(digits))
    # A byte that is no digit is above nine now, or was below zero, and has borrowed from the next.
    odd = low + _OVER_NINE | low
    last = low << (shift - _WORD)  # nothing is left of a word that is moved further
    if high is None:
        return _eight_digits(last).astype(np.float64), simple & (odd & _TOPS == 0)
    high = high - (_ZEROS & KEPT[:, 1].take(digits))
    odd |= high + _OVER_NINE | high
    last |= high << shift | low >> (_WORD - shift)
    value = (_eight_digits(low << shift) * np.uint64(10**8) + _eight_digits(last)).astype(np.float64)
    return value, simple & (odd & _TOPS == 0)


def _eight_digits(word: Words) -> Words:
    """Return the numbers that words of eight digits are: pairs, then fours, then all."""
    pairs = word * np.uint64(10) + (word >> _EIGHT)
    every_other = np.uint64(0x000000FF000000FF)
    fours = (pairs & every_other) * np.uint64(100 + (1_000_000 << 32))
    fours += (pairs >> np.uint64(16) & every_other) * np.uint64(1 + (10_000 << 32))
    return fours >> np.uint64(32)


def _one_by_one(words: Words) -> list[float] | None:
    if _NUMBERS.fullmatch(words.tobytes()) is None:
        return None
    try:
        values = [*map(float, words.view(f"S{8 * words.shape[1]}").ravel().tolist())]
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
