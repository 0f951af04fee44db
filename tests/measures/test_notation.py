"""The notation: read, printed in one way, and helpful when it is wrong."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exaequo
from exaequo import BadParameter, DataWarning, Ranking, UnknownMeasure, define, measures, parse_measure
from exaequo.arrays import Floats
from exaequo.measures import Measure, Parameter, parse_measures, registry
from exaequo.measures.moments import Moments, closed, linear, unchanged
from exaequo.measures.parameters import PARAMETERS
from exaequo.measures.steps import Step, explains
from helpers import instances, values


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AP", "AP"),
        ("MAP", "AP"),
        ("MRR@10", "RR@10"),
        ("NDCG @ 10", "nDCG@10"),
        ("P(rel=2)@10", "P(rel=2)@10"),
        ("P( cutoff=10, rel=2 )", "P(rel=2)@10"),
        ("Precision@5", "P@5"),
        ("F(beta=2)@20", "F(beta=2)@20"),
        ("F(beta=1.0)@20", "F@20"),
        ("IPrec@0.3", "IPrec@0.3"),
        ("IPrec@0", "IPrec@0"),
        ("nDCG(dcg='log2')", "nDCG"),
        ('nDCG(dcg="jk")@10', "nDCG(dcg='jk')@10"),
        ("nDCG(gains={2:9,1:3})", "nDCG(gains={1:3,2:9})"),
        ("RBP(p=0.8)", "RBP"),
        ("RBP(rel=1, p=.5)", "RBP(p=0.5,rel=1)"),
        ("gm(AP)", "gm(AP)"),
        ("gm(AP(rel=2)@100)", "gm(AP(rel=2)@100)"),
        ("Judged", "Judged"),
    ],
)
def test_canonical(text: str, canonical: str) -> None:
    measure = parse_measure(text)
    assert str(measure) == canonical
    assert parse_measure(canonical) == measure
    assert hash(parse_measure(canonical)) == hash(measure)


@pytest.mark.parametrize("measure", instances(), ids=str)
def test_printing_and_reading_are_inverse(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure


def test_objects() -> None:
    assert measures.nDCG @ 10 == parse_measure("nDCG@10")
    assert measures.AP(rel=2) @ 100 == parse_measure("AP(rel=2)@100")
    assert parse_measure(ir_measures.nDCG(dcg="exp-log2") @ 10) == parse_measure("nDCG(dcg='exp-log2')@10")
    assert parse_measures("AP, P@5  nDCG(gains={1: 3, 2: 9})@10,AP") == [
        parse_measure(text) for text in ("AP", "P@5", "nDCG(gains={1:3,2:9})@10")
    ]
    with pytest.raises(AttributeError, match="did you mean"):
        measures.NDGC  # noqa: B018


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("ndgc@10", "did you mean 'nDCG'"),
        ("Precison@5", "did you mean 'Precision'"),
        ("zzzzz", "`exaequo measures` lists them"),
        ("P@", "write NAME, NAME@K"),
        ("P@5@10", "write NAME, NAME@K"),
        ("sum(AP)", "There is no measure 'sum'"),
        ("AP; import os", "Cannot read the measure"),
        ("__import__('os').system('true')", "Cannot read the measure"),
        ("AP@open('x')", "Cannot read the measure"),
        ("", "Cannot read the measure"),
        ("nDCG@10(dcg='jk')", "Cannot read the measure"),
        ("(" * 500, "Cannot read the measure"),
        ("A\0P", "Cannot read the measure"),
    ],
)
def test_unknown(text: str, hint: str) -> None:
    with pytest.raises(UnknownMeasure) as raised:
        parse_measure(text)
    assert hint in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P", "P needs cutoff, as in P(rel=2)@10"),
        ("P@0", "The 'cutoff' parameter of P must be a whole number ≥ 1, up to 10,000,000. Got 0 instead."),
        ("P@1.5", "must be a whole number ≥ 1, up to 10,000,000. Got 1.5"),
        ("P@True", "must be a whole number ≥ 1"),
        ("P@-1", "Got -1"),
        ("AP(rel=0)", "The 'rel' parameter of AP must be a number > 0"),
        ("AP(rel='high')", "must be a number > 0"),
        ("RBP(p=1)", "must be a number between 0 and 1"),
        ("IPrec@1.1", "must be a number from 0 to 1"),
        ("IPrec", "IPrec needs recall"),
        ("nDCG(dcg='log')", "must be 'log2', 'jk' or 'exp-log2'"),
        ("nDCG(gains=[1])", "{grade: gain, …}"),
        ("AP(levl=2)", "AP has no parameter 'levl'"),
        ("AP(rell=2)", "did you mean 'rel'?"),
        ("NumQ@5", "NumQ takes no cutoff"),
        ("AP(2)", "Parameters of AP are named"),
        ("F(beta=-1)@5", "must be a number ≥ 0"),
    ],
)
def test_bad_parameters(text: str, message: str) -> None:
    with pytest.raises(BadParameter) as raised:
        parse_measure(text)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("name", "taken", "refused"),
    [
        ("cutoff", [1, 10**7], [0, 10**7 + 1, 1.0, True]),
        ("rel", [None, 0.5], [0, -1, "1", True]),
        ("beta", [0, 1e6], [-0.5, 1e6 + 0.5]),
        ("p", [0.01, 0.99], [0, 1]),
        ("recall", [0, 1], [-0.01, 1.01]),
        ("docs", [1, 10**12], [0, 10**12 + 1, 5.0]),
        ("alpha", [0, 0.99], [-0.01, 1]),
        ("T", [0.01, 1e6], [0, -0.5, 1e6 + 0.5]),
        ("max_rel", [0.5, 1000], [0, -0.5, 1000.5]),
        ("dcg", ["log2", "jk", "exp-log2"], ["", None]),
        ("gains", [None, {1: 2}], [[1], {1: "2"}, {"1": 2}]),
        ("doc", ["a"], ["", 1]),
        *[(name, [True, False], [1, None]) for name in ("judged_only", "relative", "graded", "normalize")],
    ],
)
def test_where_parameters_end(name: str, taken: list[object], refused: list[object]) -> None:
    accepts = PARAMETERS[name].accepts
    assert [accepts(each) for each in taken + refused] == [True] * len(taken) + [False] * len(refused)


def test_nothing_may_be_given_where_nothing_is_the_default() -> None:
    assert measures.AP(cutoff=None) == parse_measure("AP")
    with pytest.raises(BadParameter, match="must be a whole number ≥ 1, up to 10,000,000"):
        measures.P(cutoff=None)


@given(st.text(max_size=30))
def test_no_text_breaks_it(text: str) -> None:
    with contextlib.suppress(exaequo.UsageError):
        parse_measure(text)


def test_define_at_run_time() -> None:
    def top_grade(ranking: Ranking, cutoff: int = 1, bonus: float = 0.0) -> Floats:
        best = np.zeros(ranking.n_topics)
        top = ranking.rank <= cutoff
        np.maximum.at(best, ranking.topic[top], ranking.grade[top])
        return best + bonus

    with registry.temporary():
        for _ in range(2):  # as when a notebook cell is run again
            define("TopGrade", top_grade, title="Best grade of the first k", highest=float("inf"), aliases=("Top",))
        run = {"t": {"a": 2.0, "b": 1.0}}
        assert values({"t": {"a": 1, "b": 3}}, run, "TopGrade")["t"] == 1
        assert values({"t": {"a": 1, "b": 3}}, run, "Top(bonus=0.5)@2")["t"] == 3.5
        define("Broken", lambda ranking: np.zeros(ranking.n_topics + 1))
        with pytest.raises(BadParameter, match="a measure returns one value per topic"):
            values({"t": {"a": 1}}, run, "Broken")
    for gone in ("TopGrade", "Top", "Broken"):
        with pytest.raises(UnknownMeasure):
            parse_measure(gone)
    for taken in ("AP", "MAP"):
        with pytest.raises(BadParameter, match="already"):
            define(taken, top_grade)
    with pytest.raises(BadParameter, match="letters, digits and _"):
        define("not a name", top_grade)


def test_ours_cannot_be_shadowed_before_they_are_loaded() -> None:
    code = (
        "import exaequo\n"
        "for name in ('MAP', 'AP', 'gm', 'sum'):\n"
        "    try: exaequo.define(name, lambda ranking: 0)\n"
        "    except exaequo.BadParameter: continue\n"
        "    raise SystemExit(name)\n"
        "exaequo.parse_measure('nDCG@10')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_of_the_same_name_is_not_ours() -> None:
    code = (
        "import exaequo\n"
        "def mine(ranking): return ranking.returned\n"
        "mine.__module__ = 'my_package.ranks'\n"
        "for _ in range(2): exaequo.define('Mine', mine)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ours_are_loaded_before_something_temporary_or_would_be_forgotten_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[bool] = []
    monkeypatch.setattr(registry, "catalogue", lambda: loaded.append(True))
    with registry.temporary():
        assert loaded


def test_numpy_numbers_as_parameters() -> None:
    assert str(measures.RBP(p=np.float64(0.5))) == "RBP(p=0.5)"
    assert measures.P(cutoff=np.int64(5)) == parse_measure("P@5")


def test_packages_add_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        def __init__(self, name: str, value: str) -> None:
            self.name, self.value, self.dist = name, value, None

        def load(self) -> object:
            if self.name == "broken":
                raise ImportError("no such thing")
            return define("FromPackage", lambda ranking: np.zeros(ranking.n_topics))

    asked = []

    def entry_points(group: str) -> list[Entry]:
        asked.append(group)
        return [Entry("good", "pkg:measures"), Entry("broken", "pkg:none")]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    with registry.temporary():
        with pytest.warns(DataWarning, match=r"measures of broken \(pkg:none\) not loaded: no such thing"):
            registry._load_packages()
        assert str(parse_measure("FromPackage")) == "FromPackage"
        assert asked == ["exaequo.measures"]


def share(ranking: Ranking, cutoff: int, theta: float = 0.5) -> Floats:
    return np.full(ranking.n_topics, theta / cutoff)


def eighth(ranking: Ranking, **_: object) -> Moments:
    return Moments(np.full(ranking.n_topics, 0.125))


def no_steps(*_: object, **__: object) -> list[Step]:
    return []


def test_a_measure_in_one_record() -> None:
    theta = Parameter("what a document is worth", lambda value: 0 < value < 1, "a number between 0 and 1")
    with registry.temporary():
        mine = define("Share", share, official=("share_{cutoff}",), parameters={"theta": theta})
        assert str(mine(theta=0.25) @ 5) == "Share(theta=0.25)@5"
        with pytest.raises(BadParameter, match="The 'theta' parameter of Share must be a number between 0 and 1"):
            mine(theta=2)
        for name, meant in (("share_5", "Share@5"), ("gm_share.5", "gm(Share@5)")):
            assert str(parse_measure(name)) == meant


def test_parts_are_attached_once() -> None:
    with pytest.raises(BadParameter, match=r"share is not the function of a measure; put @define\(…\) above it"):
        closed(share)(eighth)
    with registry.temporary():
        mine = define("Share", share)
        asked = mine @ 1
        closed(share)(eighth)
        run = {"t": {"a": 1.0, "b": 1.0}}
        assert values({"t": {"a": 1}}, run, asked, ties="expected") == {"t": 0.125}  # made before, and has it
        for again in (lambda: closed(mine)(eighth), lambda: linear(mine)(eighth), lambda: unchanged(share)):
            with pytest.raises(BadParameter, match="Share has a closed form already"):
                again()
        explains(mine)(no_steps)
        with pytest.raises(BadParameter, match="Share has an explainer already"):
            explains(share)(no_steps)
    for name in ("AP", "P", "SetP"):
        with pytest.raises(BadParameter, match=f"{name} has a closed form already"):
            closed(registry.get(name))(eighth)


@pytest.mark.parametrize(
    ("official", "ours"),
    [
        ("map", "AP"),
        ("gm_map", "gm(AP)"),
        ("gm_bpref", "gm(Bpref)"),
        ("map_cut_5", "AP@5"),
        ("ndcg", "nDCG"),
        ("ndcg_cut.20", "nDCG@20"),
        ("recip_rank", "RR"),
        ("P_10", "P@10"),
        ("recall.100", "R@100"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.1", "IPrec@0.1"),
        ("11pt_avg", "IPrec11"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
    ],
)
def test_names_of_trec_eval(official: str, ours: str) -> None:
    assert registry.from_official(official) == ours
    assert registry.from_official(f"{official}_") is None
    for wrong in ("P_", "P10", "map_cut_x", "iprec_at_recall_12", "gm_gm_map"):
        assert registry.from_official(wrong) is None
