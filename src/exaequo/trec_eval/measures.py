"""What each official measure computes: `Lists` and parameters in, one array of values per figure out.

Measures of exaequo's own catalogue are called; the others are peculiar to the official program, quirks included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from exaequo.aggregate import GM_FLOOR
from exaequo.judge import Floats, Ints
from exaequo.measures.arithmetic import ratio
from exaequo.measures.gain import ideal_dcg, ndcg
from exaequo.measures.incomplete import bpref, inferred_ap
from exaequo.measures.interpolated import best_precision_from
from exaequo.measures.ranks import average_precision, r_precision, reciprocal_rank
from exaequo.measures.sets import found, success
from exaequo.trec_eval.catalogue import OfficialError
from exaequo.trec_eval.gains import gained
from exaequo.trec_eval.lists import Lists

#: Beyond any rank, and safe to convert to a whole number.
_FAR = 2.0**62

Params = tuple[Any, ...]
Figures = list[Floats]
Calculation = Callable[[Lists, Params], Figures]


def _one(function: Callable[[Lists], Floats]) -> Calculation:
    return lambda lists, _: [function(lists)]


def _each(function: Callable[[Lists, Any], Floats]) -> Calculation:
    return lambda lists, cutoffs: [function(lists, cutoff) for cutoff in cutoffs]


def _ap(lists: Lists, cutoff: int | None = None) -> Floats:
    return average_precision(lists.ranking, cutoff, lists.level)


def _logarithm(values: Floats) -> Floats:
    return np.log(np.maximum(values, GM_FLOOR))


def _precision(lists: Lists, cutoff: int) -> Floats:
    return found(lists.ranking, lists.level, cutoff) / cutoff


def _least_found(lists: Lists, level: float) -> Ints:
    """Relevant documents that make a recall level: rounded in release 10, cut after adding 0.9 in release 9."""
    share = np.clip(level * lists.n_rel, -_FAR, _FAR)
    rounded = np.trunc(share + 0.9) if lists.release == 9 else np.trunc(share + np.copysign(0.5, share))
    least: Ints = rounded.astype(np.int64)
    return least


def interpolated(lists: Lists, level: float) -> Floats:
    """Return interpolated precision at a recall level, rounded as the release rounds."""
    least = _least_found(lists, level)
    best = best_precision_from(lists.ranking, np.maximum(least, 1), lists.level)
    with np.errstate(invalid="ignore"):  # an empty list has a precision of 0/0, which the official program prints
        nothing = lists.n_rel_ret / lists.n_ret
    return np.where((lists.n_rel_ret == 0) & (least <= 0), nothing, best)


def _eleven_points(lists: Lists, levels: Params) -> Figures:
    """Average over the levels, walked from the last to the first as the list is read from its end.

    A level that is out of order is never met; it and all before it get the precision at the top of the list.
    """
    total, left = np.zeros(lists.n_topics), lists.n_rel_ret.copy()
    skipping, lost = np.ones(lists.n_topics, dtype=bool), np.zeros(lists.n_topics, dtype=bool)
    top = interpolated(lists, 0.0)
    for level in reversed(levels):
        least = _least_found(lists, level)
        skipping &= least > lists.n_rel_ret
        lost |= ~skipping & ((least > left) | (least <= 0))
        total += np.where(skipping, 0.0, np.where(lost, top, interpolated(lists, level)))
        left = np.where(skipping | lost, left, least)
    return [total / len(levels)]


def _precision_at_multiple(lists: Lists, multiple: float) -> Floats:
    """Precision at a multiple of the number of relevant documents."""
    cutoff = np.trunc(np.clip(multiple * lists.n_rel + 0.9, -1, _FAR)).astype(np.int64)
    hits = lists.ranking.hits(lists.level)
    inside = hits.rank <= cutoff[hits.topic]
    return ratio(lists.ranking.total(hits.topic[inside]), np.maximum(cutoff, 0))


def _relative_precision(lists: Lists, cutoff: int) -> Floats:
    return ratio(found(lists.ranking, lists.level, cutoff), np.minimum(cutoff, lists.n_rel))


def _unjudged(lists: Lists, cutoff: int) -> Floats:
    top = (lists.ranking.rank <= cutoff) & (lists.rel < 0)
    return lists.ranking.total(lists.ranking.topic[top]) / cutoff


def _set_f(lists: Lists, params: Params) -> Figures:
    """The parameter is β² of the textbooks."""
    x = params[0]
    precision, recall = ratio(lists.n_rel_ret, lists.n_ret), ratio(lists.n_rel_ret, lists.n_rel)
    return [ratio((x + 1.0) * precision * recall, x * precision + recall)]


def _utility(lists: Lists, params: Params) -> Figures:
    if len(params) != 4:
        raise OfficialError(4, f"measure utility: {len(params)} coefficients; expected 4, as in utility.1,-1,0,0.")
    found_, returned, relevant = lists.n_rel_ret, lists.n_ret, lists.n_rel
    rest = lists.collection_size + found_ - returned - relevant
    a, b, c, d = params
    return [a * found_ + b * (returned - found_) + c * (relevant - found_) + d * rest]


def _bin_g(lists: Lists) -> Floats:
    hits = lists.ranking.hits(lists.level)
    return ratio(lists.ranking.total(hits.topic, 1.0 / np.log2(2 + hits.rank - hits.nth)), lists.n_rel)


def _g(lists: Lists, params: Params) -> Figures:
    """Gain over the logarithm of what the reader has paid: at least 1 a rank, and the ideal gain if that is more."""
    given = gained(lists, params)
    ranking = lists.ranking
    cost = lists.running(np.maximum(given.ideal_gain_at(ranking.topic, ranking.rank), 1.0))
    some = given.gain != 0
    with np.errstate(all="ignore"):
        parts = given.gain[some] / np.log2(2 + cost[some] - lists.running(given.gain)[some])
    return [ratio(ranking.total(ranking.topic[some], parts), ranking.total(given.ideal_topic, given.ideal_gain))]


def _dcg(lists: Lists, params: Params) -> Figures:
    given = gained(lists, params)
    every = np.arange(lists.n_topics)
    return [given.dcg_at(every, lists.n_ret)]


def _ideal_dcg(lists: Lists, params: Params) -> Figures:
    if not params:
        return [ideal_dcg(lists.ranking, None, "log2", None)]
    given = gained(lists, params)
    return [given.ideal_dcg_at(np.arange(lists.n_topics), given.ideal_length)]


def _ndcg(lists: Lists, params: Params) -> Figures:
    if not params:
        return [ndcg(lists.ranking)]
    return [ratio(_dcg(lists, params)[0], _ideal_dcg(lists, params)[0])]


def _ndcg_rel(lists: Lists, params: Params) -> Figures:
    """NDCG at each document with a gain, those never returned at the end of the list, averaged."""
    given = gained(lists, params)
    ranking, every = lists.ranking, np.arange(lists.n_topics)
    some = given.gain > 0
    topic, rank = ranking.topic[some], ranking.rank[some]
    with np.errstate(all="ignore"):
        total = ranking.total(topic, given.dcg[some] / given.ideal_dcg_at(topic, rank))
        rest = given.ideal_length - ranking.total(topic)
        total += rest * given.dcg_at(every, lists.n_ret) / given.ideal_dcg_at(every, given.ideal_length)
        return [np.where(total > 0, total / given.ideal_length, 0.0)]


def _rndcg(lists: Lists, params: Params) -> Figures:
    """NDCG averaged over the ranks where the ideal gain changes, and the end of the list if it is longer."""
    given = gained(lists, params)
    ranking, every = lists.ranking, np.arange(lists.n_topics)
    length = given.ideal_length
    changes = np.flatnonzero(
        (given.ideal_topic[1:] == given.ideal_topic[:-1]) & (given.ideal_gain[1:] != given.ideal_gain[:-1])
    )
    ends, longer = every[length > 0], every[(length > 0) & (length + 1 < lists.n_ret)]
    topic = np.concatenate((given.ideal_topic[changes], ends, longer))
    seen = np.concatenate((given.ideal_rank[changes], length[ends], lists.n_ret[longer]))
    with np.errstate(all="ignore"):
        at_change = given.dcg_at(topic, seen) / given.ideal_dcg_at(topic, seen)
        mean = ranking.total(topic, at_change) / ranking.total(topic)
    return [np.where(lists.n_rel > 0, mean, 0.0)]


def _rbp(lists: Lists, params: Params) -> Figures:
    """Gains are scaled to [0, 1] if one of the topic's lies outside, as the original documents and means to do."""
    p = dict(params).get("p", 0.9)
    given = gained(lists, tuple(pair for pair in params if pair[0] != "p"))
    low, high = _level_gains(lists, params)
    outside = ((low < 0) | (high > 1))[lists.ranking.topic]
    with np.errstate(all="ignore"):
        scaled = (given.gain - low[lists.ranking.topic]) / (high - low)[lists.ranking.topic]
    gain = np.where(outside & (lists.rel >= 0), scaled, given.gain)
    return [(1.0 - p) * lists.ranking.total(lists.ranking.topic, gain * _powers(p, lists.ranking.rank - 1))]


def _level_gains(lists: Lists, params: Params) -> tuple[Floats, Floats]:
    """Return the least and greatest gain of each topic's levels: all from 0 to its highest, and those given."""
    judgments = lists.ranking.judgments
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


def _rbp_resid(lists: Lists, params: Params) -> Figures:
    p = dict(params).get("p", 0.9)
    unjudged = lists.rel < 0
    topic = lists.ranking.topic[unjudged]
    total = lists.ranking.total(topic, _powers(p, lists.ranking.rank[unjudged] - 1))
    some = lists.ranking.total(topic) > 0
    return [np.where(some, _powers(p, lists.n_ret) + (1 - p) * total, 0.0)]


def _powers(p: float, exponent: Ints) -> Floats:
    """Powers by repeated multiplication, as a loop makes them."""
    table: Floats = np.concatenate(([1.0], np.cumprod(np.full(int(exponent.max(initial=0)) + 1, p))))
    return table[exponent]


def _yaap(lists: Lists) -> Floats:
    hits = lists.ranking.hits(lists.level)
    total = lists.ranking.total(hits.topic, hits.nth / hits.rank)
    return np.log((1.0 + total) / (1.0 + lists.n_rel - total))


def relstrings(lists: Lists, params: Params) -> list[str]:
    """The judgments of the first documents of each list, a character each."""
    length = int(np.clip(params[0], 0, lists.n_ret.max(initial=0)))
    top = lists.ranking.rank <= length
    rel = lists.rel[top]
    digits = np.array([str(d) for d in range(10)])[np.clip(rel, 0, 9).astype(np.int64)]
    marks = np.select([rel > 9, rel >= 0, rel == -1], [">", digits, "-"], ".")
    text = "".join(marks.tolist())
    ends = np.cumsum(np.minimum(lists.n_ret, length)).tolist()
    return [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


CALCULATIONS: dict[str, Calculation] = {
    "num_ret": _one(lambda lists: lists.n_ret.astype(np.float64)),
    "num_rel": _one(lambda lists: lists.n_rel.astype(np.float64)),
    "num_rel_ret": _one(lambda lists: lists.n_rel_ret),
    "map": _one(_ap),
    "gm_map": _one(lambda lists: _logarithm(_ap(lists))),
    "Rprec": _one(lambda lists: r_precision(lists.ranking, lists.level)),
    "bpref": _one(lambda lists: bpref(lists.ranking, lists.level)),
    "recip_rank": _one(lambda lists: reciprocal_rank(lists.ranking, None, lists.level)),
    "iprec_at_recall": _each(interpolated),
    "P": _each(_precision),
    "recall": _each(lambda lists, cutoff: ratio(found(lists.ranking, lists.level, cutoff), lists.n_rel)),
    "infAP": _one(lambda lists: inferred_ap(lists.ranking, lists.level)),
    "gm_bpref": _one(lambda lists: _logarithm(bpref(lists.ranking, lists.level))),
    "Rprec_mult": _each(_precision_at_multiple),
    "utility": _utility,
    "11pt_avg": _eleven_points,
    "binG": _one(_bin_g),
    "G": _g,
    "dcg": _dcg,
    "ideal_dcg": _ideal_dcg,
    "ndcg": _ndcg,
    "ndcg_rel": _ndcg_rel,
    "Rndcg": _rndcg,
    "ndcg_cut": _each(lambda lists, cutoff: ndcg(lists.ranking, cutoff)),
    "map_cut": _each(_ap),
    "relative_P": _each(_relative_precision),
    "success": _each(lambda lists, cutoff: success(lists.ranking, cutoff, lists.level)),
    "set_P": _one(lambda lists: ratio(lists.n_rel_ret, lists.n_ret)),
    "set_relative_P": _one(lambda lists: ratio(lists.n_rel_ret, np.minimum(lists.n_ret, lists.n_rel))),
    "set_recall": _one(lambda lists: ratio(lists.n_rel_ret, lists.n_rel)),
    "set_map": _one(
        lambda lists: ratio(lists.n_rel_ret * lists.n_rel_ret, lists.n_ret.astype(np.float64) * lists.n_rel)
    ),
    "set_F": _set_f,
    "num_nonrel_judged_ret": _one(
        lambda lists: lists.ranking.total(lists.ranking.topic[lists.rel >= 0]) - lists.n_rel_ret
    ),
    "yaap": _one(_yaap),
    "rbp": _rbp,
    "rbp_resid": _rbp_resid,
    "unj": _each(_unjudged),
}
