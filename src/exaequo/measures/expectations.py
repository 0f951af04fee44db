"""The closed forms: for each measure that has one, its mean over all orders of tied documents. See docs/expected.md."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exaequo.judge import Floats, Ints
from exaequo.measures.gain import discount, gain_of, ideal_dcg, refuse_higher, sums_so_far
from exaequo.measures.interpolated import least_found
from exaequo.measures.moments import Linear, Moments, Stops, closed, linear, of_linear, stopping
from exaequo.measures.recall import collection_size, saved_work
from exaequo.measures.registry import add_moments, catalogue_so_far
from exaequo.measures.sets import ratio
from exaequo.measures.subtopics import ideal_alpha_dcg, n_subtopics, relevant_pairs
from exaequo.order import Ranking

# ----------------------------------------------------------------------------------- the order inside a tie is nothing


def _unchanged(name: str) -> None:
    function = catalogue_so_far()[name].function

    def moments(ranking: Ranking, **params: object) -> Moments:
        return Moments(function(ranking, **params), np.zeros(ranking.n_topics))

    add_moments(name, moments)


for _name in "SetP SetR SetF IDCG BreakEven Precall NumQ NumRet NumRel NumRelRet".split():
    _unchanged(_name)

# ------------------------------------------------------------------------------------- a gain times a weight, summed up


@linear("P")
def _p(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, 1 / cutoff)


@linear("R")
def _r(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, _one_by(ranking.n_rel(rel)))


@linear("F")
def _f(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Linear:
    n = ranking.n_rel(rel)
    return Linear(ranking.relevant(rel), ranking.rank <= cutoff, (1 + beta**2) * (n > 0) / (beta**2 * n + cutoff))


@linear("E")
def _e(ranking: Ranking, cutoff: int, rel: float | None = None, beta: float = 1.0) -> Linear:
    return _one_minus(_f(ranking, cutoff, rel, beta))


@linear("Noise")
def _noise(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return _one_minus(_p(ranking, cutoff, rel))


@linear("Silence")
def _silence(ranking: Ranking, cutoff: int, rel: float | None = None) -> Linear:
    return _one_minus(_r(ranking, cutoff, rel))


@linear("Rprec")
def _rprec(ranking: Ranking, rel: float | None = None) -> Linear:
    n = ranking.n_rel(rel)
    return Linear(ranking.relevant(rel), ranking.rank <= n[ranking.topic], _one_by(n))


@linear("RBP")
def _rbp(ranking: Ranking, cutoff: int | None = None, p: float = 0.8, rel: float | None = None) -> Linear:
    return Linear(ranking.relevant(rel), np.power(p, ranking.rank - 1.0) * _top(ranking, cutoff), 1 - p)


@linear("RBPRes")
def _rbpres(ranking: Ranking, p: float = 0.8) -> Linear:
    unknown = ~ranking.judged | (ranking.grade < 0)
    return Linear(unknown, np.power(p, ranking.rank - 1.0), 1 - p, np.power(p, ranking.returned.astype(np.float64)))


@linear("Judged")
def _judged(ranking: Ranking, cutoff: int | None = None) -> Linear:
    top = _top(ranking, cutoff)
    return Linear(ranking.judged, top, _one_by(ranking.total(ranking.topic, top)))


@linear("DCG")
def _dcg(
    ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Mapping[float, float] | None = None
) -> Linear:
    gain = np.where(ranking.judged, gain_of(ranking.grade, dcg, gains), 0.0)
    return Linear(gain, _top(ranking, cutoff) / discount(ranking.rank, dcg))


@linear("nDCG")
def _ndcg(
    ranking: Ranking, cutoff: int | None = None, dcg: str = "log2", gains: Mapping[float, float] | None = None
) -> Linear:
    plain = _dcg(ranking, cutoff, dcg, gains)
    return Linear(plain.gain, plain.weight, _one_by(ideal_dcg(ranking, cutoff, dcg, gains)))


@linear("NCG")
def _ncg(ranking: Ranking, cutoff: int) -> Linear:
    topic, rank, grade = ranking.judgments.ideal
    ideal = ranking.total(topic[rank <= cutoff], grade[rank <= cutoff])
    return Linear(np.maximum(ranking.grade, 0.0), ranking.rank <= cutoff, _one_by(ideal))


@linear("SDCG")
def _sdcg(ranking: Ranking, cutoff: int, max_rel: float = 4.0) -> Linear:
    refuse_higher("SDCG", ranking, max_rel)
    plain = _dcg(ranking, cutoff)
    best = max_rel * float(np.sum(1 / discount(np.arange(1, cutoff + 1), "log2")))
    return Linear(plain.gain, plain.weight, 1 / best)


@linear("RNorm")
def _rnorm(ranking: Ranking, docs: int, rel: float | None = None) -> Linear:
    n, relevant = ranking.n_rel(rel), ranking.relevant(rel)
    missing = n - ranking.total(ranking.topic[relevant])
    at_the_end = missing * docs - missing * (missing - 1) / 2
    scale = _one_by(n * (docs - n))
    offset = np.where(n == docs, 1.0, 1 - (at_the_end - n * (n + 1) / 2) * scale) * (n > 0)
    return Linear(relevant, ranking.rank.astype(np.float64), -scale, offset)


def _top(ranking: Ranking, cutoff: int | None) -> Floats:
    return np.ones(len(ranking.rank)) if cutoff is None else (ranking.rank <= cutoff).astype(np.float64)


def _one_by(number: Floats | Ints) -> Floats:
    return ratio(np.ones(len(number)), number)


def _one_minus(form: Linear) -> Linear:
    return Linear(form.gain, form.weight, -form.scale, 1 - form.offset)


# ------------------------------------------------------------------------------------------- a reader stops somewhere


@closed("RR")
def _rr(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Moments:
    stops = _first_relevant(ranking, rel)
    worth = np.where(stops.rank <= (cutoff or np.inf), 1 / stops.rank, 0.0)
    mean = ranking.total(stops.owner, stops.chance * worth)
    return Moments(mean, np.maximum(ranking.total(stops.owner, stops.chance * worth**2) - mean**2, 0.0))


@closed("Success")
def _success(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    stops = _first_relevant(ranking, rel)
    mean = np.minimum(ranking.total(stops.owner, np.where(stops.rank <= cutoff, stops.chance, 0.0)), 1.0)
    return Moments(mean, mean * (1 - mean))


def _first_relevant(ranking: Ranking, rel: float | None) -> Stops:
    groups = ranking.groups
    of = groups.of[ranking.relevant(rel)]
    return stopping(groups.topic, groups.before, groups.size, of, np.zeros(len(of)))


@closed("ERR")
def _err(ranking: Ranking, cutoff: int | None = None, max_rel: float = 4.0) -> Moments:
    refuse_higher("ERR", ranking, max_rel)
    groups, at = ranking.groups, ranking.gainful
    goes_on = 1 - (np.exp2(ranking.grade[at]) - 1) / 2**max_rel
    stops = stopping(groups.topic, groups.before, groups.size, groups.of[at], goes_on)
    return Moments(ranking.total(stops.owner, np.where(stops.rank <= (cutoff or np.inf), stops.chance / stops.rank, 0)))


def _by_subtopic(ranking: Ranking, alpha: float, rel: float | None) -> tuple[Stops, Ints]:
    """Let a reader of each subtopic go down the list; return the stops, and the topic each belongs to."""
    subtopics, groups = ranking.judgments.subtopics, ranking.groups
    at, pairs = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
    # A tie is seen by each of the subtopics it has a document for.
    n_groups = max(len(groups.size), 1)
    seen, group = np.unique(subtopics.subtopic[pairs] * n_groups + groups.of[at], return_inverse=True)
    owner, tie = seen // n_groups, seen % n_groups
    stops = stopping(owner, groups.before[tie], groups.size[tie], np.sort(group), np.full(len(group), 1 - alpha))
    return stops, subtopics.topic[stops.owner]


@closed("StRecall")
def _strecall(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    stops, topic = _by_subtopic(ranking, 1.0, rel)
    seen = ranking.total(topic, np.where(stops.rank <= cutoff, stops.chance, 0.0))
    return Moments(ratio(seen, n_subtopics(ranking.judgments, rel)))


@closed("alpha_nDCG")
def _alpha_ndcg(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    ideal = ideal_alpha_dcg(ranking.judgments, cutoff, alpha, rel)
    return Moments(ratio(_novelty(ranking, cutoff, alpha, rel, "log2"), ideal))


@closed("ERR_IA")
def _err_ia(ranking: Ranking, cutoff: int, alpha: float = 0.5, rel: float | None = None) -> Moments:
    best = float(np.sum(np.power(1 - alpha, np.arange(cutoff)) / np.arange(1, cutoff + 1)))
    return Moments(ratio(_novelty(ranking, cutoff, alpha, rel, "rank"), best * n_subtopics(ranking.judgments, rel)))


def _novelty(ranking: Ranking, cutoff: int, alpha: float, rel: float | None, dcg: str) -> Floats:
    """Return the mean discounted gain. What a rank gains is what it takes off (1 − α)^seen, over α."""
    if alpha == 0:
        at, _ = relevant_pairs(ranking, np.flatnonzero(ranking.judged), rel)
        gain = np.bincount(at, minlength=len(ranking.rank)).astype(np.float64)
        return of_linear(ranking, Linear(gain, _top(ranking, cutoff) / _discount(ranking.rank, dcg))).mean
    stops, topic = _by_subtopic(ranking, alpha, rel)
    gain = np.where(stops.rank <= cutoff, stops.chance / alpha / _discount(stops.rank, dcg), 0.0)
    return ranking.total(topic, gain)


def _discount(rank: Ints, dcg: str) -> Floats:
    return rank.astype(np.float64) if dcg == "rank" else discount(rank, dcg)


# ------------------------------------------------------------------------------------------------- one by one


@closed("AP")
def _ap(ranking: Ranking, cutoff: int | None = None, rel: float | None = None) -> Moments:
    """At each rank of a tie: the chance of a relevant document, times the mean precision there if it is one.

    For the variance see docs/expected.md: sums over two, three and four different ranks, by running sums.
    """
    groups, n = ranking.groups, ranking.n_rel(rel)
    inside, above = groups.counts(ranking.relevant(rel))
    kept = inside[groups.of] > 0
    at = np.flatnonzero(kept if cutoff is None else kept & (ranking.rank <= cutoff))
    of = groups.of[at]
    size, r, f, rank = groups.size[of], inside[of], above[of], ranking.rank[at]
    before = rank - groups.before[of] - 1.0
    mean = ratio(ranking.total(ranking.topic[at], r / size * (f + 1 + before * ratio(r - 1, size - 1)) / rank), n)
    # Sums over the ranks of each tie of a = 1 / rank and of b = a · (ranks of the tie above), alone and in pairs.
    a, b = 1 / rank, before / rank
    tie = np.unique(of, return_inverse=True)[1] if len(of) else of

    def added(values: Floats) -> Floats:
        return np.asarray(np.bincount(tie, weights=values), dtype=np.float64)

    def above_it(values: Floats) -> Floats:
        """Sum of the values of the ranks of the same tie above each."""
        return sums_so_far(values, tie) - values

    if not len(of):
        return Moments(mean, np.zeros(ranking.n_topics))
    first = np.flatnonzero(np.concatenate(([True], tie[1:] != tie[:-1])))
    one, two, three, four = _chances(size[first].astype(np.float64), r[first].astype(np.float64))
    found = f[first] + 1.0
    aa, bb, ab = added(a) ** 2 - added(a * a), added(b) ** 2 - added(b * b), added(a * b)
    pairs, lower = (
        2 * added(a * above_it(a)),
        2 * added(a * above_it(b)),
    )  # Σ over two ranks of a·a, and of a·a·(least − 1)
    linear = one * added(a * a) + two * aa
    mixed = two * (ab + pairs / 2) + three * (added(a) * added(b) - ab - pairs / 2)
    square = two * ab + three * (added(b * b) - ab + 2 * lower) + four * (bb - 2 * lower)
    second = found**2 * linear + 2 * found * mixed + square
    expected = found * one * added(a) + two * added(b)
    variance = np.maximum(second - expected**2, 0.0)
    return Moments(mean, ratio(ranking.total(groups.topic[of[first]], variance), n.astype(np.float64) ** 2))


def _chances(size: Floats, marked: Floats) -> list[Floats]:
    """Return the chance that 1, 2, 3, 4 given places of a tie all hold a marked document."""
    chances, chance = [], np.ones(len(size))
    for number in range(4):
        chance = chance * np.maximum(ratio(marked - number, np.maximum(size - number, 1)), 0.0)
        chances.append(chance)
    return chances


@closed("Bpref")
def _bpref(ranking: Ranking, rel: float | None = None) -> Moments:
    """Among the q judged nonrelevant documents of its tie, a relevant one has 0 … q above it, all equally likely."""
    relevant, groups, n = ranking.relevant(rel), ranking.groups, ranking.n_rel(rel)
    nonrelevant = ranking.judged & (ranking.grade >= 0) & ~relevant
    r, _ = groups.counts(relevant)
    q, b = groups.counts(nonrelevant)
    cap = n[groups.topic]
    room = np.clip(cap - b, 0, q)  # how many of the q more count before the cap is reached
    mean = np.minimum(b, cap) + (room * (room + 1) / 2 + (q - room) * room) / (q + 1)
    most = np.minimum(ranking.judgments.nonrelevant(rel), n)[groups.topic]
    return Moments(ratio(ranking.total(groups.topic, r * (1 - ratio(mean, most))), n))


@closed("PRES")
def _pres(ranking: Ranking, cutoff: int, rel: float | None = None) -> Moments:
    """The ranks found are linear; the missing documents need the mean of a square, which is hypergeometric."""
    groups, n = ranking.groups, ranking.n_rel(rel)
    r, _ = groups.counts(ranking.relevant(rel))
    drawn = np.clip(cutoff - groups.before, 0, groups.size)
    share = r / groups.size
    found = ranking.total(groups.topic, share * drawn)
    ranks = ranking.total(groups.topic, share * (drawn * groups.before + drawn * (drawn + 1) / 2))
    variance = ranking.total(groups.topic, drawn * share * (1 - share) * ratio(groups.size - drawn, groups.size - 1))
    missing = n - found
    ranks = ranks + missing * (cutoff + n) - (missing * (missing - 1) + variance) / 2
    return Moments(np.where(n > 0, 1 - (ratio(ranks, n) - (n + 1) / 2) / cutoff, 0.0))


def _nth_relevant(ranking: Ranking, nth: Ints, rel: float | None) -> tuple[Floats, Floats]:
    """Return mean and variance of the rank of the nth relevant document of each topic; NaN where there is none."""
    groups = ranking.groups
    r, f = groups.counts(ranking.relevant(rel))
    wanted = nth[groups.topic]
    at = np.flatnonzero((f < wanted) & (wanted <= f + r))
    i, m, own = wanted[at] - f[at], groups.size[at], r[at]
    mean, variance = np.full(ranking.n_topics, np.nan), np.zeros(ranking.n_topics)
    mean[groups.topic[at]] = groups.before[at] + i * (m + 1) / (own + 1)
    variance[groups.topic[at]] = i * (own - i + 1) * (m + 1) * (m - own) / ((own + 1) ** 2 * (own + 2))
    return mean, variance


@closed("WSS")
def _wss(ranking: Ranking, recall: float, docs: int | None = None, rel: float | None = None) -> Moments:
    rank, variance = _nth_relevant(ranking, least_found(recall, ranking.n_rel(rel)), rel)
    size = np.full(ranking.n_topics, docs) if docs else ranking.returned
    return Moments(saved_work(ranking, recall, rank, docs, rel), ratio(variance, size.astype(np.float64) ** 2))


@closed("LastRel")
def _last_relevant(ranking: Ranking, docs: int, rel: float | None = None) -> Moments:
    rank, variance = _nth_relevant(ranking, ranking.n_rel(rel), rel)
    size = collection_size("LastRel", ranking, docs, rel)
    return Moments(np.where(np.isnan(rank), size, rank), variance)


@closed("PDoc")
def _pdoc(ranking: Ranking, doc: str, rel: float | None = None) -> Moments:
    """The document is as likely to stand at each rank of its tie; above it, the others are shared out evenly."""
    groups, relevant = ranking.groups, ranking.relevant(rel)
    named = (ranking.lines.run.frame["docno"] == doc).to_numpy()[ranking.row]
    r, f = groups.counts(relevant)
    its, own = np.zeros(len(r), dtype=bool), np.zeros(len(r))
    its[groups.of[named]] = True
    own[groups.of[named & relevant]] = 1
    at = np.flatnonzero(its[groups.of])
    of = groups.of[at]
    others = (ranking.rank[at] - groups.before[of] - 1) * ratio((r - own)[of], groups.size[of] - 1)
    value = (f[of] + own[of] + others) / ranking.rank[at] / groups.size[of]
    there = ranking.total(groups.topic[its]) > 0
    return Moments(np.where(there, ranking.total(ranking.topic[at], value), np.nan))
