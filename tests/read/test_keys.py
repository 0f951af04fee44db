"""Keys: found where they stand, and told when one is repeated, whatever share of their bits agrees."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exaequo.read.keys import Index, are_different
from exaequo.read.records import repeated, with_keys

#: Keys that differ in their last bits alone, in their first alone, and some that are anything.
KEYS = st.lists(st.integers(0, 40) | st.integers(0, 40).map(lambda n: n << 58) | st.integers(0, 2**64 - 1), max_size=60)


def brute(keys: list[int], wanted: list[int]) -> set[tuple[int, int]]:
    return {(at, place) for at, one in enumerate(wanted) for place, other in enumerate(keys) if one == other}


@given(KEYS, KEYS)
def test_all_pairs_of_equal_keys_are_found(keys: list[int], wanted: list[int]) -> None:
    at, place = Index(np.array(keys, np.uint64)).find(np.array(wanted, np.uint64))
    pairs = list(zip(at.tolist(), place.tolist(), strict=True))
    assert set(pairs) == brute(keys, wanted)
    assert len(pairs) == len(set(pairs))


@given(KEYS)
def test_a_repeated_key_is_seen(keys: list[int]) -> None:
    assert are_different(np.array(keys, np.uint64)) == (len(set(keys)) == len(keys))


@pytest.mark.parametrize("place", [0, 1, 49_998, 49_999])
def test_one_key_of_many_is_repeated(place: int) -> None:
    keys = np.random.default_rng(1).integers(0, 2**64, 50_000, dtype=np.uint64)
    assert are_different(keys)
    keys[place] = keys[25_000]
    assert not are_different(keys)
    at, found = Index(keys).find(keys[25_000:25_001])
    assert (at.tolist(), sorted(found.tolist())) == ([0, 0], sorted([place, 25_000]))


def test_keys_that_should_be_different_are_given_up_at_the_first_that_is_repeated() -> None:
    keys = np.zeros(200_000, np.uint64)  # table after table they would take hours
    assert not Index(keys, different=True).different
    assert Index(np.arange(1000, dtype=np.uint64), different=True).different


@pytest.mark.parametrize("in_pieces", [True, False])
def test_repeated_lines_are_found_some_topics_at_a_time(in_pieces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exaequo.read.keys._AT_ONCE", 7)
    random = np.random.default_rng(1)
    answers = set()
    for _ in range(200):
        topics = random.integers(0, 12, random.integers(1, 60))
        qid = pl.Series("qid", np.sort(topics) if in_pieces else topics).cast(pl.String)
        docno = pl.Series("docno", random.integers(0, random.choice([40, 4000]), len(topics))).cast(pl.String)
        frame = with_keys(pl.DataFrame([qid, docno]))
        expected = frame.select(pl.struct("qid", "docno").is_duplicated().any()).item()
        assert (repeated(frame) is not None) == expected
        answers.add(expected)
    assert answers == {True, False}
