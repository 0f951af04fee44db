"""What the official program alone computes, or computes differently, quirks included.

In: `Lists`, and a cutoff, a level or all parameters. Out: one value per topic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from exaequo.arrays import Floats, Ints
from exaequo.measures import gain
from exaequo.measures.arithmetic import ratio
from exaequo.measures.interpolated import best_precision_from
from exaequo.measures.sets import found, set_precision, set_recall
from exaequo.trec_eval import OfficialError
from exaequo.trec_eval.gains import gained
from exaequo.trec_eval.lists import Lists

#: Beyond any rank, and safe to convert to a whole number.
_FAR = 2.0**62

Params = tuple[Any, ...]


def _least_found(lists: Lists, level: float, rel: float | None = None) -> Ints:
    """Relevant documents that make a recall level: rounded in release 10, cut after adding 0.9 in release 9."""
    share = np.clip(level * lists.n_rel(rel), -_FAR, _FAR)
    rounded = np.trunc(share + 0.9) if lists.release == 9 else np.trunc(share + np.copysign(0.5, share))
    least: Ints = rounded.astype(np.int64)
    return least


def interpolated(lists: Lists, recall: float, rel: float | None = None) -> Floats:
    """Return interpolated precision at a recall level, rounded as the release rounds."""
    least, hits = _least_found(lists, recall, rel), found(lists, rel)
    best = best_precision_from(lists, np.maximum(least, 1), rel)
    with np.errstate(invalid="ignore"):  # an empty list has a precision of 0/0, which the official program prints
        nothing = hits / lists.returned
    return np.where((hits == 0) & (least <= 0), nothing, best)


def eleven_points(lists: Lists, levels: Params) -> Floats:
    """Average over the levels, walked from the last to the first as the list is read from its end.

    A level that is out of order is never met; it and all before it get the precision at the top of the list.
    """
    total, hits = np.zeros(lists.n_topics), found(lists, None)
    skipping, lost = np.ones(lists.n_topics, dtype=bool), np.zeros(lists.n_topics, dtype=bool)
    top, left = interpolated(lists, 0.0), hits
    for level in reversed(levels):
        least = _least_found(lists, level)
        skipping &= least > hits
        lost |= ~skipping & ((least > left) | (least <= 0))
        total += np.where(skipping, 0.0, np.where(lost, top, interpolated(lists, level)))
        left = np.where(skipping | lost, left, least)
    return total / len(levels)


def precision_at_multiple(lists: Lists, multiple: float) -> Floats:
    """Precision at a multiple of the number of relevant documents."""
    cutoff = np.trunc(np.clip(multiple * lists.n_rel() + 0.9, -1, _FAR)).astype(np.int64)
    hits = lists.hits()
    inside = hits.rank <= cutoff[hits.topic]
    return ratio(lists.total(hits.topic[inside]), np.maximum(cutoff, 0))


def relative_precision(lists: Lists, cutoff: int) -> Floats:
    """Precision over the best there can be at this cutoff."""
    return ratio(found(lists, None, cutoff), np.minimum(cutoff, lists.n_rel()))


def unjudged(lists: Lists, cutoff: int) -> Floats:
    """Share of documents nobody judged."""
    top = (lists.rank <= cutoff) & (lists.rel < 0)
    return lists.total(lists.topic[top]) / cutoff


def judged_nonrelevant(lists: Lists) -> Floats:
    """Documents in the list that were judged, and are not relevant."""
    return lists.total(lists.topic[lists.rel >= 0]) - found(lists, None)


def set_relative_precision(lists: Lists, rel: float | None = None) -> Floats:
    """Precision of the whole list over the best there can be at its length."""
    return ratio(found(lists, rel), np.minimum(lists.returned, lists.n_rel(rel)))


def set_ap(lists: Lists) -> Floats:
    """Precision times recall of the whole list."""
    return ratio(found(lists, None) ** 2, lists.returned.astype(np.float64) * lists.n_rel())


def set_f(lists: Lists, params: Params, rel: float | None = None) -> Floats:
    """F of the whole list; the parameter is β² of the textbooks."""
    x, precision, recall = params[0], set_precision(lists, rel), set_recall(lists, rel)
    return ratio((x + 1.0) * precision * recall, x * precision + recall)


def utility(lists: Lists, params: Params) -> Floats:
    """What documents are worth: relevant or not in the list, relevant or not outside of it."""
    if len(params) != 4:
        raise OfficialError(4, f"measure utility: {len(params)} coefficients; expected 4, as in utility.1,-1,0,0.")
    hits, returned, relevant = found(lists, None), lists.returned, lists.n_rel()
    rest = lists.collection_size + hits - returned - relevant
    a, b, c, d = map(float, params)
    return a * hits + b * (returned - hits) + c * (relevant - hits) + d * rest


def bin_g(lists: Lists) -> Floats:
    """G where every relevant document has a gain of 1."""
    hits = lists.hits()
    return ratio(lists.total(hits.topic, 1.0 / np.log2(2 + hits.rank - hits.nth)), lists.n_rel())


def g(lists: Lists, params: Params) -> Floats:
    """Gain over the logarithm of what the reader has paid: at least 1 a rank, and the ideal gain if that is more."""
    given = gained(lists, params)
    cost = lists.running(np.maximum(given.ideal_gain_at(lists.topic, lists.rank), 1.0))
    some = given.gain != 0
    with np.errstate(all="ignore"):
        parts = given.gain[some] / np.log2(2 + cost[some] - lists.running(given.gain)[some])
    return ratio(lists.total(lists.topic[some], parts), lists.total(given.ideal_topic, given.ideal_gain))


def dcg(lists: Lists, params: Params) -> Floats:
    """DCG of the whole list."""
    return gained(lists, params).dcg_at(np.arange(lists.n_topics), lists.returned)


def ideal_dcg(lists: Lists, params: Params) -> Floats:
    """DCG of the ideal list."""
    given = gained(lists, params)
    return given.ideal_dcg_at(np.arange(lists.n_topics), given.ideal_length)


def ndcg(lists: Lists, params: Params) -> Floats:
    """DCG over that of the ideal list."""
    return ratio(dcg(lists, params), ideal_dcg(lists, params)) if params else gain.ndcg(lists)


def ndcg_rel(lists: Lists, params: Params) -> Floats:
    """NDCG at each document with a gain, those never returned at the end of the list, averaged."""
    given = gained(lists, params)
    every = np.arange(lists.n_topics)
    some = given.gain > 0
    topic, rank = lists.topic[some], lists.rank[some]
    with np.errstate(all="ignore"):
        total = lists.total(topic, given.dcg[some] / given.ideal_dcg_at(topic, rank))
        rest = given.ideal_length - lists.total(topic)
        total += rest * given.dcg_at(every, lists.returned) / given.ideal_dcg_at(every, given.ideal_length)
        return np.where(total > 0, total / given.ideal_length, 0.0)


def rndcg(lists: Lists, params: Params) -> Floats:
    """NDCG averaged over the ranks where the ideal gain changes, and the end of the list if it is longer."""
    given = gained(lists, params)
    every, length = np.arange(lists.n_topics), given.ideal_length
    changes = np.flatnonzero(
        (given.ideal_topic[1:] == given.ideal_topic[:-1]) & (given.ideal_gain[1:] != given.ideal_gain[:-1])
    )
    ends, longer = every[length > 0], every[(length > 0) & (length + 1 < lists.returned)]
    topic = np.concatenate((given.ideal_topic[changes], ends, longer))
    seen = np.concatenate((given.ideal_rank[changes], length[ends], lists.returned[longer]))
    with np.errstate(all="ignore"):
        at_change = given.dcg_at(topic, seen) / given.ideal_dcg_at(topic, seen)
        mean = lists.total(topic, at_change) / lists.total(topic)
    return np.where(lists.n_rel() > 0, mean, 0.0)


def rbp(lists: Lists, params: Params) -> Floats:
    """Gains are scaled to [0, 1] if one of the topic's lies outside, as the original documents and means to do."""
    p: float = dict(params).get("p", 0.9)
    given = gained(lists, tuple(pair for pair in params if pair[0] != "p"))
    low, high = _level_gains(lists, params)
    outside = ((low < 0) | (high > 1))[lists.topic]
    with np.errstate(all="ignore"):
        scaled = (given.gain - low[lists.topic]) / (high - low)[lists.topic]
    gains = np.where(outside & (lists.rel >= 0), scaled, given.gain)
    return (1.0 - p) * lists.total(lists.topic, gains * _powers(p, lists.rank - 1))


def _level_gains(lists: Lists, params: Params) -> tuple[Floats, Floats]:
    """Return the least and greatest gain of each topic's levels: all from 0 to its highest, and those given."""
    judgments = lists.judgments
    highest = np.zeros(lists.n_topics)
    np.maximum.at(highest, judgments.topic, judgments.grade)
    given = {int(name): value for name, value in params if name.lstrip("+-").isdigit()}
    low, high = np.full(lists.n_topics, np.inf), np.full(lists.n_topics, -np.inf)
    for level in range(int(highest.max(initial=0)) + 1):
        here = highest >= level
        low[here] = np.minimum(low[here], given.get(level, level))
        high[here] = np.maximum(high[here], given.get(level, level))
    for value in given.values():
        low, high = np.minimum(low, value), np.maximum(high, value)
    return low, high


def rbp_resid(lists: Lists, params: Params) -> Floats:
    """What rank-biased precision could gain if the documents nobody judged were relevant."""
    p = dict(params).get("p", 0.9)
    unknown = lists.rel < 0
    topic = lists.topic[unknown]
    total = lists.total(topic, _powers(p, lists.rank[unknown] - 1))
    return np.where(lists.total(topic) > 0, _powers(p, lists.returned) + (1 - p) * total, 0.0)


def _powers(p: float, exponent: Ints) -> Floats:
    """Powers by repeated multiplication, as a loop makes them."""
    table: Floats = np.concatenate(([1.0], np.cumprod(np.full(int(exponent.max(initial=0)) + 1, p))))
    return table[exponent]


def yaap(lists: Lists) -> Floats:
    """The logarithm of the odds of average precision, smoothed."""
    hits = lists.hits()
    total = lists.total(hits.topic, hits.nth / hits.rank)
    return np.log((1.0 + total) / (1.0 + lists.n_rel() - total))


def relstrings(lists: Lists, params: Params) -> npt.NDArray[np.str_]:
    """The judgments of the first documents of each list, a character each."""
    length = int(np.clip(params[0], 0, lists.returned.max(initial=0)))
    top = lists.rank <= length
    rel = lists.rel[top]
    digits = np.array([str(d) for d in range(10)])[np.clip(rel, 0, 9).astype(np.int64)]
    marks = np.select([rel > 9, rel >= 0, rel == -1], [">", digits, "-"], ".")
    text = "".join(marks.tolist())
    ends = np.cumsum(np.minimum(lists.returned, length)).tolist()
    return np.array([text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)], dtype=np.str_)
