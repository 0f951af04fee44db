"""Decimal numbers as text: many at once in, doubles out, each the nearest there is.

A text is held in words of eight bytes, its first letter in the lowest byte, zeros behind the last; arithmetic on words
treats eight letters at a time. Numbers of up to fifteen digits are whole numbers over a power of ten, both of them
doubles without rounding, so that their quotient is rounded once. Of up to nineteen digits the whole number is two
doubles, and the quotient is corrected by what is left over. Others, and those that lie almost halfway between two
doubles, are read one by one.
"""

from __future__ import annotations

import re
from functools import reduce
from operator import add, or_
from typing import Any

import numpy as np

from exaequo.arrays import Bools, Floats, Ints, Words

#: Bytes of the longest text, in words of eight.
LONGEST = 64
#: What is kept of the words of a text of so many bytes.
KEPT = np.array(
    [[256 ** min(max(size - 8 * at, 0), 8) - 1 for at in range(LONGEST // 8)] for size in range(LONGEST + 1)],
    dtype=np.uint64,
)
#: Digits of a number that one double holds without rounding, and words for them, a point and a minus; the same of two.
_SHORT, _LONG = (15, 2), (19, 3)
_POWERS = np.array([float(10**power) for power in range(_LONG[0] + 1)])
#: Parts of the distance to the next double, less than half of it: a quotient further off may round either way.
_SURELY = 0.499999
#: Splits a double in two halves of as many bits.
_SPLITTER = 2.0**27 + 1
_NUMBERS = re.compile(rb"[0-9+\-.eE\0]*")


def _every(byte: int) -> np.uint64:
    """Return a word of eight such bytes."""
    return np.uint64(0x0101010101010101 * byte)


_ONES, _TOPS, _POINTS, _ZEROS, _OVER_NINE = map(_every, (0x01, 0x80, ord("."), ord("0"), 0x80 - 10))
_BYTE, _EIGHT, _TOP_BYTE, _WORD, _DIGIT = map(np.uint64, (0xFF, 8, 56, 64, ord("0")))
_NONE = np.uint64(0)


def decimals(words: Words, size: Ints) -> Floats | None:
    """Read decimal numbers, in rows of words; None if one is no finite number."""
    low = words[:, 0]
    if words.shape[1] == 1 and size.max() == 1 and ((low - _DIGIT) < 10).all():  # grades, mostly
        return (low - _DIGIT).astype(np.float64)
    value, sure = _read(words, size, *_SHORT)
    if words.shape[1] > 1 and not sure.all():
        rest = np.flatnonzero(~sure)
        value[rest], sure[rest] = _read(words[rest], size[rest], *_LONG)
    if not sure.all():
        others = _one_by_one(words[~sure])
        if others is None:
            return None
        value[~sure] = others
    return value


def _read(words: Words, size: Ints, most: int, width: int) -> tuple[Floats, Bools]:
    """Read numbers of so many digits at most, in so many words; tell which are such numbers, and surely read."""
    columns = [*words[:, :width].T]
    minus = columns[0] & _BYTE == ord("-")
    negative = bool(minus.any())
    if negative:  # the last letter of the last word is lost; without it there is a digit too few, which is seen
        columns = [np.where(minus, moved, word) for word, moved in zip(columns, _moved(columns), strict=True)]
        size = size - minus
    columns, before = _without_point(columns)
    number, sure = _whole(columns, size - (before < 8 * len(columns)), most)
    power = _POWERS.take(size - 1 - before, mode="clip")
    if most > _SHORT[0]:
        number *= sure  # what is none may be more than a double can go back to
        value, nearest = _quotient(number, power)
        sure &= nearest
    else:
        value = number.astype(np.float64)
        value /= power
    return np.where(minus, -value, value) if negative else value, sure


def _moved(columns: list[Words]) -> list[Words]:
    """Return texts without their first letter."""
    behind: list[Any] = [*(word << _TOP_BYTE for word in columns[1:]), _NONE]
    return [word >> _EIGHT | other for word, other in zip(columns, behind, strict=True)]


def _without_point(columns: list[Words]) -> tuple[list[Words], Ints]:
    """Take the first point out of texts; return how many letters stand before it: all there may be without one."""
    found: list[Words] = []
    places: list[Ints] = []
    for word, moved in zip(columns, _moved(columns), strict=True):
        before = _before_point(word)
        if found:
            before = np.where(places[-1] < 8, _NONE, before)
        places.append(np.bitwise_count(before).astype(np.int64) >> 3)
        found.append(word & before | moved & ~before)
    return found, reduce(add, places)


def _before_point(word: Words) -> Words:
    """Return the bits of the letters before the first point; all of them if there is none."""
    differs = word ^ _POINTS
    marks = (differs - _ONES) & ~differs & _TOPS  # the lowest of them is the highest bit of the first point
    return ((marks & (~marks + np.uint64(1))) >> np.uint64(7)) - np.uint64(1)


def _whole(columns: list[Words], digits: Ints, most: int) -> tuple[Words, Bools]:
    """Return whole numbers of so many digits, and which of them are such numbers, and of no more than `most`."""
    simple = (digits > 0) & (digits <= most)
    if not simple.all():
        digits = np.where(simple, digits, 1)
    shift = (8 * len(columns) - digits).astype(np.uint64) << np.uint64(3)  # so that the last digits stand in one column
    columns = [word - (_ZEROS & KEPT[:, at].take(digits)) for at, word in enumerate(columns)]
    # A byte that is no digit is above nine now, or was below zero, and has borrowed from the next.
    odd = reduce(or_, (word + _OVER_NINE | word for word in columns))
    value = np.zeros(len(digits), np.uint64)
    for at, last in enumerate(columns):
        eight = last << shift
        for back, word in enumerate(columns[:at][::-1], 1):
            ahead = np.uint64(64 * back)  # nothing is left of a word that is moved further than it is wide
            eight |= word << (shift - ahead) | word >> (ahead - shift)
        value = value * np.uint64(10**8) + _eight_digits(eight) if at else _eight_digits(eight)
    return value, simple & (odd & _TOPS == 0)


def _quotient(number: Words, power: Floats) -> tuple[Floats, Bools]:
    """Divide whole numbers by powers of ten; return the nearest doubles, and which of them surely are."""
    high = number.astype(np.float64)
    low = (number - high.astype(np.uint64)).view(np.int64)
    first = high / power
    left = high - first * power  # nearly, as the product is rounded
    (one, two), (three, four) = _halves(first), _halves(power)
    rounding = ((one * three - first * power) + one * four + two * three) + two * four
    more = (left - rounding + low) / power
    value = first + more
    rest = np.abs(more - (value - first))  # how far the value is from the quotient
    return value, (rest <= _SURELY * np.spacing(value)) & (np.frexp(value)[0] != 0.5)  # below 2ⁿ, doubles are closer


def _halves(value: Floats) -> tuple[Floats, Floats]:
    """Return two doubles of half the bits that add up to a double, so that products of them are not rounded."""
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high


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
