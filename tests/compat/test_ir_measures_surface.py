"""The whole surface of ir_measures: names, parameters, providers, measures of readers and of diversity, one's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ir_measures
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exaequo import UsageError
from exaequo.compat import ir_measures as ours
from helpers import DOCNOS, Grades, Sims, collections

original: Any = ir_measures
QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1}, "3": {"d": 0}}
RUN = {"1": {"a": 3.0, "b": 2.0, "x": 1.0}, "3": {"d": 1.0}}
READERS = [
    *("BPM(max_rel=4)@3", "BPM(T=0.5,max_rel=3)@10", "SDCG(max_rel=4)@5", "NERR8(max_rel=4)@4", "NERR9(max_rel=3)@9"),
    *("NERR10(p=0.8,max_rel=4)", "NERR11(T=2.0,max_rel=4)", "INST(max_rel=4)", "INST(T=2.0,max_rel=3)"),
    *("INSQ(T=2.0,max_rel=4)", "INSQ(min_rel=1,max_rel=3)", "RBP(p=0.99,rel=1)", "RBP(rel=2)"),
]
DIVERSE = [
    *("ERR_IA@5", "ERR_IA(rel=2)@10", "nERR_IA@5", "alpha_DCG@5", "alpha_nDCG(alpha=0.3)@5", "NRBP", "NRBP(beta=0.8)"),
    *("nNRBP(alpha=0.7,rel=2)", "AP_IA", "P_IA(rel=2)@3", "StRecall@2"),
]


def untied(lists: Sims) -> Sims:
    return {topic: {docno: float(-at) + 100 for at, docno in enumerate(docs)} for topic, docs in lists.items()}


def found_by(who: Any, names: list[str], qrels: Any, run: Any) -> dict[tuple[str, ...], tuple[float, ...]]:
    metrics = who.iter_calc([who.parse_measure(name) for name in names], qrels, run)
    return {(metric[0], str(metric[1])): metric[2:] for metric in metrics}


def same(names: list[str], qrels: Any, run: Any) -> None:
    theirs, mine = (found_by(who, names, qrels, run) for who in (original, ours))
    assert mine.keys() == theirs.keys()
    for key, figures in theirs.items():
        assert mine[key] == pytest.approx(figures, rel=1e-9, abs=1e-12), key


def test_every_name() -> None:
    assert set(original.__all__) <= set(ours.__all__)
    assert all(hasattr(ours, name) for name in ours.__all__)
    assert ours.measures.registry.keys() == original.measures.registry.keys()
    assert ours.providers.registry.keys() == {*original.providers.registry, "exaequo"}
    for module in ("measures", "providers"):
        public = {name for name in getattr(original, module).__all__ if not name.startswith("_")}
        assert public <= set(dir(getattr(ours, module)))


@pytest.mark.parametrize("name", sorted(original.measures.registry))
def test_parameters(name: str) -> None:
    theirs, mine = original.measures.registry[name], ours.measures.registry[name]
    assert (mine.NAME, mine.AT_PARAM, type(mine.aggregator()).__name__) == (
        *(theirs.NAME, theirs.AT_PARAM),
        type(theirs.aggregator()).__name__,
    )
    for parameter, info in theirs.SUPPORTED_PARAMS.items():
        found = mine.SUPPORTED_PARAMS[parameter]
        assert found.dtype is info.dtype
        assert found.required >= info.required
        known = not callable(getattr(info.default, "__init_subclass__", None)) or type(info.default) is not object
        assert found.default == (info.default if known else None)


@settings(max_examples=15)  # a thousand ranks in plain Python, for each topic and measure
@given(collections(grades=(0, 0, 1, 1, 2, 3, 4)))
def test_readers(collection: tuple[Grades, Sims]) -> None:
    qrels = {topic: {docno: int(grade) for docno, grade in docs.items()} for topic, docs in collection[0].items()}
    same(READERS, qrels, untied(collection[1]))


@settings(max_examples=25)
@given(collections(grades=(0, 1, 2)), st.lists(st.sampled_from("xyz"), min_size=40, max_size=40), DOCNOS)
def test_diversity(collection: tuple[Grades, Sims], subtopics: list[str], docno: str) -> None:
    judged = [(topic, name, int(grade)) for topic, docs in collection[0].items() for name, grade in docs.items()]
    triples = [original.Qrel(*each, subtopics[at]) for at, each in enumerate(judged)]
    more = [original.Qrel(topic, docno, 2, "w") for topic in collection[0]]
    # One at a time: of measures with other parameters than the first the original sees an empty run.
    for name in DIVERSE:
        theirs, mine = (found_by(who, [name], [*triples, *more], untied(collection[1])) for who in (original, ours))
        known = {key: 0.0 if math.isnan(value) else value for key, (value,) in theirs.items()}
        assert {key: value for key, (value,) in mine.items()} == pytest.approx(known, abs=1e-9)


@given(collections(grades=(0, 1, 2, 3)))
def test_compatibility_and_accuracy(collection: tuple[Grades, Sims]) -> None:
    qrels = {topic: {docno: int(grade) for docno, grade in docs.items()} for topic, docs in collection[0].items()}
    run = untied(collection[1])
    for topic in run:
        run[topic]["nobody judged this"] = 1.0  # the original divides by the documents that are not relevant
    same(["Compat", "Compat(p=0.8)", "Compat(normalize=False)"], qrels, run)
    same(["Accuracy"], qrels, run)
    same(["Accuracy(rel=2)"], qrels, run)


def test_accuracy_of_a_list_without_pairs_is_left_out() -> None:
    assert list(ours.iter_calc([ours.Accuracy], {"1": {"a": 1}}, {"1": {"a": 1.0}})) == []
    assert math.isnan(ours.Accuracy.calc_aggregate({"1": {"a": 1}}, {"1": {"a": 1.0}}))
    (found,) = ours.Accuracy.iter_calc({"1": {"a": 1}}, {"1": {"x": 3.0, "a": 2.0, "y": 1.0, "z": 0.5}})
    assert found.value == pytest.approx(2 / 3)


def test_what_providers_have_and_how() -> None:
    assert ours.pytrec_eval.supports(ours.RR)
    assert not ours.pytrec_eval.supports(ours.RR @ 5)
    assert ours.msmarco.supports(ours.RR @ 5)
    assert not ours.gdeval.supports(ours.nDCG @ 5)
    for measure in (original.nDCG @ 20, original.ERR @ 20):
        qrels = {"1": QRELS["1"], "2": QRELS["2"]}
        theirs = original.gdeval.calc_aggregate([measure], qrels, RUN)[measure]
        mine = ours.parse_measure(str(measure))
        assert ours.gdeval.calc_aggregate([mine], qrels, RUN)[mine] == pytest.approx(theirs, abs=1e-12)
    with pytest.raises(UsageError, match="judged does not have AP; it has Judged"):
        ours.judged.calc_aggregate([ours.AP], QRELS, RUN)
    both = ours.providers.FallbackProvider([ours.judged, ours.pytrec_eval])
    assert both.calc_aggregate([ours.AP, ours.Judged], QRELS, RUN) == pytest.approx(
        {ours.AP: 1 / 6, ours.Judged: 5 / 9}
    )
    with pytest.raises(UsageError, match="No provider has INSQ"):
        both.evaluator([ours.INSQ(max_rel=1)], QRELS)
    assert not both.supports(ours.INSQ(max_rel=1))


def test_a_provider_of_ones_own() -> None:
    class Evaluator(ours.Evaluator):
        def _iter_calc(self, run: Any) -> Any:
            yield from (ours.Metric(topic, self.measures[0], 7.0) for topic in run)

    class Provider(ours.Provider):
        NAME = "mine"

        def _evaluator(self, measures: Any, qrels: Any, **_: Any) -> Evaluator:
            return Evaluator(measures, qrels)

    assert Provider().calc_aggregate([ours.AP], QRELS, RUN)[ours.AP] == pytest.approx(14 / 3)
    assert Provider().calc([ours.AP], QRELS, RUN).per_query[-1] == ours.Metric("2", ours.AP, 0.0)


@pytest.mark.parametrize("qrels", [{}, [], iter(()), pd.DataFrame({"query_id": [], "doc_id": [], "relevance": []})])
def test_nothing_judged(qrels: Any) -> None:
    for who in (original, ours):
        found = who.calc_aggregate([who.AP, who.NumRel], [] if isinstance(qrels, type(iter(()))) else qrels, RUN)
        assert math.isnan(found[who.AP])
        assert list(who.iter_calc([who.AP], [], RUN)) == []
    assert ours.AP.calc_aggregate({"1": {}}, RUN) == 0
    assert math.isnan(ours.AP.calc(qrels, RUN).aggregated)  # type: ignore[arg-type]


def length(qrels: Any, run: Any) -> float:
    return len(run) + len(qrels) / 10


def lengths(_: Any, run: Any) -> Any:
    return [(topic, len(part)) for topic, part in run.groupby("query_id")]


@pytest.mark.parametrize("cut", [lambda m: m, lambda m: m @ 2])
def test_measures_made_at_run_time(cut: Callable[[Any], Any]) -> None:
    columns = {"run_inputs": ["query_id", "text"], "qrel_inputs": ["query_id"]}
    found = []
    for who in (original, ours):
        by_topic, all_at_once = cut(who.define_byquery(length)), cut(who.define(lengths, "Lengths", **columns))
        beside = who.calc_aggregate([by_topic, who.AP, all_at_once], QRELS, RUN)
        found.append([str(all_at_once), *(beside[m] for m in (by_topic, who.AP, all_at_once))])
        assert set(who.run_inputs([all_at_once])) == {"query_id", "text"}
        assert set(who.qrel_inputs([all_at_once, who.AP])) == {"query_id", "doc_id", "relevance"}
    assert found[0] == found[1]
    assert ours.define_byquery(lambda *_: 1.0) != ours.define_byquery(lambda *_: 2.0)


def test_columns_a_measure_made_at_run_time_looks_at() -> None:
    said, gold = (pd.DataFrame({"query_id": ["1"], "text": [text]}) for text in ("abc", "abd"))
    shared = ours.define_byquery(lambda q, r: float(q.iloc[0]["text"][:2] == r.iloc[0]["text"][:2]), name="Shared")
    assert shared.calc_aggregate(gold, said) == 1.0
    with pytest.raises(UsageError, match="There is no column query_id in the run, only text"):
        shared.calc_aggregate(gold, said[["text"]])


@pytest.mark.parametrize("form", [dict, iter, list, pd.DataFrame])
def test_converters(form: Any) -> None:
    records = [ours.ScoredDoc("1", "b", 1.0), ours.ScoredDoc("1", "a", 2.0), ours.ScoredDoc("2", "a", 3.0)]
    nested = {"1": {"b": 1.0, "a": 2.0}, "2": {"a": 3.0}}

    def run() -> Any:
        return ours.util.RunConverter(nested if form is dict else form(records))

    assert run().as_dict_of_dict() == nested
    assert [tuple(each) for each in run().as_namedtuple_iter()] == [tuple(each) for each in records]
    assert run().as_pd_dataframe().equals(pd.DataFrame(records))
    assert [tuple(each) for each in run().as_sorted_namedtuple_iter()] == [tuple(records[at]) for at in (1, 0, 2)]
    assert [each.as_dict_of_dict() for each in run().tee(2)] == [nested, nested]
    with run().as_tmp_file() as file:
        assert ours.util.RunConverter(ours.read_trec_run(file)).as_dict_of_dict() == nested


def test_converters_say_what_is_wrong() -> None:
    frame = pd.DataFrame({"query_id": ["1"], "docno": ["a"], "relevance": [1]})
    with pytest.raises(ValueError, match="doc_id missing; there are query_id, docno, relevance"):
        ours.util.QrelsConverter(frame).as_dict_of_dict()
    with pytest.raises(ValueError, match="object is neither a dict of dicts, nor a frame, nor records"):
        list(ours.util.QrelsConverter(object()).as_namedtuple_iter())
    assert ours.util.QrelsConverter(frame.rename(columns={"docno": "doc_id"})).as_pd_dataframe()["iteration"][0] == "0"


def test_old_names() -> None:
    for call in (
        *(lambda: ours.GenericQrel("1", "a", 1), lambda: ours.GenericScoredDoc("1", "a", 1.0)),
        *(lambda: ours.parse_trec_run("1 Q0 a 1 1 r\n"), lambda: ours.parse_trec_qrels("1 0 a 1\n")),
        lambda: ours.convert_trec_name("map"),
    ):
        with pytest.warns(DeprecationWarning, match="now"):
            assert call()
    with pytest.warns(DeprecationWarning, match="evaluator"), ours.calc_ctxt([ours.AP], QRELS) as evaluate:
        assert len(list(evaluate(RUN))) == 3


@pytest.mark.parametrize("text", ["ndcg@10", "P@", "P(5)x", "import os"])
def test_errors_are_of_the_kinds_of_the_original(text: str) -> None:
    for kind in (NameError, ValueError, UsageError):
        with pytest.raises(kind):
            ours.parse_measure(text)


def test_of_two_cutoffs_that_after_the_sign_counts() -> None:
    assert ours.parse_measure("nDCG(dcg='exp-log2',cutoff=20)@10") == ours.nDCG(dcg="exp-log2") @ 10
    assert ours.parse_measure("IPrec(rel=2,recall=0.4)@0.2") == ours.IPrec(rel=2) @ 0.2


def test_a_measure_may_be_registered_once() -> None:
    with pytest.raises(UsageError, match="There is a measure called MAP already"):
        ours.measures.register(ours.AP, aliases=["MAP"], name="APs")
    assert "APs" not in ours.measures.registry


def test_a_scale_has_two_ends() -> None:
    with pytest.raises(UsageError, match=r"min_rel must be below max_rel\. Got 2 and 2"):
        ours.INST(min_rel=2, max_rel=2).calc_aggregate(QRELS, RUN)
    (found, *_) = ours.BPM(max_rel=2)(cutoff=3).iter_calc(QRELS, RUN)
    assert found[2:] == pytest.approx((1.0, 1.0, 1.0, 1.0, 1.0))
    (found, *_) = (ours.BPM(T=2.0, max_rel=2) @ 3).iter_calc(QRELS, RUN)
    assert found[2:] == pytest.approx((1 / 3, 1.0, 1.0, 3.0, 3.0))


def test_a_cutoff_where_there_is_none() -> None:
    for who in (original, ours):
        measure = who.SetP(rel=2) @ 5
        assert str(measure) == str(who.parse_measure("SetP(rel=2)@5")) == "SetP(rel=2)@5"
        assert str(measure(rel=1)) == "SetP@5"
        # A provider that is asked by name overlooks it ...
        assert who.pytrec_eval.calc_aggregate([measure], QRELS, RUN) == {measure: pytest.approx(1 / 9)}
        assert [each.measure for each in who.pytrec_eval.iter_calc([measure], QRELS, RUN)] == [measure] * 3
    # ... and if none is named it is refused.
    measure = ours.SetP(rel=2) @ 5
    for ask in (ours.calc_aggregate, ours.providers.registry["exaequo"].calc_aggregate):
        with pytest.raises(UsageError, match="SetP takes no cutoff: SetP@5 means nothing"):
            ask([measure], QRELS, RUN)
    with pytest.raises(AssertionError, match="unsupported params"):
        original.calc_aggregate([original.SetP(rel=2) @ 5], QRELS, RUN)


@given(collections(grades=(0, 1, 2, 3)))
def test_compatibility_to_the_last_bit(collection: tuple[Grades, Sims]) -> None:
    qrels = {topic: {docno: int(grade) for docno, grade in docs.items()} for topic, docs in collection[0].items()}
    names = ["Compat", "Compat(p=0.8)", "Compat(p=0.3,normalize=False)"]
    theirs, mine = (found_by(who, names, qrels, untied(collection[1])) for who in (original, ours))
    assert mine == theirs


def test_the_cutoff_of_a_reciprocal_rank_by_provider() -> None:
    qrels, run = {"1": {"a": 1}}, {"1": {"x": 4.0, "a": 3.0}}
    # Those of ranx and trectools, asked by name, keep it; that of trec_eval has none to keep.
    for who in (ours.ranx, ours.trectools):
        assert not who.supports(ours.RR @ 1)
        assert who.calc_aggregate([ours.RR @ 1, ours.RR], qrels, run) == {ours.RR @ 1: 0.0, ours.RR: 0.5}
    for package in (original, ours):
        cut = package.RR @ 1
        assert package.pytrec_eval.calc_aggregate([cut], qrels, run) == {cut: 0.5}
