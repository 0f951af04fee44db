"""Readers who go on from rank i with a chance C(i), as cwl_eval has them. In: `Lists`. Out: what they can expect.

Of the chances follow the weights of ranks, W, which are what a measure is made of, and the chance to stop at each, L:
Moffat, Bailey, Scholer, Thomas, ACM TOIS 35(3), 2017. Nobody looks beyond rank 1000, and every document costs 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from exaequo.arrays import Floats
from exaequo.errors import BadParameter
from exaequo.measures.users import DEEPEST
from exaequo.trec_eval.lists import Lists

#: Topics whose lists are spread out at a time.
_STEP = 1024


class Expected(NamedTuple):
    """What a reader can expect: gain and cost per document, in all, and how many documents, topic by topic."""

    utility: Floats
    total_utility: Floats
    cost: Floats
    total_cost: Floats
    items: Floats


Chances = Callable[[Floats, Floats, Mapping[str, Any]], Floats]


def _satisfied(gains: Floats, _: Floats, __: Mapping[str, Any]) -> Floats:
    return np.where(np.cumsum(gains, axis=1) > 0, 0.0, 1.0)


def _worth_going_on(gains: Floats, rank: Floats, _: Mapping[str, Any]) -> Floats:
    """Return the share of what lies from here on that lies below: so weights make average precision of the list."""
    left = np.cumsum((gains / rank)[:, ::-1], axis=1)[:, ::-1]
    below = np.concatenate((left[:, 1:], np.zeros((len(left), 1))), axis=1)
    return np.divide(below, left, out=np.zeros_like(below), where=left > 0)


def _expects(T: Floats | float, rank: Floats) -> Floats:  # noqa: N803 - the name in the literature
    chance: Floats = ((rank + T - 1) / (rank + T)) ** 2
    return chance


#: The chance to go on of the reader of each measure, from gains, ranks and parameters; after a cutoff it is 0.
CHANCES: dict[str, Chances] = {
    "P": lambda gains, _, __: np.ones_like(gains),
    "RR": _satisfied,
    "AP": _worth_going_on,
    "RBP": lambda gains, _, given: np.full_like(gains, given["p"]),
    "BPM": lambda gains, _, given: np.where(np.cumsum(gains, axis=1) < given["T"], 1.0, 0.0),
    "SDCG": lambda gains, rank, _: np.broadcast_to(np.log2(rank + 1) / np.log2(rank + 2), gains.shape),
    "NERR8": lambda gains, _, __: 1 - gains,
    "NERR9": lambda gains, rank, _: rank / (rank + 1) * (1 - gains),
    "NERR10": lambda gains, _, given: given["p"] * (1 - gains),
    "NERR11": lambda gains, rank, given: _expects(2 * given["T"], rank) * (1 - gains),
    "INST": lambda gains, rank, given: _expects(2 * given["T"] - np.cumsum(gains, axis=1), rank),
    "INSQ": lambda gains, rank, given: np.broadcast_to(_expects(2 * given["T"], rank), gains.shape),
}


def expected(lists: Lists, name: str, given: Mapping[str, Any]) -> Expected:
    """Return what the reader of a measure with these parameters can expect of each list."""
    parts = [_of(gains, name, given) for gains in _spread(lists, _gain(lists, given))]
    return Expected(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _gain(lists: Lists, given: Mapping[str, Any]) -> Floats:
    """Return the gain of each document: 1 from a grade on, or its place on the scale from `min_rel` to `max_rel`."""
    if "max_rel" not in given:
        return np.where(lists.relevant(given["rel"]), 1.0, 0.0)
    low, high = given["min_rel"], given["max_rel"]
    if low >= high:
        raise BadParameter(f"min_rel must be below max_rel. Got {low:g} and {high:g} instead.")
    on_scale = (np.clip(np.maximum(lists.grade, 0.0), low, high) - low) / (high - low)
    return np.where(lists.judged, on_scale, 0.0)


def _spread(lists: Lists, gain: Floats) -> Iterator[Floats]:
    """Yield tables of topics × ranks, without gain where a list has ended."""
    for start in range(0, lists.n_topics, _STEP):
        table = np.zeros((min(_STEP, lists.n_topics - start), DEEPEST))
        at = np.arange(*np.searchsorted(lists.topic, (start, start + _STEP)))
        at = at[lists.rank[at] <= DEEPEST]
        table[lists.topic[at] - start, lists.rank[at] - 1] = gain[at]
        yield table


def _of(gains: Floats, name: str, given: Mapping[str, Any]) -> Expected:
    rank = np.arange(1.0, DEEPEST + 1)
    goes_on = CHANCES[name](gains, rank, given)
    if given.get("cutoff") is not None:
        goes_on = np.where(rank < given["cutoff"], goes_on, 0.0)
    looks = np.concatenate((np.ones((len(gains), 1)), np.cumprod(goes_on[:, :-1], axis=1)), axis=1)
    first = 1 / looks.sum(axis=1, keepdims=True)
    weight, stops = looks * first, looks * (1 - goes_on)
    return Expected(
        (weight * gains).sum(axis=1),
        (stops * np.cumsum(gains, axis=1)).sum(axis=1),
        weight.sum(axis=1),
        (stops * rank).sum(axis=1),
        1 / first[:, 0],
    )
