"""What the measures of ir_measures compute on the lists of the official program, as its default providers do.

`judged_only` chooses the lists before a function is called; it stands here so that the measure has the parameter.
"""

from __future__ import annotations

import numpy as np

from exaequo.judge import Floats
from exaequo.measures import gain, incomplete, ranks
from exaequo.measures.arithmetic import ratio
from exaequo.measures.sets import found
from exaequo.trec_eval import measures as official
from exaequo.trec_eval.lists import Lists


def p(lists: Lists, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return found(lists.ranking, rel, cutoff) / cutoff


def r(lists: Lists, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return ratio(found(lists.ranking, rel, cutoff), lists.ranking.n_rel(rel))


def rr(lists: Lists, cutoff: int | None = None, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return ranks.reciprocal_rank(lists.ranking, cutoff, rel)


def ap(lists: Lists, cutoff: int | None = None, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return ranks.average_precision(lists.ranking, cutoff, rel)


def rprec(lists: Lists, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return ranks.r_precision(lists.ranking, rel)


def ndcg(
    lists: Lists,
    cutoff: int | None = None,
    dcg: str = "log2",
    gains: dict[float, float] | None = None,
    judged_only: bool = False,
) -> Floats:
    del judged_only
    return gain.ndcg(lists.ranking, cutoff, dcg, gains)


def err(lists: Lists, cutoff: int | None = None) -> Floats:
    return gain.expected_reciprocal_rank(lists.ranking, cutoff)


def rbp(lists: Lists, cutoff: int | None = None, p: float = 0.8, rel: int | None = None) -> Floats:
    return ranks.rank_biased_precision(lists.ranking, cutoff, p, 1 if rel is None else rel)


def bpref(lists: Lists, rel: int = 1) -> Floats:
    return incomplete.bpref(lists.ranking, rel)


def infap(lists: Lists, rel: int = 1) -> Floats:
    return incomplete.inferred_ap(lists.ranking, rel)


def judged(lists: Lists, cutoff: int | None = None) -> Floats:
    return incomplete.judged(lists.ranking, cutoff)


def success(lists: Lists, cutoff: int, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return np.minimum(found(lists.ranking, rel, cutoff), 1.0)


def iprec(lists: Lists, recall: float, rel: int = 1, judged_only: bool = False) -> Floats:
    del judged_only
    return official.interpolated(lists.at_level(rel), recall)


def set_p(lists: Lists, rel: int = 1, relative: bool = False, judged_only: bool = False) -> Floats:
    del judged_only
    most = np.minimum(lists.n_ret, lists.ranking.n_rel(rel)) if relative else lists.n_ret
    return ratio(found(lists.ranking, rel), most)


def set_r(lists: Lists, rel: int = 1) -> Floats:
    return ratio(found(lists.ranking, rel), lists.ranking.n_rel(rel))


def set_f(lists: Lists, rel: int = 1, beta: float = 1.0, judged_only: bool = False) -> Floats:
    precision, recall = set_p(lists, rel, judged_only=judged_only), set_r(lists, rel)
    return ratio((beta + 1.0) * precision * recall, beta * precision + recall)


def set_ap(lists: Lists, rel: int = 1, judged_only: bool = False) -> Floats:
    return set_p(lists, rel, judged_only=judged_only) * set_r(lists, rel)


def num_q(lists: Lists) -> Floats:
    return np.ones(lists.n_topics)


def num_rel(lists: Lists, rel: int = 1) -> Floats:
    return lists.ranking.n_rel(rel).astype(np.float64)


def num_ret(lists: Lists, rel: int | None = None) -> Floats:
    return lists.n_ret.astype(np.float64) if rel is None else found(lists.ranking, rel)
