"""How far a reproduction agrees with the original: against repro_eval, by hand, and what must hold for all runs."""

from __future__ import annotations

import warnings
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, ttest_ind, ttest_rel

import exaequo
from exaequo.cli import run as command
from exaequo.replication import Replication
from exaequo.replication.levels import paired, unpaired
from exaequo.stats.agreement import rbo
from exaequo.stats.lists import inversions

Runs = dict[str, dict[str, float]]
#: Measures that repro_eval asks ir_measures for, and exaequo by the same names.
MEASURES = ("AP", "nDCG", "nDCG@10", "P@5", "RR", "Rprec", "R@20", "Bpref")


def replicate(*arguments: Any, **options: Any) -> Replication:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.replicate(*arguments, **options)


def experiment(seed: int, *, ties: bool, length: int = 40) -> tuple[Runs, Runs, Runs, Runs, Runs]:
    """Judgments, and baseline, advanced, and the reproductions of both: permutations of half of the documents."""
    random = np.random.default_rng(seed)
    topics = [f"t{number}" for number in range(12)]
    qrels: Runs = {topic: {f"{topic}-d{at:02}": int(random.integers(0, 3)) for at in range(60)} for topic in topics}
    runs: list[Runs] = []
    for _ in range(4):
        run: Runs = {}
        for topic in topics:
            docs = random.permutation(80)[:length]
            sims = np.sort(random.integers(0, 12, length) if ties else random.random(length))[::-1]
            run[topic] = {f"{topic}-d{at:02}": float(sim) for at, sim in zip(docs, sims, strict=True)}
        runs.append(run)
    return qrels, *runs  # type: ignore[return-value]


def write(folder: Path, name: str, run: Runs) -> str:
    lines = [f"{topic} Q0 {doc} 0 {sim!r} {name}\n" for topic, docs in run.items() for doc, sim in docs.items()]
    (folder / name).write_text("".join(lines), encoding="utf-8")
    return str(folder / name)


def renamed_in_order(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """Name documents so that the order of names is that of the union: the first list, then what is new in the second.

    Both must be written in their order.
    """
    for topic in first:
        union = list(dict.fromkeys([*first[topic], *second[topic]]))
        names = {doc: f"{topic}-{at:04}" for at, doc in enumerate(union)}
        for run in (first, second):
            run[topic] = {names[doc]: sim for doc, sim in run[topic].items()}
    return first, second


def in_order(run: Runs) -> Runs:
    """A run in the conventional order."""
    return {
        topic: dict(sorted(docs.items(), key=lambda item: (item[1], item[0]), reverse=True))
        for topic, docs in run.items()
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning:repro_eval.*")
class TestReproEval:
    """Conventional ties, for repro_eval orders tied documents by name, the last first."""

    @pytest.mark.parametrize(("seed", "ties"), [(1, False), (2, True), (3, True)])
    def test_scores_and_effects(self, seed: int, ties: bool, tmp_path: Path) -> None:
        from repro_eval.Evaluator import RpdEvaluator, RplEvaluator

        qrels, *runs = experiment(seed, ties=ties)
        lines = [f"{topic} 0 {doc} {rel}\n" for topic, docs in qrels.items() for doc, rel in docs.items()]
        judged = tmp_path / "qrels"
        judged.write_text("".join(lines), encoding="utf-8")
        paths = [write(tmp_path, name, in_order(run)) for name, run in zip("bacd", runs, strict=True)]
        keys = ("run_b_orig_path", "run_a_orig_path", "run_b_rep_path", "run_a_rep_path")
        given = dict(zip(keys, paths, strict=True))

        theirs = RpdEvaluator(qrels_orig_path=str(judged), **given)
        theirs.evaluate()
        ours = replicate(judged, paths[:2], paths[2:], MEASURES, ties="conventional")
        for name, column in (("rmse", "rmse"), ("nrmse", "nrmse"), ("ttest", "p")):
            found = getattr(theirs, name)()
            for at, kind in enumerate(("baseline", "advanced")):
                own = ours.runs.filter(pl.col("original") == "ba"[at])
                for measure, value in own.select("measure", column).rows():
                    assert value == pytest.approx(found[kind][measure], abs=1e-9), (name, kind, measure)
        self.same_effects(theirs, ours)

        other = RplEvaluator(qrels_orig_path=str(judged), qrels_rpl_path=str(judged), **given)
        other.evaluate()
        ours = replicate(judged, paths[:2], paths[2:], MEASURES, with_qrels=judged, ties="conventional")
        self.same_effects(other, ours)
        found = other.ttest()
        for original, measure, p in ours.runs.select("original", "measure", "p").rows():
            kind = {"b": "baseline", "a": "advanced"}[original]
            assert p == pytest.approx(found[kind][measure], abs=1e-9), (kind, measure)
        assert "rmse" not in ours.runs.columns
        assert ours.orders.is_empty()
        assert ours.topics.is_empty()

    @staticmethod
    def same_effects(theirs: Any, ours: Replication) -> None:
        for name, column in (("er", "effect_ratio"), ("dri", "delta_ri")):
            found = getattr(theirs, name)()
            assert ours.effects.height == len(MEASURES)
            for measure, value in ours.effects.select("measure", column).rows():
                assert value == pytest.approx(found[measure], rel=1e-9, abs=1e-9), (name, measure)

    @pytest.mark.parametrize(("seed", "ties"), [(4, False), (5, True)])
    def test_orders(self, seed: int, ties: bool) -> None:
        from repro_eval.measure.document_order import KTU, RBO

        qrels, one, two, *_ = experiment(seed, ties=ties)
        one, two = in_order(one), in_order(two)
        found = replicate(qrels, one, two, "AP", ties="conventional").topics
        theirs = RBO(one, two, p=0.95, depth=40, pbar=False, per_topic=True)
        for topic, value in found.select("topic", "rbo").rows():
            assert value == pytest.approx(theirs[topic], abs=1e-9)
        # τ: the same where the names are in the order of the union, so that numbering by name is numbering by place
        if ties:
            return
        first, second = renamed_in_order(one, two)
        judged = {topic: dict.fromkeys(docs, 1) for topic, docs in first.items()}
        found = replicate(judged, first, second, "AP", ties="conventional").topics
        tau = KTU(first, second, per_topic=True)
        for topic, value in found.select("topic", "tau").rows():
            assert value == pytest.approx(tau[topic], abs=1e-9)

    def test_a_swap_among_three(self) -> None:
        """Names decide in repro_eval: of two lists that differ by one swap of three, it says they are reversed."""
        from repro_eval.measure.document_order import KTU

        one = {"1": {"d3": 3.0, "d1": 2.0, "d2": 1.0}}
        two = {"1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}}
        assert KTU(one, two) == -1
        assert replicate({"1": {"d1": 1}}, one, two, "AP").orders["tau"].to_list() == [pytest.approx(1 / 3)]

    def test_short_lists(self) -> None:
        """repro_eval looks 1,000 ranks down, whatever the lists have: three documents do not agree with themselves."""
        from repro_eval.measure.document_order import RBO

        run = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
        assert RBO(run, run, p=0.95, depth=1000, pbar=False, per_topic=False) < 0.4
        assert replicate({"1": {"a": 1}}, run, run, "AP").orders["rbo"].to_list() == [pytest.approx(1)]


class TestByHand:
    def test_everything(self) -> None:
        qrels = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}
        base = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}, "2": {"x": 3.0, "a": 2.0}}
        better = {"1": {"a": 3.0, "b": 2.0, "x": 1.0}, "2": {"a": 3.0, "x": 2.0}}
        again = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"x": 3.0, "a": 2.0}}
        result = replicate(qrels, {"base": base, "better": better}, {"b2": base, "a2": again}, "RR P@1")
        # RR: base ½ ½, better 1 1, a2 1 ½.  P@1: base 0 0, better 1 1, a2 1 0.
        rr = result.effects.filter(pl.col("measure") == "RR").row(0, named=True)
        assert (rr["baseline"], rr["advanced"]) == ("base", "better")
        assert rr["improvement"] == 0.5
        assert rr["improvement_reproduced"] == 0.25
        assert rr["effect_ratio"] == 0.5
        assert (rr["ri"], rr["ri_reproduced"], rr["delta_ri"]) == (1.0, 0.5, 0.5)
        p1 = result.effects.filter(pl.col("measure") == "P@1").row(0, named=True)
        assert p1["effect_ratio"] == 0.5
        assert np.isnan(p1["delta_ri"])  # a baseline of 0 has no relative improvement
        run = result.runs.filter((pl.col("original") == "better") & (pl.col("measure") == "RR")).row(0, named=True)
        assert run["rmse"] == pytest.approx(np.sqrt(0.125))
        assert run["nrmse"] == pytest.approx(np.sqrt(0.125))  # the greatest error possible is 1 in both topics
        assert run["difference"] == -0.25
        # better a b x, a2 a x b: overlap 1, 1, 3 of 1, 2, 3; one of three pairs turned; topic 2 the other way round
        first = result.topics.filter((pl.col("original") == "better") & (pl.col("topic") == "1")).row(0, named=True)
        weights = np.array([1, 0.95, 0.95**2])
        assert first["rbo"] == pytest.approx((weights * [1, 1 / 2, 1]).sum() / weights.sum())
        assert first["tau"] == pytest.approx(1 / 3)
        assert first["RR"] == 0
        second = result.topics.filter((pl.col("original") == "better") & (pl.col("topic") == "2")).row(0, named=True)
        assert (second["tau"], second["RR"]) == (-1, -0.5)
        (order,) = result.orders.filter(pl.col("original") == "better").to_dicts()
        assert order["tau"] == pytest.approx((1 / 3 - 1) / 2)
        assert "better over base, RR: improvement 0.5000 → 0.2500, effect ratio 0.5000" in result.sentences[2]
        assert result.sentences[2].endswith("it is smaller")

    def test_other_documents_and_cutoffs(self) -> None:
        one = {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}
        two = {"1": {"d1": 3.0, "d2": 2.0, "d4": 1.0}}
        result = replicate({"1": {"d1": 1}}, one, two, "AP", cutoffs=(1, 2))
        assert result.orders["cutoff"].to_list() == [None, 1, 2]
        taus = result.orders["tau"].to_list()
        assert (taus[0], taus[2]) == (1, 1)  # 1 2 3 and 1 2 4
        assert np.isnan(taus[1])
        assert result.orders["rbo"].to_list()[1:] == [1, 1]

    def test_lists_of_unequal_length(self) -> None:
        one = {"1": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0}, "2": {"a": 1.0}}
        two = {"1": {"b": 5.0, "a": 4.0}, "3": {"z": 1.0}}
        result = replicate({"1": {"a": 1}, "2": {"a": 1}}, one, two, "AP").topics
        assert result["tau"].to_list()[0] == -1  # both up to 2: a b, b a
        assert np.isnan(result["tau"][1])
        assert result["rbo"][1] == 0  # one has a list, the other none
        weights = 0.95 ** np.arange(4)
        assert result["rbo"][0] == pytest.approx((weights * [0, 1, 2 / 3, 2 / 4]).sum() / weights.sum())
        left = replicate({"1": {"a": 1}, "2": {"a": 1}}, one, two, "AP", missing="skip")
        assert left.topics["rbo"].is_nan().to_list() == [False, True]
        assert left.topics["AP"].to_list() == [-0.5, None]

    @pytest.mark.parametrize("seed", range(5))
    def test_p(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        one, two, longer = random.random(9), random.random(9), random.random(14)
        assert paired(one, two) == pytest.approx(ttest_rel(one, two).pvalue, abs=1e-12)
        assert unpaired(one, longer) == pytest.approx(ttest_ind(one, longer).pvalue, abs=1e-12)

    def test_p_of_what_does_not_vary(self) -> None:
        ones = np.ones(4)
        assert unpaired(ones, ones) == 1
        assert np.isnan(unpaired(ones, 0 * ones))
        assert np.isnan(unpaired(ones[:1], ones[:1]))
        assert np.isnan(paired(ones[:1], ones[:1]))


@given(st.permutations(range(23)))
def test_inversions(numbers: list[int]) -> None:
    places = np.array(numbers)
    assert inversions(places).tolist() == [int((places[:at] > places[at]).sum()) for at in range(len(places))]


@st.composite
def two_lists(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, float]]:
    docs = st.sampled_from("abcdefghijkl")
    sims = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
    return tuple(draw(st.dictionaries(docs, sims, min_size=1, max_size=9)) for _ in range(2))  # type: ignore[return-value]


def groups(run: dict[str, float]) -> list[Any]:
    return [{doc for doc, own in run.items() if own == sim} for sim in sorted(set(run.values()), reverse=True)]


@settings(max_examples=60, deadline=None)
@given(two_lists())
def test_ties_as_ties(lists: tuple[dict[str, float], dict[str, float]]) -> None:
    """Lists of one length, looked at to a depth where nothing is left: what `stats.agreement` has, topic by topic."""
    one, two = lists
    length = max(len(one), len(two))
    for run, name in ((one, "x"), (two, "y")):
        run |= {f"{name}{at}": -1.0 - at for at in range(length - len(run) + 60)}
    found = replicate({"1": {"a": 1}}, {"1": one}, {"1": two}, "AP", p=0.5)
    assert found.orders["rbo_ties"].item() == pytest.approx(rbo(groups(one), groups(two), 0.5, "b"), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(two_lists())
def test_tau_is_that_of_scipy(lists: tuple[dict[str, float], dict[str, float]]) -> None:
    one, two = (in_order({"1": run})["1"] for run in lists)
    n = min(len(one), len(two))
    first, second = list(one)[:n], list(two)[:n]
    union = list(dict.fromkeys(first + second))
    found = replicate({"1": {"a": 1}}, {"1": one}, {"1": two}, "AP", ties="conventional").orders["tau"].item()
    if n < 2:
        assert np.isnan(found)
    else:
        expected = kendalltau([union.index(doc) for doc in first], [union.index(doc) for doc in second]).statistic
        assert found == pytest.approx(expected, abs=1e-9)


def test_overlap_of_ties_is_that_of_all_orders() -> None:
    """The products of shares are means over all orders: without the correction, brute force."""
    one, two = {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0}, {"b": 3.0, "c": 2.0, "a": 2.0, "e": 2.0}

    def orders(run: dict[str, float]) -> list[list[str]]:
        parts = [list(permutations(sorted(group))) for group in groups(run)]
        return [[doc for part in each for doc in part] for each in product(*parts)]

    agreement = np.zeros(4)
    every = list(product(orders(one), orders(two)))
    for mine, theirs in every:
        agreement += [len(set(mine[: d + 1]) & set(theirs[: d + 1])) / len(every) for d in range(4)]
    own = np.array([[1 / 2, 2, 2 + 1 / 2, 4], [1, 1 + 1 / 3, 1 + 4 / 3, 4]])  # squared shares, added up
    weights = 0.95 ** np.arange(4)
    expected = (agreement / np.sqrt(own[0] * own[1]) * weights).sum() / weights.sum()
    found = replicate({"1": {"a": 1}}, {"1": one}, {"1": two}, "AP").orders["rbo_ties"].item()
    assert found == pytest.approx(expected, abs=1e-12)


class TestWhatHolds:
    @pytest.mark.parametrize("ties", ["realistic", "conventional", "optimistic", "input"])
    def test_a_run_against_itself(self, ties: str) -> None:
        qrels, runs = exaequo.sample()
        result = replicate(qrels, runs, runs, MEASURES, ties=ties, cutoffs=(10,))
        for name in ("tau", "rbo", "rbo_ties"):
            assert result.orders[name].to_list() == pytest.approx([1] * 12)
        for column, value in (("rmse", 0), ("nrmse", 0), ("difference", 0), ("p", 1)):
            assert set(result.runs[column]) == {value}
        assert result.effects["effect_ratio"].drop_nans().to_list() == pytest.approx([1] * (5 * len(MEASURES)))
        assert set(result.effects["delta_ri"]) == {0}
        other = replicate(qrels, runs, runs, MEASURES, ties=ties, with_qrels=qrels)
        assert other.runs["p"].to_list() == [1] * (6 * len(MEASURES))
        assert other.effects.equals(result.effects)

    def test_no_ties_no_difference(self) -> None:
        qrels, one, two, *_ = experiment(6, ties=False)
        topics = replicate(qrels, one, two, "AP").topics
        assert topics["rbo_ties"].to_list() == pytest.approx(topics["rbo"].to_list(), abs=1e-12)

    @settings(max_examples=25, deadline=None)
    @given(two_lists(), st.randoms(use_true_random=False))
    def test_names_and_places_are_nothing(self, lists: tuple[dict[str, float], dict[str, float]], random: Any) -> None:
        """Under realistic ties; where judgments tell tied documents apart, so that names order none of them."""
        qrels = {"1": {doc: at + 1 for at, doc in enumerate("abcdefghijkl")}}
        names = dict(zip("abcdefghijkl", random.sample("ABCDEFGHIJKL", 12), strict=True))

        def renamed(docs: dict[str, Any]) -> dict[str, Any]:
            shuffled = list(docs.items())
            random.shuffle(shuffled)
            return {names[doc]: value for doc, value in shuffled}

        first = replicate(qrels, *({"1": each} for each in lists), "AP nDCG")
        second = replicate({"1": renamed(qrels["1"])}, *({"1": renamed(each)} for each in lists), "AP nDCG")
        for name in ("orders", "runs", "topics"):
            assert first.tables[name].equals(second.tables[name])

    def test_topics_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        qrels, one, two, *_ = experiment(7, ties=True)
        whole = replicate(qrels, one, two, "AP").topics
        monkeypatch.setattr("exaequo.stats.lists._CELLS", 100)
        assert replicate(qrels, one, two, "AP").topics.equals(whole)

    @pytest.mark.parametrize(("missing", "scored"), [("zero", 30), ("skip", 6)])
    def test_means_are_over_the_topics_that_are_said(self, missing: str, scored: int) -> None:
        lists = {"a": 3.0, "b": 2.0, "c": 1.0}
        qrels = {str(topic): {"a": 1} for topic in range(30)}
        whole = {str(topic): lists for topic in range(30)}
        part = {str(topic): lists for topic in range(6)}
        result = replicate(qrels, whole, part, "AP", missing=missing, cutoffs=(1,))
        assert result.options["topics"] == [scored, scored]
        assert result.orders["topics"].to_list() == [6, 6]
        assert result.orders["rbo"].to_list() == pytest.approx([1, 1])
        assert result.orders["tau"].to_list()[0] == 1
        short = replicate(qrels, whole, part | {"7": {"b": 1.0}}, "AP", missing=missing).orders.row(0, named=True)
        assert (short["topics"], short["rbo"]) == (6, pytest.approx(1))  # τ of one document is undefined

    def test_the_header_says_how_many(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        lists = {"a": 3.0, "b": 2.0, "c": 1.0}
        (tmp_path / "qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in range(30)), encoding="utf-8")
        one = write(tmp_path, "one", {str(topic): lists for topic in range(30)})
        two = write(tmp_path, "two", {str(topic): lists for topic in range(6)})
        assert command(["replicate", str(tmp_path / "qrels"), one, "--with", two, "--missing", "skip"]) == 0
        assert capfd.readouterr().out.startswith("6 topics, realistic ties, paired t-test")

    def test_where_less_is_better_better_is_positive(self) -> None:
        qrels, one, two, three, four = experiment(9, ties=False)
        result = replicate(qrels, {"b": one, "a": two}, {"b2": three, "a2": four}, "P@10 Noise@10").effects
        up, down = result.to_dicts()
        for name in ("improvement", "improvement_reproduced", "effect_ratio"):
            assert down[name] == pytest.approx(up[name])
        assert down["ri"] > 0 or up["improvement"] <= 0
        assert down["ri"] * up["ri"] > 0
        assert down["delta_ri"] == down["ri"] - down["ri_reproduced"]


class TestRequests:
    def test_baseline(self, tmp_path: Path) -> None:
        qrels, *runs = experiment(8, ties=False)
        path = write(tmp_path, "b.txt", runs[1])
        given = [write(tmp_path, "a.txt", runs[0]), path]
        for baseline in ("b.txt", path):
            effects = replicate(qrels, given, given, "AP", baseline=baseline).effects
            assert effects["baseline"].to_list() == [f"b.txt ({path})"]
        with pytest.raises(exaequo.BadParameter, match="no original 'c' to be the baseline"):
            replicate(qrels, given, given, "AP", baseline="c")

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"p": 1.0}, "between 0 and 1"),
            ({"cutoffs": (0,)}, "whole numbers"),
            ({"ties": "expected"}, "ties must be one of"),
            ({"measures": "gm(AP)"}, "take AP"),
        ],
    )
    def test_refused(self, options: dict[str, Any], message: str) -> None:
        run = {"1": {"a": 1.0}}
        with pytest.raises(exaequo.BadParameter, match=message):
            replicate({"1": {"a": 1}}, run, run, **options)

    def test_numbers_must_match(self) -> None:
        run = {"1": {"a": 1.0}}
        with pytest.raises(exaequo.BadParameter, match="Got 2 and 1"):
            replicate({"1": {"a": 1}}, {"x": run, "y": run}, run)

    def test_one_run_has_no_effects(self) -> None:
        run = {"1": {"a": 1.0}, "2": {"a": 2.0}}
        result = replicate({"1": {"a": 1}, "2": {"a": 1}}, run, run)
        assert result.effects.is_empty()
        assert len(result.sentences) == 1
