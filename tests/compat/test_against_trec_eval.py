"""Random evaluations beside trec_eval itself: every value of every measure it has."""

from __future__ import annotations

import numpy as np
import pytest
from against_trec_eval import MEASURES, compared, drawn, searched


def test_small_evaluations() -> None:
    random = np.random.default_rng(5)
    for level, judged_only in ((1, False), (2, False), (1, True)):
        count, differ = compared(*drawn(random, 400), level, judged_only)
        assert count > 10_000
        assert not differ, differ[:3]


def test_a_difference_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("against_trec_eval.ours.RELEASE", 10)
    assert len(MEASURES) > 30
    _, differ = compared(*drawn(np.random.default_rng(5), 400))
    assert differ


@pytest.mark.soak
def test_many_evaluations() -> None:
    for _, _, differ in searched(20, seed=9):
        assert not differ, differ[:3]
