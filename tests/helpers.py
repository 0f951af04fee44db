"""What several tests share: small collections to draw, and short ways to evaluate them."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
from hypothesis import strategies as st

import exaequo
from exaequo.measures import Measure, catalogue, parse_measure
from exaequo.measures.registry import REQUIRED
from exaequo.read.collection import Collection

EXAMPLES: dict[str, dict[str, Any]] = {
    example["id"]: example
    for example in json.loads((Path(__file__).parent / "golden" / "worked_examples.json").read_text(encoding="utf-8"))
}
"""The worked examples of the sources, recomputed exactly."""

#: Measures that have all there is: none may lose its closed form (but these never had one), its explainer or its
#: translations. A new measure need not be added.
COMPLETE = (
    "P R F E Noise Silence Success SetP SetR SetF RR AP Rprec PDoc RBP RNorm PRES MOR FAP WSS LastRel IPrec IPrec11 "
    "IAP BreakEven Precall DCG nDCG IDCG NCG SDCG ERR Compat INST BPM alpha_nDCG ERR_IA StRecall Bpref infAP Judged "
    "INSQ NERR8 NERR9 NERR10 NERR11 alpha_DCG nERR_IA NRBP nNRBP MAP_IA P_IA Q nERR D_nDCG D_Q "
    "Dsharp_nDCG Dsharp_Q xinfAP statAP "
    "RBPRes NumQ NumRet NumRel NumRelRet"
).split()
OPEN = {
    "MOR",
    "FAP",
    "IPrec",
    "IPrec11",
    "IAP",
    "Compat",
    "INST",
    "BPM",
    "infAP",
    "xinfAP",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
}

#: The sample, made when a test asks for it: processes forked after tests are collected need Polars untouched.
sampled = cache(exaequo.sample)

Grades = dict[str, dict[str, float]]
Sims = dict[str, dict[str, float]]

#: Few distinct scores, so that ties abound; some differ only beyond single precision, one is a negative zero.
SIMS = st.sampled_from([0.0, -0.0, 1.0, 2.0, 2.0000000001, 3.0, -1.5, 1e-5, 1e-7, 4238.0])
DOCNOS = st.sampled_from([f"{name}{number}" for name in ("AP", "FT", "LA", "WSJ", "zé") for number in range(8)])
TOPICS = st.sampled_from(["1", "2", "10", "007", "x-ray"])


@st.composite
def collections(draw: st.DrawFn, grades: Sequence[float] = (-1, 0, 0, 1, 1, 2, 3)) -> tuple[Grades, Sims]:
    """Draw judgments and a run; at least one topic has a relevant document, and the run has a judged topic."""
    judged = draw(
        st.dictionaries(
            TOPICS, st.dictionaries(DOCNOS, st.sampled_from(grades), min_size=1, max_size=12), min_size=1, max_size=3
        )
    )
    first = next(iter(judged))
    judged[first][draw(DOCNOS)] = max(grades)
    run = draw(st.dictionaries(TOPICS, st.dictionaries(DOCNOS, SIMS, min_size=1, max_size=14), max_size=3))
    run.setdefault(first, {draw(DOCNOS): 1.0})
    return judged, run


def values(qrels: object, run: object, measure: str | Measure, **options: Any) -> dict[str, float]:
    """Evaluate one measure of one run under one strategy: {topic: value}."""
    scores = evaluate(qrels, run, [measure], **options)
    table = next(iter(next(iter(scores.to_dict().values())).values()))
    return {topic: figures[str(exaequo.parse_measure(measure))] for topic, figures in table.items()}


def evaluate(qrels: object, runs: object, measures: Any, **options: Any) -> exaequo.Scores:
    """Evaluate without the warnings that drawn collections bring along."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exaequo.DataWarning)
        return exaequo.evaluate(qrels, runs, measures, **options)


def instances() -> list[Measure]:
    """Return every registered measure with several settings of its parameters."""
    result: list[Measure] = []
    for definition in catalogue().values():
        has = definition.defaults
        given = {**parse_measure(definition.example, complete=False).params, "docs": 100, "doc": "AP1"}
        needs = {name for name, default in has.items() if default is REQUIRED} - {definition.at} | {"docs", "doc"}
        bare = Measure(definition, {name: given[name] for name in has if name in needs})
        if definition.at == "recall":
            result += [bare @ level for level in (0, 0.3, 1)]
        elif "cutoff" in has:
            result += [bare @ cutoff for cutoff in (1, 3, 10)]
            result += [bare] if has["cutoff"] is None else []
        else:
            result.append(bare)
        if "rel" in has:
            result.append(result[-1](rel=2))
        if "dcg" in has:
            result += [bare(dcg="jk") @ 3, bare(dcg="exp-log2") @ 10, bare(gains={1: 3, 2: 9})]
        if "relative" in has:
            result.append(bare(relative=True) @ 3)
        if "graded" in has:
            result.append(bare(graded=True) @ 3)
        if "beta" in has:
            result.append(result[-1](beta=2.0))
    return result


def every_order(run: dict[str, float]) -> list[dict[str, float]]:
    """All runs without ties that this one could be."""
    ties: dict[float, list[str]] = {}
    for docno, sim in run.items():
        ties.setdefault(sim, []).append(docno)
    best_first = [permutations(ties[sim]) for sim in sorted(ties, reverse=True)]
    return [
        {docno: -float(at) for at, docno in enumerate(docno for tie in order for docno in tie)}
        for order in product(*best_first)
    ]


def some(*prefixes: str) -> list[str]:
    """Return the names of the worked examples that begin so."""
    chosen = [name for name in EXAMPLES if name.startswith(prefixes)]
    assert chosen, prefixes
    return chosen


class Tags(HTMLParser):
    """What a page has: all tags in their order, those that are still open, and the texts between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the parser's
        self.seen.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def little() -> Collection:
    """Return a collection of made-up texts: nine topics of two words, sixty documents, singular and plural."""
    random = Random(3)
    words = "bridge river clock bird loaf engine violin ship lamp".split()
    topics = [(str(at + 1), f"{one} {words[at - 4]}") for at, one in enumerate(words)]
    texts: dict[str, str] = {}
    grades: Grades = {qid: {} for qid, _ in topics}
    for number in range(60):
        qid, title = topics[number % 9]
        said = [word + "s" * random.randint(0, 1) for word in title.split() * 2 + random.choices(words, k=6)]
        docno = f"D{number:02}"
        texts[docno] = " ".join(random.sample(said, 7))
        grades[qid][docno] = number % 4
    nothing = [""] * len(topics)
    return Collection(
        "little",
        pl.DataFrame({"docno": list(texts), "title": [""] * len(texts), "text": list(texts.values())}),
        pl.DataFrame(
            {"qid": [qid for qid, _ in topics], "title": [title for _, title in topics]}
            | {"description": nothing, "narrative": nothing}
        ),
        exaequo.read_qrels(grades),
    )
