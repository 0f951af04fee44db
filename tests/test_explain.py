"""Explanations agree with evaluations, their steps lead to their values, and all languages say the same things."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, UnknownMeasure, language
from exaequo.choices import INTERVAL, STRATEGIES
from exaequo.cli import run as command
from exaequo.explanation import LANGUAGES, explain, explain_run, sentences
from exaequo.explanation.steps import steps_of
from exaequo.explanation.wording import Wording
from exaequo.judge import judge, prepare
from exaequo.measures import Measure, catalogue, parse_measures
from exaequo.measures.registry import temporary
from exaequo.measures.steps import CUT, Step, explains, hits
from exaequo.measures.view import View
from exaequo.options import Options
from exaequo.order import Ordering
from helpers import COMPLETE, Grades, Sims, collections, instances, values

#: More settings of parameters than other tests need.
MORE = """
    RBP(p=0.5)@3 RBP(p=0.95) RBPRes(p=0.95) Compat(p=0.5) Compat(normalize=False) Compat(p=0.5,normalize=False)
    ERR(max_rel=3)@5 SDCG(max_rel=3)@5 INST(T=2) INST(T=0.5,max_rel=3) BPM(T=2)@5 BPM(T=0.25,max_rel=3)@10
    alpha_nDCG(alpha=0)@5 alpha_nDCG(alpha=0.9,rel=2)@10 ERR_IA(alpha=0)@5 ERR_IA(alpha=0.9,rel=2)@10
    WSS@0.95 WSS@0 WSS@1 WSS(docs=50)@0.5 F(beta=0)@5 SetF(beta=0) SetF(beta=0.5) FAP(beta=0)@5 E(beta=3,rel=2)@7
    RNorm(docs=41) LastRel(docs=41,rel=3) NumRet(rel=1) IPrec@0.55 Precall@0.55 MOR@2 MOR@40 PRES@2 PRES@40
    nDCG(gains={0:2,3:0.5})@4 IDCG(gains={0:2,3:0.5}) NCG@2 Judged@2 PDoc(doc='FT2',rel=3) DCG(gains={1:0,2:0,3:0})
    nDCG(gains={1:0,2:0,3:0}) nDCG(dcg='exp-log2',gains={1:2.5}) P(rel=3)@5 R(rel=3)@5 Rprec(rel=3) AP(rel=3)
    Bpref(rel=3) infAP(rel=3) BreakEven(rel=3) IAP(rel=3) IPrec11(rel=3) PRES(rel=3)@5 MOR(rel=3)@5 WSS(rel=3)@0.5
    RNorm(rel=3,docs=50) Success(rel=3)@5 StRecall(rel=3)@5 FAP(rel=3) RR(rel=3) Silence(rel=3)@5 SetF(rel=3)
    Precall(rel=3)@0.5 alpha_DCG(alpha=0)@5 nERR_IA(alpha=0.9,rel=2)@10 NRBP(p=0.8,alpha=0) NRBP(p=0.3,alpha=0.9,rel=3)
    INSQ(T=0.25,max_rel=3) NERR8(max_rel=3)@5 NERR9(max_rel=3)@2000 NERR10(p=0.5,max_rel=3) NERR11(T=2,max_rel=3)
    Q(beta=0)@5 nERR(max_rel=3)@5 D_Q(beta=0)@3 Dsharp_nDCG(gamma=0.2)@5 Dsharp_Q(beta=10,gamma=1)@5
    xinfAP(rel=3) statAP(rel=3)
    nNRBP(p=0.8,alpha=0) nNRBP(p=0.3,alpha=0.9,rel=3) alpha_DCG(rel=3,alpha=0.9)@5 MAP_IA(rel=3) P_IA(rel=3)@5
"""
ALL = list(dict.fromkeys([*instances(), *parse_measures(MORE)]))
DIGITS = 1e-9
#: Many relevant documents of equal grades, found in ties, missed, or misplaced; and a topic without a list.
DENSE: tuple[Grades, Sims] = (
    {
        "1": {"AP0": 3, "AP1": 1, "AP2": 1, "FT0": 2, "FT1": 2, "LA0": 0, "LA1": -1, "WSJ0": 3, "WSJ1": 0},
        "2": {"AP1": 2},
    },
    {
        "1": {
            "AP1": 9.0,
            "AP2": 8.0,
            "FT1": 8.0,
            "LA0": 7.0,
            "LA1": 7.0,
            "zé1": 6.0,
            "FT0": 5.0,
            "WSJ1": 5.0,
            "FT2": 4.0,
        }
    },
)


@st.composite
def diverse(draw: st.DrawFn) -> tuple[list[Any], Sims]:
    """Draw judgments by subtopic, and a run with ties."""
    from collections import namedtuple

    line = namedtuple("line", "query_id doc_id relevance iteration")
    names = [f"d{number}" for number in range(6)]
    pairs = st.tuples(st.sampled_from(["1", "2"]), st.sampled_from(names), st.sampled_from("abc"))
    judged = draw(st.dictionaries(pairs, st.sampled_from([0, 1, 2]), min_size=1, max_size=20))
    judged[("1", "d0", "a")] = 2
    run = draw(st.dictionaries(st.sampled_from([*names, "new"]), st.sampled_from([1.0, 2.0, 3.0]), min_size=1))
    return [line(topic, name, rel, sub) for (topic, name, sub), rel in judged.items()], {"1": run}


def rankings(qrels: Any, run: Any) -> Iterator[Any]:
    judgments = prepare(exaequo.read_qrels(qrels))
    ordering = Ordering(judge(exaequo.read_run(run), judgments))
    for ties in INTERVAL:
        yield ordering.ranking(ties)


def check_steps(qrels: Any, run: Any, measures: list[Measure]) -> None:
    """The last step comes to the value, or says why there is none."""
    for ranking in rankings(qrels, run):
        for measure in measures:
            computed = measure.values(ranking)
            for topic, value in enumerate(computed):
                steps = steps_of(measure, View(ranking, topic))
                if not steps:
                    assert not (measure.definition.explain or measure.definition.linear), measure
                    continue
                last = steps[-1]
                if measure.definition.name in COMPLETE:
                    assert all(step.key in sentences("en")["step"] for step in steps), measure
                if math.isnan(value):
                    assert last.result is None, measure
                else:
                    assert last.result == pytest.approx(value, abs=DIGITS, rel=DIGITS), (measure, last)


@pytest.mark.parametrize("name", list(catalogue()))
def test_the_last_step_of_one_case(name: str) -> None:
    measures = [measure for measure in ALL if measure.definition.name == name]
    check_steps(*DENSE, measures)
    qrels, run = DENSE
    whole = {docno: float(place // 2) for place, docno in enumerate([*qrels["1"], "new", "FT2"])}
    check_steps(qrels, {"1": whole, "2": {"AP0": 2.0, "AP1": 1.0}}, measures)
    check_steps({"1": {"AP1": 1, "FT2": 0}}, run, measures)


@pytest.mark.parametrize("name", list(catalogue()))
@settings(max_examples=8, deadline=None)
@example(DENSE)
@given(collections())
def test_the_last_step_comes_to_the_value(name: str, collection: tuple[Grades, Sims]) -> None:
    check_steps(*collection, [measure for measure in ALL if measure.definition.name == name])


@pytest.mark.soak
@pytest.mark.parametrize("name", list(catalogue()))
@settings(max_examples=80, deadline=None)
@given(collections())
def test_the_last_step_at_length(name: str, collection: tuple[Grades, Sims]) -> None:
    check_steps(*collection, [measure for measure in ALL if measure.definition.name == name])


@settings(max_examples=25, deadline=None)
@given(collections(grades=(-1.5, 0, 0.5, 1, 2.25, 3)))
def test_grades_may_be_fractions(collection: tuple[Grades, Sims]) -> None:
    check_steps(*collection, [each for each in ALL if each.definition.family in ("gain", "users", "incomplete")])


@settings(max_examples=25, deadline=None)
@given(diverse())
def test_the_last_step_with_subtopics(collection: tuple[list[Any], Sims]) -> None:
    chosen = [each for each in ALL if each.definition.family in ("subtopics", "ntcir")]
    assert len(chosen) > 12
    check_steps(*collection, [*chosen, *parse_measures("AP nDCG P@3")])


def test_every_parameter_of_every_measure_is_tried() -> None:
    for name in COMPLETE:
        tried = {key for each in ALL if each.definition.name == name for key in each.params}
        assert tried >= set(catalogue()[name].defaults), name


@settings(max_examples=10)
@given(collections(), st.sets(st.sampled_from(ALL), min_size=12, max_size=12))
def test_the_value_is_that_of_eval(collection: tuple[Grades, Sims], chosen: set[Measure]) -> None:
    qrels, run = collection
    for measure in chosen:
        for topic, value in values(qrels, run, measure, ties="conventional").items():
            found = explain(qrels, run, topic, measure, ties="conventional")
            assert found.value == value or (math.isnan(value) and math.isnan(found.value)), measure
            for lang in LANGUAGES:
                assert found.text(lang) and found.text(lang, markdown=True)
                json.dumps(found.as_dict(lang), allow_nan=False)


def test_no_explainer_gets_lost() -> None:
    assert all(catalogue()[name].explain for name in COMPLETE)


# ----------------------------------------------------------------------------------------------------------- languages


def test_languages_say_the_same_things() -> None:
    first = sentences(LANGUAGES[0])
    for lang in LANGUAGES[1:]:
        other = sentences(lang)
        for section, entries in first.items():
            more = section in ("word", "strategy")  # besides explanations
            assert set(entries) <= set(other[section]) if more else set(entries) == set(other[section])
            for key, text in entries.items():
                if isinstance(text, str):
                    assert fields(text) == fields(other[section][key]), key
        ours = {name: about for name, about in catalogue().items() if about.ours}
        undefined = {name for name, about in ours.items() if about.undefined}
        for part, needed, known in (
            ("title", set(COMPLETE), set(ours)),
            ("formula", set(COMPLETE), set(ours)),
            ("reason", undefined & set(COMPLETE), undefined),
        ):
            assert needed <= set(other[part]) <= known, (lang, part)
        assert set(other) == {*first, "title", "formula", "reason", "message"}
    assert set(first["strategy"]) == {*STRATEGIES, "expected"}
    with pytest.raises(BadParameter, match="lang"):
        sentences("xx")


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_sentence_is_said_somewhere_and_every_step_has_one() -> None:
    package = Path(exaequo.__file__).parent
    files = [*package.glob("explanation/*.py"), *package.glob("measures/*.py")]
    source = "".join(path.read_text(encoding="utf-8") for path in files)
    keys = {*sentences("en")["step"], *sentences("en")["text"]}
    made = {"filter table docs", "filter table table", "filter table known"}
    made |= {"filter normalised"} | {
        key for key in keys if key.startswith("filter ") and key.endswith((" of nothing", " four"))
    }
    made |= {f"{key} at" for key in CUT} | {f"by {ties}" for ties in STRATEGIES}
    assert all(f'"{key}"' in source for key in keys - made)


ENGLISH = (
    "rank ranks relevant retrieved returned undefined realistic conventional optimistic expected judged unjudged not "
    "found grade grades the of list precision recall with ties tie all none nothing by yes no value strategy over sum "
    "weight weights where reader chance so far selected threshold random input first and is are was topic"
).split()


ENGLISH_WORD = re.compile(rf"(?<![\w'=])(?:{'|'.join(ENGLISH)})(?![\w(='])")


def english_words(text: str) -> set[str]:
    return set(ENGLISH_WORD.findall(text))


def test_french_is_french() -> None:
    qrels = {"1": {"a": 2, "b": 0, "c": 1, "AP1": 1, "z": -1}, "2": {"a": 1}, "3": {"q": 1}}
    runs = [
        {"1": {"b": 3.0, "a": 3.0, "x": 2.0, "AP1": 2.0, "z": 1.0}, "2": {"a": 1.0}},
        {"1": {"x": 1.0}, "2": {"b": 2.0, "a": 2.0}},
        {"1": {"a": 9.0, "c": 8.0, "AP1": 7.0}, "3": {"q": 1.0, "r": 1.0}},
    ]
    words = Wording("fr")
    translated = [measure for measure in ALL if measure.definition.name in COMPLETE]
    for run in runs:
        ranking = next(rankings(qrels, run))  # the words are those of all strategies
        for measure, topic in itertools.product(translated, range(len(qrels))):
            text = "\n".join(words.steps(steps_of(measure, View(ranking, topic)), 2))
            assert not english_words(text), (measure, text)
        for name, ties in itertools.product(COMPLETE, ("realistic", "random")):
            measure = next(each for each in ALL if each.definition.name == name)
            text = explain(qrels, run, "1", measure, ties=ties).text("fr", rows=2)
            assert not english_words(text.replace(measure.name, "")), text
    assert english_words("le rank est not judged") == {"rank", "not", "judged"}


def test_words_follow_numbers() -> None:
    one = explain({"t": {"a": 1}}, {"t": {"a": 1.0}}, "t", "Success@3")
    assert "1 relevant document among" in one.text() and "1 document pertinent parmi" in one.text("fr")
    none = explain({"t": {"a": 1}}, {"t": {"b": 1.0}}, "t", "Success@3")
    assert "0 relevant documents among" in none.text() and "0 document pertinent parmi" in none.text("fr")


# -------------------------------------------------------------------------------------------------- what the board says


def test_ap_on_the_board() -> None:
    found = explain({"t": {"a": 1, "c": 1}}, {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}, "t", "AP")
    text = found.text()
    assert "Together: 1/1 + 2/3 = 1.66667" in text
    assert "Divided by the number of all relevant documents: 1.66667 / 2 = 0.833333" in text
    assert "So AP = 0.8333" in text
    assert "Nothing is tied here" in text
    assert found.figure == "0.8333"
    french = found.text("fr")
    assert "Donc AP = 0,8333" in french
    assert "Précision moyenne : AP@k = Σ P@i sur les rangs i ≤ k" in french
    assert "stratégie réaliste" in french


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("MOR@10", "(h + g_h) / (min(n, N) + 1) = (2 + 0.962962963) / (3 + 1) = 0.740741"),
        ("nDCG", "DCG / ideal DCG = 2.63093 / 3.13093 = 0.840303"),
        ("BreakEven", "After 3 documents precision 2 / 3 and recall 2 / 3 are equal: 0.666667"),
        ("ERR", "Together: 0.1875 + 0.0253906 = 0.212891"),
        ("Precall@0.6", "N / (N + others) = 2 / (2 + 0) = 1"),
        ("P@10", "The list has only 4 documents; what is found is divided by 10 all the same."),
        ("P@10", "Precision: 2 relevant / 10 looked at = 0.2"),
        ("StRecall@5", "Subtopics covered / subtopics in all = 1 / 1 = 1"),
        ("WSS@0.5", "(N − k) / N − (1 − r) = (4 − 2) / 4 − (1 − 0.5) = 0"),
        ("Noise@4", "1 − 0.5 = 0.5"),
        ("Compat(p=0.5)", "Divided by what the ideal list has in common with itself: "),
        ("NumQ", "The topic has 3 relevant documents, so it counts: 1"),
        ("INST", "Divided by the weights of the ranks 1 … 1000: "),
    ],
)
def test_last_operations(measure: str, said: str) -> None:
    qrels = {"t": {"a": 2, "b": 1, "c": 1, "x": 0}}
    text = explain(qrels, {"t": {"a": 9.0, "c": 8.0, "x": 7.0, "y": 6.0}}, "t", measure).text()
    assert said in text, text


def test_crossing_of_precision_and_recall() -> None:
    found = explain({"t": {"a": 1, "b": 1}}, {"t": {"a": 9.0, "b": 8.0, "x": 8.0}}, "t", "BreakEven")
    assert "1 + (1 − 0.5) / (1 − 0.5 − 0.666667 + 1) × (0.666667 − 1) = 0.8" in found.text()
    assert found.steps[-1].result == pytest.approx(found.value) == pytest.approx(0.8)


def test_contingency_table() -> None:
    qrels, run = {"t": {"a": 1, "b": 1, "x": 0}}, {"t": {"a": 9.0, "x": 8.0, "y": 7.0}}
    (table, *_) = explain(qrels, run, "t", "SetP").steps
    assert [tuple(row.values()) for row in table.table] == [
        ("returned", 1, 2, 3),
        ("not returned", 1, None, None),
        ("total", 2, None, None),
    ]
    (table, *_) = explain(qrels, run, "t", "P@2", docs=100).steps
    assert [tuple(row.values()) for row in table.table] == [
        ("returned", 1, 1, 2),
        ("not returned", 1, 97, 98),
        ("total", 2, 98, 100),
    ]
    assert "non restitué" in explain(qrels, run, "t", "P@2").text("fr")
    with pytest.raises(BadParameter, match="at least the 4 documents"):
        explain(qrels, run, "t", "P@2", docs=3)


def test_precision_and_recall_beside_each_document_that_is_found() -> None:
    ranking = next(rankings({"t": {"a": 1, "b": 1, "c": 1}}, {"t": {"a": 3.0, "x": 2.0, "b": 1.0}}))
    found = [(row["found"], row["precision"], row["recall"]) for row in hits(View(ranking, 0), None, None)]
    assert found == [(1, 1, 1 / 3), (2, 2 / 3, 2 / 3)]


def test_counts_say_what_they_leave_out() -> None:
    qrels, run = {"t": {"a": 1, "b": 1, "c": 1, "x": 0}}, {"t": {"a": 9.0, "x": 8.0, "y": 7.0}}
    for name, count in (("NumRet", 3.0), ("NumRel", 3.0), ("NumRelRet", 1.0)):
        numbers = explain(qrels, run, "t", name).steps[-1].numbers
        assert numbers == {"found": 1, "other": 2, "missed": 2, "result": count}


def test_an_empty_list_is_said_to_be_empty() -> None:
    qrels, run = {"t": {"a": 1}, "u": {"a": 1}}, {"u": {"a": 1.0}}
    for measure in ("AP", "SetP", "nDCG", "RBPRes", "BreakEven", "Compat", "Judged@5"):
        found = explain(qrels, run, "t", measure)
        assert "returned nothing for topic t: the list is empty." in found.text()
        assert "n'a rien restitué pour le thème t : la liste est vide." in found.text("fr")
        assert "rank  document  score" not in found.text()


def test_rows_left_out_are_counted() -> None:
    found = explain({"t": {"a": 1}}, {"t": {"a": 9.0, "b": 8.0, "c": 7.0}}, "t", "AP")
    assert "… 1 more row is left out." in found.text(rows=2)
    assert "… 2 more rows are left out." in found.text(rows=1)
    assert "… 2 lignes ne sont pas montrées." in found.text("fr", rows=1)
    assert "left out" not in found.text(rows=3)


def test_scores_have_digits_enough_to_stay_apart() -> None:
    text = explain({"t": {"a": 1}}, {"t": {"a": 0.123456, "b": 0.123457}}, "t", "AP").text()
    assert "0.123456" in text and "0.123457" in text


# ---------------------------------------------------------------------------------------------------- other strategies


def test_other_strategies_are_there() -> None:
    found = explain({"t": {"z": 1}}, {"t": {"a": 1.0, "z": 1.0}}, "t", "RR")
    assert found.others == {"conventional": 1.0, "optimistic": 1.0, "expected": 0.75}
    assert "Between realistic 0.5000 and optimistic 1.0000: 1 tie holds relevant and other documents." in found.text()
    assert "Entre réaliste 0,5000 et optimiste 1,0000 : 1 groupe d'ex aequo mêle" in found.text("fr")


@pytest.mark.parametrize(
    ("qrels", "run", "measure", "key"),
    [
        ({"a": 1}, {"a": 2.0, "b": 1.0}, "AP", "nothing tied"),
        ({"a": 1}, {"a": 2.0, "b": 1.0, "c": 1.0}, "AP", "ties change nothing"),
        ({"a": 1}, {"a": 2.0, "b": 1.0, "c": 1.0}, "P@1", "nothing tied"),
        ({"a": 1, "b": 1}, {"a": 1.0, "b": 1.0, "c": 1.0}, "SetP", "ties change nothing"),
        ({"a": 2, "b": 1}, {"a": 1.0, "b": 1.0}, "nDCG", "grades decide"),
        ({"a": 2, "b": 1}, {"a": 1.0, "b": 1.0}, "AP", "ties change nothing"),
        ({"a": 1}, {"a": 1.0, "b": 1.0}, "E@1", "ties decide"),
        ({"a": 1}, {"a": 1.0, "b": 1.0}, "DCG", "grades decide"),
    ],
)
def test_what_ties_decide(qrels: dict[str, int], run: dict[str, float], measure: str, key: str) -> None:
    assert explain({"t": qrels}, {"t": run}, "t", measure).verdict.key == key


def test_the_order_of_equal_grades_can_count(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 a x 1\n1 a y 1\n1 b z 1\n")
    found = explain(tmp_path / "q", {"1": {"x": 3.0, "y": 2.0, "z": 2.0}}, "1", "StRecall@2")
    assert (found.verdict.key, found.others["expected"]) == ("orders decide", 0.75)


def test_ties_that_a_cut_goes_through() -> None:
    qrels, run = {"t": {"a": 1}}, {"t": {"a": 1.0, "b": 1.0}}
    assert explain(qrels, run, "t", "AP", depth=1).verdict.key == "ties decide"
    assert explain(qrels, run, "t", "PDoc(doc='a')", depth=1).verdict.key == "ties define"


# --------------------------------------------------------------------------------------------------------------- others


def test_topics_that_cannot_be_explained() -> None:
    qrels, run = {"t": {"a": 1}, "u": {"a": 0}}, {"t": {"a": 1.0}}
    with pytest.raises(BadParameter, match="no relevant document"):
        explain(qrels, run, "u", "AP")
    with pytest.raises(BadParameter, match="not judged"):
        explain(qrels, run, "v", "AP")


def test_measures_of_ones_own() -> None:
    import numpy as np

    from exaequo.measures.moments import Linear, linear

    qrels, run = {"t": {"a": 1}}, {"t": {"a": 1.0}}
    with temporary():
        mine = exaequo.define("Ones", lambda ranking: np.ones(ranking.n_topics))
        assert "nothing more to say" in explain(qrels, run, "t", mine).text()
        explains(mine)(lambda _: [Step("{n} of {n:document|documents}", {"n": 1, "result": 1.0})])
        assert "1 of document\n\nSo Ones = 1.0000" in explain(qrels, run, "t", mine).text()
        half = exaequo.define("Half", lambda ranking: 1 + ranking.total(ranking.topic, ranking.relevant() / 2))
        linear(half)(lambda ranking: Linear(ranking.relevant(), np.ones(len(ranking.rank)), 0.5, 1.0))
        found = explain(qrels, run, "t", half)
        assert "In all: 1 + 0.5 × 1 = 1.5" in found.text()
        assert found.steps[-1].result == found.value == 1.5


def test_names_do_nothing_in_markdown() -> None:
    qrels, run = {"t|*": {"a*b*": 1}}, {"t|*": {"a*b*": 1.0}}
    text = explain(qrels, run, "t|*", "RR").text(markdown=True)
    assert r"a\*b\*, stands at rank 1" in text and r"topic t\|\*" in text


def test_subtopics_have_the_names_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 7 a 1\n1 9 b 1\n2 8 c 1\n")
    found = explain(tmp_path / "q", {"1": {"b": 2.0, "a": 1.0}}, "1", "StRecall@5")
    assert [row["subtopic"] for row in found.steps[0].table] == ["9", "7"]


def test_the_sample_is_explained_as_it_is_evaluated() -> None:
    qrels, runs = exaequo.sample()
    run = next(each for each in runs if each.name == "llm-judge")
    scores = exaequo.evaluate(qrels, run, ["AP", "nDCG@10", "MOR@100", "Compat"]).to_dict()["llm-judge"]["realistic"]
    for measure in parse_measures("AP nDCG@10 MOR@100 Compat"):
        (found,) = explain_run(qrels, run, "401", [measure], Options())
        assert found.value == scores["401"][measure.name]
        assert found.steps[-1].result == pytest.approx(found.value, abs=1e-12)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    exaequo.sample().save(tmp_path)
    monkeypatch.chdir(tmp_path)
    base = ["explain", "qrels.txt", "runs/llm-judge.txt", "--topic", "401"]
    assert command([*base, "-m", "AP nDCG@10"]) == 0
    assert "So nDCG@10 = " in capfd.readouterr().out
    assert command([*base, "--lang", "fr", "--format", "markdown"]) == 0
    assert capfd.readouterr().out.startswith("## AP de llm\\-judge pour le thème 401, stratégie réaliste")
    assert command([*base, "--format", "json", "-m", "MOR@100", "--lang", "fr"]) == 0
    (document,) = json.loads(capfd.readouterr().out)["explanations"]
    assert {"h", "w", "ap0", "ap1", "g_hw", "g_h"} <= set(document["steps"][1]["numbers"])
    assert document["steps"][-1]["numbers"]["result"] == pytest.approx(document["value"], abs=1e-12)
    assert document["steps"][0]["text"].startswith("Précision et rappel")
    assert document["title"] == "Mesure orientée rappel"
    assert command(["explain", "qrels.txt", "runs/bm25.txt", "--topic", "999"]) == 2
    assert command([*base, "--docs", "5", "-m", "P@5"]) == 2
    assert command([*base, "--precision", "single"]) == 0
    assert "Traceback" not in capfd.readouterr().err


def test_what_is_said_is_true() -> None:
    """Sentences that must not contradict the list above them."""
    qrels = {"t": {"w": 2, "z": 1, "q": 1, "l": 0, "n": -1}}
    run = {"t": {"l": 0.9, "w": 0.9, "x": 0.6, "z": 0.4, "n": 0.4}}
    for measure in ("nDCG@1", "AP@1", "RR@1", "MOR@1", "NCG@1", "ERR@1"):
        text = explain(qrels, run, "t", measure).text()
        assert "among the first 1" in text, measure
        assert "No document of the list" not in text
    assert "among the first 1 (0 of" not in explain(qrels, run, "t", "PDoc(doc='l')").text()
    passed = explain({"t": {"a": 1}}, {"t": {"a": 3.0, "b": 3.0, "c": 3.0}}, "t", "BreakEven").text()
    assert "already takes 3 documents" in passed and "recall 1 is above precision 0.333333" in passed
    assert "Whatever the order of ties, there is no value" in passed
    assert "log2(max(i, 2))" in explain(qrels, run, "t", "DCG(dcg='jk')").text().split("\n")[4]
    assert "judged below 0" in explain(qrels, run, "t", "RBPRes").text()
    assert (
        "0.500005 + 0.5 = 1.000005"
        in explain(qrels, {"t": {"l": 4.0, "w": 3.0, "x": 2.5, "z": 2.0}}, "t", "infAP").text()
    )
    assert "1000000" in explain(qrels, run, "t", "RNorm(docs=1000000)").text()


def test_settings_and_estimates_are_said() -> None:
    qrels = {"t": {f"d{at}": at % 3 for at in range(40)}}
    run = {"t": {f"d{at}": float(at // 20) for at in range(40)}}
    text = explain(qrels, run, "t", "INST", rel_level=2, depth=30, precision="single").text()
    for said in ("a grade of 2 or more", "cut after rank 30", "single-precision", "standard error"):
        assert said in text
    none = explain({"t": {"z": 1}}, run, "t", "AP@100", depth=3).text()
    assert "among the first 3." in none and "first 100" not in none
    found = explain(qrels, run, "t", "INST", depth=30)
    assert found.error > 0
    assert found.as_dict()["options"]["depth"] == 30
    assert explain(qrels, run, "t", "AP").error == 0
    with pytest.warns(exaequo.DataWarning, match="1 judgment above 127"):
        high = explain({"t": {"a": 130, "b": 1}}, {"t": {"a": 1.0}}, "t", "AP")
    assert high.listing.select("judgment", "relevant").row(0) == (130, False)  # as it was judged
    with pytest.raises(exaequo.BadParameter, match="leave the topic out"):
        explain(qrels, run, "t", "gm(AP)")


def test_orders_of_the_strategies() -> None:
    """The example of the papers: where each strategy puts the tied documents."""
    run = {"t": {"CT5": 0.9, "AP5": 0.7, "WSJ9": 0.7, "AP8": 0.7, "FT12": 0.6}}
    found = explain({"t": {"CT5": 1, "AP8": 1}}, run, "t", "AP")
    assert [tuple(row.values()) for row in found.orders] == [
        (2, "WSJ9", "WSJ9", "AP8 ✓"),
        (3, "AP5", "AP8 ✓", "WSJ9"),
        (4, "AP8 ✓", "AP5", "AP5"),
    ]
    assert "réaliste" in found.text("fr").split("✓ : pertinent")[1]


def test_a_language_says_in_english_what_it_does_not_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("en.toml", "fr.toml"):
        shutil.copy(Path(language.__file__).parent / name, tmp_path / name)
    (tmp_path / "de.toml").write_text('[text]\nvalue = "Also {measure} = {value}"\n', encoding="utf-8")
    monkeypatch.setattr(language, "_HOME", tmp_path)
    monkeypatch.setattr(language, "LANGUAGES", ("en", "de", "fr"))
    sentences.cache_clear()
    text = explain({"t": {"a": 1}}, {"t": {"a": 1.0}}, "t", "AP").text("de")
    sentences.cache_clear()
    assert "Also AP = 1.0000" in text
    assert "Together" in text


def test_the_figure_of_a_whole_run() -> None:
    """The sum, the mean or the geometric mean of all topics, as eval prints it, and under the other strategies."""
    qrels, runs = exaequo.sample()
    run = next(each for each in runs if each.name == "llm-judge")
    for measure in parse_measures("AP nDCG@10 gm(AP) NumRet NumRelRet RR"):
        for ties in ("realistic", "conventional"):
            found = explain(qrels, run, None, measure, ties=ties)
            scores = exaequo.evaluate(qrels, run, measure, ties=("realistic", "conventional", "optimistic", "expected"))
            assert found.value == scores.mean(measure, ties=ties)
            assert found.steps[-1].result == pytest.approx(found.value, abs=1e-9)
            assert {**found.others, ties: found.value} == {
                each: scores.mean(measure, ties=each) for each in scores.ties
            }
            assert f"So {measure.name} = {found.figure}" in found.text()
            assert not english_words(found.text("fr", rows=2).replace(measure.name, "").replace("--topic", ""))
    with pytest.warns(exaequo.DataWarning, match="undefined in 1 of 2"):
        undefined = explain({"1": {"a": 1}, "2": {"a": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}, None, "PDoc(doc='a')")
    assert "1 topic has no value, and is left out" in undefined.text()
    assert undefined.value == 1


def test_measure_and_topic_in_either_order() -> None:
    qrels, run = {"t": {"a": 1}, "RR": {"a": 1}}, {"t": {"a": 1.0}, "RR": {"b": 2.0, "a": 1.0}}
    new, old = explain(qrels, run, "AP", "t"), explain(qrels, run, "t", "AP")
    assert new.text() == old.text()
    assert (new.measure.name, new.topic) == ("AP", "t")
    assert explain(qrels, run, "AP").text() == explain(qrels, run, None, "AP").text()
    for found in (explain(qrels, run, "AP", "RR"), explain(qrels, run, "RR", "AP")):  # a topic called like a measure
        assert (found.measure.name, found.topic) == ("AP", "RR")
    named = explain(qrels, run, topic="t", measure="map")
    assert (named.measure.name, named.topic) == ("AP", "t")
    with pytest.raises(UnknownMeasure, match="There is no measure 'APP'"):
        explain(qrels, run, "APP", "t")
    with pytest.raises(BadParameter, match="'x'"):
        explain(qrels, run, "AP", "x")


def test_the_strategy_is_said_in_a_sentence_and_lines_fit_the_terminal() -> None:
    qrels, runs = exaequo.sample()
    for ties in STRATEGIES:
        for lang in ("en", "fr"):
            text = explain(qrels, runs[4], "MOR@100", "401", ties=ties).text(lang, width=60)
            assert text.split("\n\n")[1].replace("\n", " ") == sentences(lang)["text"][f"by {ties}"]
            said = [part for part in text.split("\n\n") if "  " not in part]
            assert max(len(line) for part in said for line in part.split("\n")) <= 60
    steps = [line[:2] for line in explain(qrels, runs[4], "MOR@100", "401").text().split("\n") if line[1:3] == ". "]
    assert steps == [f"{n}." for n in range(1, 8)]


def test_sums_are_short_unless_all_terms_are_asked_for() -> None:
    docs = [f"d{n}" for n in range(20)]
    qrels, run = {"t": dict.fromkeys(docs, 1)}, {"t": {doc: 20.0 - n for n, doc in enumerate(docs)}}
    found = explain(qrels, run, "AP", "t")
    assert " + 10/10 + … (9 more) … + 20/20 = 20" in found.text()
    assert " + 10/10 + … (9 autres) … + 20/20 = 20" in found.text("fr")
    whole = " + ".join(f"{n}/{n}" for n in range(1, 21))
    assert f"Together: {whole} = 20" in found.text(full=True)
    few = explain({"t": dict.fromkeys(docs[:12], 1)}, run, "AP", "t")
    assert "more)" not in few.text()


def test_the_list_has_the_columns_the_measure_uses() -> None:
    qrels, run = {"t": {"a": 2, "b": 1}}, {"t": {"a": 3.0, "b": 2.0}}

    def heads(measure: str) -> list[str]:
        return next(line.split() for line in explain(qrels, run, measure, "t").text().split("\n") if "score" in line)

    plain = ["rank", "document", "score", "judgment"]
    assert heads("AP") == [*plain, "relevant", "tie", "precision", "recall"]
    assert heads("Success@1") == [*plain, "relevant", "tie"]
    assert heads("nDCG") == [*plain, "tie"]
    assert "precision" in explain(qrels, run, "nDCG", "t").as_dict()["list"][0]


def test_documents_without_a_gain_are_not_listed() -> None:
    (ranking, *_) = rankings(
        {"1": {"a": 2, "b": 0, "c": -1, "d": 1}}, {"1": dict(zip("abcde", (5.0, 4, 3, 2, 1), strict=True))}
    )
    table = steps_of(exaequo.parse_measure("DCG"), View(ranking, 0))[0].table
    assert [(row["rank"], row["document"], row["gain"]) for row in table] == [(1, "a", 2), (4, "d", 1)]
