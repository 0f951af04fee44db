"""Error rates against the number of topics: all splits of small data by brute force, and random ones near them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from exaequo import BadParameter
from exaequo.stats.reversals import reversals


def by_hand(values: np.ndarray, n: int, alpha: float = 0.05) -> tuple[float, float, float, float, int]:
    """The four rates and the number of splits, one split and one pair after the other."""
    topics = range(values.shape[1])
    counts = dict.fromkeys(("all", "differ", "reversed", "sure", "sure reversed"), 0)
    sets = list(combinations(topics, n))
    splits = {frozenset((one, two)) for one in sets for two in sets if not {*one} & {*two}}
    for split in splits:
        for here, there in (tuple(split), tuple(split)[::-1]):
            for first, second in combinations(values, 2):
                gaps, others = (first - second)[list(here)], (first - second)[list(there)]
                said, other = np.sign(np.round(gaps.sum(), 9)), np.sign(np.round(others.sum(), 9))
                if np.ptp(gaps) > 1e-12:
                    sure = n > 1 and stats.ttest_1samp(gaps, 0).pvalue < alpha
                else:
                    sure = bool(said) and 2 * 0.5**n < alpha
                opposite = said * other < 0
                found = (1, said != 0, opposite, sure, opposite and sure)
                counts = {name: total + int(each) for (name, total), each in zip(counts.items(), found, strict=True)}

    def percent(part: str, whole: str) -> float:
        return 100 * counts[part] / counts[whole] if counts[whole] else float("nan")

    rates = percent("differ", "all"), percent("reversed", "differ"), percent("sure", "all")
    return *rates, percent("sure reversed", "sure"), len(splits)


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["any", "grades", "equal differences", "large"])
def test_all_splits(kind: str) -> None:
    source = np.random.Generator(np.random.PCG64(5))
    values = source.random((4, 8)) + np.arange(4)[:, None] * 0.15
    if kind == "grades":
        values = np.round(values * 3) / 3
    elif kind == "equal differences":
        values[1] = values[0] + 0.1
        values[2] = values[0]
    elif kind == "large":
        values = values + 1e4
    found = reversals(values, 0.2, splits=10_000)
    assert found.topics.tolist() == [1, 2, 3, 4]
    for at, n in enumerate(found.topics):
        *rates, splits = by_hand(values, int(n), 0.2)
        assert found.splits[at] == splits
        own = found.differ[at], found.reversed[at], found.significant[at], found.significant_reversed[at]
        assert own == pytest.approx(rates, nan_ok=True, abs=1e-9), (kind, n)
    assert np.nanmax(found.significant_reversed) > 0 or kind == "equal differences"


def test_random_splits_are_near_all_of_them() -> None:
    values = np.random.Generator(np.random.PCG64(7)).random((5, 10)) + np.arange(5)[:, None] * 0.1
    every, some = reversals(values, splits=10**6), reversals(values, splits=1000, seed=3)
    assert every.splits.tolist() == [45, 630, 2100, 1575, 126]
    assert some.splits.tolist() == [45, 630, 1000, 1000, 126]
    assert some.reversed == pytest.approx(every.reversed, abs=1.5)
    assert not np.array_equal(some.reversed, every.reversed)
    again, other = reversals(values, splits=1000, seed=3), reversals(values, splits=1000, seed=4)
    assert np.array_equal(some.reversed, again.reversed)
    assert not np.array_equal(some.reversed, other.reversed)


def test_the_curve_falls() -> None:
    """Systems of different skill: the more topics, the fewer reversals, and fewest among significant differences."""
    values = np.random.Generator(np.random.PCG64(1)).random((6, 60)) + np.arange(6)[:, None] * 0.05
    found = reversals(values, splits=300)
    assert found.topics.tolist() == [1, 4, 6, 9, 12, 14, 17, 19, 22, 25, 27, 30]
    assert found.reversed[-1] < found.reversed[3] < found.reversed[0]
    assert (found.significant_reversed[1:] < found.reversed[1:]).all()
    assert found.significant[0] == 0


def test_nothing_to_conclude() -> None:
    same = reversals(np.full((3, 6), 0.5))
    assert same.differ.tolist() == [0, 0, 0]
    assert np.isnan(same.reversed).all()
    for values in (np.zeros((1, 6)), np.zeros((3, 1)), np.zeros((3, 0))):
        assert len(reversals(values).topics) == 0
    with pytest.raises(BadParameter, match="splits"):
        reversals(np.zeros((2, 4)), splits=0)


def test_many_systems_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.Generator(np.random.PCG64(2)).random((6, 12))
    whole = reversals(values, splits=200)
    monkeypatch.setattr("exaequo.stats.reversals._CHUNK", 40)
    parts = reversals(values, splits=200)
    assert np.array_equal(whole.reversed, parts.reversed)
    assert np.array_equal(whole.significant_reversed, parts.significant_reversed, equal_nan=True)
