"""What others call our measures is understood, where it can mean one thing only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import exaequo
from exaequo.cli import run
from exaequo.errors import UnknownMeasure, UsageError
from exaequo.measures import define, parse_measure, registry
from exaequo.measures.spelling import AMBIGUOUS, SPELLINGS
from exaequo.trec_eval.catalogue import MEASURES
from exaequo.trec_eval.catalogue import requests as asked_of_trec_eval
from exaequo.trec_eval.command import main as trec_eval


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("map", "AP"),
        ("MAP@100", "AP@100"),
        ("map_cut_100", "AP@100"),
        ("mrr", "RR"),
        ("MRR@10", "RR@10"),
        ("recip_rank", "RR"),
        ("recip_rank@10", "RR@10"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg_burges@10", "nDCG(dcg='exp-log2')@10"),
        ("ndcg(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ("P_10", "P@10"),
        ("P.10", "P@10"),
        ("p@10", "P@10"),
        ("precision@5", "P@5"),
        ("recall@100", "R@100"),
        ("recall.1000", "R@1000"),
        ("recall_1000", "R@1000"),
        ("R-Prec", "Rprec"),
        ("r-precision", "Rprec"),
        ("rprec", "Rprec"),
        ("hit_rate@10", "Success@10"),
        ("success_5", "Success@5"),
        ("f1@10", "F@10"),
        ("bpref", "Bpref"),
        ("set_F", "SetF"),
        ("num_rel", "NumRel"),
        ("gm_map", "gm(AP)"),
        ("gm(map)", "gm(AP)"),
        ("map(rel=2)", "AP(rel=2)"),
        ("rbp.95", "RBP(p=0.95)"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("ERR-IA@20", "ERR_IA@20"),
        ("pres@100", "PRES@100"),
        ("ndcg_at_10", "nDCG@10"),
        ("map_at_1000", "AP@1000"),
        ("mrr_at_10", "RR@10"),
        ("recall_at_100", "R@100"),
        ("precision_at_5", "P@5"),
        ("hit_rate_at_5", "Success@5"),
        ("Recall@100", "R@100"),
        ("MAP@10", "AP@10"),
        ("Hit@0010", "Success@10"),
        ("P@0005", "P@5"),
        ("RR@0010", "RR@10"),
    ],
)
def test_usual_spellings(theirs: str, ours: str) -> None:
    assert str(parse_measure(theirs)) == ours
    assert parse_measure(ours) == parse_measure(theirs)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_what_can_mean_several_things_is_refused(name: str) -> None:
    text = re.sub("@0?", r"\g<0>7", name)
    with pytest.raises(UnknownMeasure, match=f"'{text}' can mean ") as raised:
        parse_measure(text)
    assert "{" not in str(raised.value)


def test_every_spelling_is_one_of_our_measures_and_none_is_ours() -> None:
    for name, pattern in SPELLINGS.items():
        assert registry.known(name) is None
        parse_measure(pattern.format("@5"))


@pytest.mark.parametrize("text", ["R-Prec@5", "map_", "P_", "P10", "gm_gm_map", "rbp.", "rbp@.95", "@10", "-map"])
def test_what_nobody_writes_is_not_understood(text: str) -> None:
    with pytest.raises(UsageError):
        parse_measure(text)


def test_ones_own_measure_comes_first() -> None:
    with registry.temporary():
        define("mrr", lambda ranking: ranking.n_rel() * 1.0)
        assert str(parse_measure("mrr")) == "mrr"


def test_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    qrels, runs = exaequo.sample()
    scores = exaequo.evaluate(qrels, runs[:1], ["map", "ndcg_cut.10"])
    assert scores.mean("ndcg@10") == scores.mean("nDCG@10")
    exaequo.sample().save(".")
    files = ["qrels.txt", "runs/bm25.txt", "runs/hybrid.txt"]
    for words in (
        ["eval", *files],
        ["compare", *files],
        ["ties", *files, "--full"],
        ["gate", *files, "--max-drop", "1"],
    ):
        assert run([*words, "-m", "map,ndcg_cut_10"]) == 0
        assert {"AP", "nDCG@10"} <= set(capfd.readouterr().out.replace(":", " ").replace(",", " ").split())


@pytest.mark.parametrize("seed", [3, 2010])
def test_names_of_trec_eval_give_the_numbers_of_trec_eval(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever name of trec_eval is understood gives its number, run by run; those that are not have no equal here."""
    monkeypatch.chdir(tmp_path)
    exaequo.sample(seed).save(".")
    names = [name for each in asked_of_trec_eval([m.name for m in MEASURES]) for name in each.names]
    asked = [word for m in MEASURES if m.judgments == "qrels" for word in ("-m", m.name)]
    understood = {}
    for name in names:
        try:
            understood[name] = parse_measure(name)
        except UsageError:
            continue
    assert len(understood) > 50
    for path in sorted(Path("runs").iterdir()):
        text = trec_eval([*asked, "qrels.txt", str(path)])
        official = {name: value for name, _, value in map(str.split, text.splitlines())}
        ours = exaequo.evaluate("qrels.txt", path, list(understood.values()), "conventional", precision="single")
        for name, measure in understood.items():
            if name != "num_q":
                assert ours.mean(measure) == pytest.approx(float(official[name]), abs=5.1e-5), (path, name)


def test_what_was_read_before_is_forgotten_when_a_measure_is_added() -> None:
    assert str(parse_measure("mrr")) == "RR"
    with registry.temporary():
        define("mrr", lambda ranking: ranking.n_rel() * 1.0)
        assert str(parse_measure("mrr")) == "mrr"
    assert str(parse_measure("mrr")) == "RR"
    assert parse_measure("nDCG@10") is parse_measure("nDCG@10")
