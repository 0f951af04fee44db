"""Models: a hand calculation each, the formula written out slowly, and what must not matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exaequo import choices
from exaequo.errors import BadParameter
from exaequo.searching.analysis import Analysis
from exaequo.searching.counts import counted
from exaequo.searching.models import MODELS
from exaequo.searching.notation import System

#: Products and sums in another order than those of the formula.
CLOSE = 1e-12
PLAIN = Analysis("en", stem=False, stop=False)
Scored = dict[tuple[int, int], float]


def scored(model: str, documents: list[str], queries: list[str], **params: Any) -> Scored:
    counts = counted(pl.Series(documents, dtype=pl.String), pl.Series(queries, dtype=pl.String), PLAIN)
    found = MODELS[model].function(counts.documents, **params)(counts.queries).tocoo()
    return dict(zip(zip(*map(np.ndarray.tolist, found.coords), strict=True), found.data.tolist(), strict=True))


# --------------------------------------------------------------------------------------------------- by hand, once each

#: |a| = 3, |b| = 3, |c| = 2: 8 words. df: cat 2, dog 2, owl 1, fox 1. cf: cat 3, dog 2, owl 2, fox 1.
THREE = ["cat cat dog", "cat owl owl", "dog fox"]


def test_boolean_by_hand() -> None:
    assert scored("boolean", THREE, ["cat dog", "owl", "cat emu"]) == {(0, 0): 1, (1, 1): 1}
    either = scored("boolean", THREE, ["cat dog", "owl", "cat emu"], operator="or")
    assert either == {(0, 0): 1, (0, 1): 1, (0, 2): 1, (1, 1): 1, (2, 0): 1, (2, 1): 1}


def test_coordination_by_hand() -> None:
    assert scored("coordination", THREE, ["cat cat dog"]) == {(0, 0): 2, (0, 1): 1, (0, 2): 1}


def test_tfidf_by_hand() -> None:
    one = 1 + math.log(2)  # of a term that occurs twice
    size = math.sqrt(one**2 + 1)  # of a and b alike
    cat, owl = math.log(3 / 2), math.log(3)
    query = math.hypot(cat, owl)
    expected = {(0, 0): one * cat / size / query, (0, 1): (cat + one * owl) / size / query}
    assert scored("tfidf", THREE, ["cat owl"]) == pytest.approx(expected, rel=CLOSE)


def test_bm25_by_hand() -> None:
    # mean |d| = 8/3: 1.2 (0.25 + 0.75 · 9/8) = 1.3125 for a and b, 1.2 (0.25 + 0.75 · 6/8) = 0.975 for c
    cat, fox = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    expected = {(0, 0): cat * 2 / 3.3125, (0, 1): cat / 2.3125, (0, 2): fox / 1.975}
    assert scored("bm25", THREE, ["cat fox"]) == pytest.approx(expected, rel=CLOSE)
    flat = {(0, 0): cat * 2 / 4, (0, 1): cat / 3, (0, 2): fox / 3}
    assert scored("bm25", THREE, ["cat fox"], k1=2.0, b=0.0) == pytest.approx(flat, rel=CLOSE)


def test_dirichlet_by_hand() -> None:
    # mu = 8: a term borrows its cf. (2 + 3)/11 · (0 + 1)/11, (1 + 3)/11 · 1/11, 3/10 · (1 + 1)/10
    expected = {(0, 0): math.log(5 / 121), (0, 1): math.log(4 / 121), (0, 2): math.log(6 / 100)}
    assert scored("ql-dirichlet", THREE, ["cat fox emu"], mu=8) == pytest.approx(expected, rel=CLOSE)


def test_jelinek_mercer_by_hand() -> None:
    # lam = ½: cat ½ (2/3 + 3/8), ½ (1/3 + 3/8), ½ (0 + 3/8); fox ½ (0 + 1/8) twice, ½ (1/2 + 1/8)
    expected = {(0, 0): 25 / 48 / 16, (0, 1): 17 / 48 / 16, (0, 2): 3 / 16 * 5 / 16}
    found = scored("ql-jm", THREE, ["cat fox emu"], lam=0.5)
    assert found == pytest.approx({place: math.log(value) for place, value in expected.items()}, rel=CLOSE)


def test_a_language_of_one_word_is_certain() -> None:
    assert scored("ql-dirichlet", ["cat", "cat cat"], ["cat"]) == pytest.approx({(0, 0): 0, (0, 1): 0}, abs=CLOSE)


# ------------------------------------------------------------------------------------------------ the formula, slowly

Texts = list[list[str]]


def _shared(query: list[str], document: list[str]) -> set[str]:
    return set(query) & set(document)


def slow_boolean(query: list[str], document: list[str], _: Texts) -> float | None:
    return 1.0 if query and set(query) <= set(document) else None


def slow_coordination(query: list[str], document: list[str], _: Texts) -> float | None:
    return float(len(_shared(query, document))) or None


def slow_tfidf(query: list[str], document: list[str], texts: Texts) -> float | None:
    def idf(term: str) -> float:
        df = sum(term in text for text in texts)
        return math.log(len(texts) / df) if df else 0.0

    mine = {term: 1 + math.log(tf) for term, tf in Counter(document).items()}
    asked = {term: (1 + math.log(tf)) * idf(term) for term, tf in Counter(query).items()}
    dot = sum(mine[term] * asked[term] for term in _shared(query, document))
    return dot / math.hypot(*mine.values()) / math.hypot(*asked.values()) if dot else None


def slow_bm25(query: list[str], document: list[str], texts: Texts) -> float | None:
    mean, total = sum(map(len, texts)) / len(texts), 0.0
    for term in query:
        df, tf = sum(term in text for text in texts), document.count(term)
        idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
        total += idf * tf / (tf + 1.2 * (1 - 0.75 + 0.75 * len(document) / mean)) if tf else 0.0
    return total or None


def _likelihood(query: list[str], document: list[str], texts: Texts, p: Callable[[int, float], float]) -> float | None:
    words = [word for text in texts for word in text]
    if not _shared(query, document):
        return None
    known = [term for term in query if term in words]
    return sum(math.log(p(document.count(term), words.count(term) / len(words))) for term in known)


def slow_dirichlet(query: list[str], document: list[str], texts: Texts) -> float | None:
    return _likelihood(query, document, texts, lambda tf, chance: (tf + 1000 * chance) / (len(document) + 1000))


def slow_jm(query: list[str], document: list[str], texts: Texts) -> float | None:
    return _likelihood(query, document, texts, lambda tf, chance: 0.9 * tf / len(document) + 0.1 * chance)


SLOW: Mapping[str, Callable[[list[str], list[str], Texts], float | None]] = {
    "boolean": slow_boolean,
    "coordination": slow_coordination,
    "tfidf": slow_tfidf,
    "bm25": slow_bm25,
    "ql-dirichlet": slow_dirichlet,
    "ql-jm": slow_jm,
}
TEXT = st.lists(st.sampled_from("ant bee cat dog emu fox".split()), max_size=7).map(" ".join)
TEXTS = st.lists(TEXT, min_size=1, max_size=6).filter(any)


@pytest.mark.parametrize("model", MODELS)
@given(documents=TEXTS, queries=TEXTS)
@settings(max_examples=60, deadline=None)
def test_a_model_is_its_formula(model: str, documents: list[str], queries: list[str]) -> None:
    texts = [text.split() for text in documents]
    expected = {
        (at, place): value
        for at, query in enumerate(queries)
        for place, text in enumerate(texts)
        if (value := SLOW[model](query.split(), text, texts)) is not None
    }
    found = scored(model, documents, queries)
    assert set(found) == set(expected)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-11)  # a cosine of nearly nothing, a logarithm near 0


@pytest.mark.parametrize("model", MODELS)
@given(documents=TEXTS, queries=TEXTS, random=st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_the_order_of_documents_is_nothing_to_a_model(
    model: str, documents: list[str], queries: list[str], random: Any
) -> None:
    order = list(range(len(documents)))
    random.shuffle(order)
    before = scored(model, documents, queries)
    after = scored(model, [documents[at] for at in order], queries)
    assert {(query, order[place]): value for (query, place), value in after.items()} == before  # to the last bit


@pytest.mark.parametrize("model", MODELS)
def test_equal_texts_are_tied(model: str) -> None:
    words = "ant bee bee cat dog dog dog emu fox".split()
    texts = [" ".join(words), "fox", " ".join(reversed(words)), "owl"]
    found = scored(model, texts, ["dog cat bee"])
    assert found[0, 0] == found[0, 2]


# -------------------------------------------------------------------------------------------------- names and registry


def test_the_names_that_can_be_chosen_are_those_of_the_models() -> None:
    assert tuple(MODELS) == choices.MODELS
    for model in MODELS.values():
        assert set(model.defaults) == set(model.parameters)
        for name, rule in model.parameters.items():
            assert rule.accepts(model.defaults[name])


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("bm25", "bm25"),
        ("bm25-stem", "bm25-stem"),
        (" bm25 ( k1 = 0.9 , b=0.4 )-stem", "bm25(k1=0.9,b=0.4)-stem"),
        ("bm25(b=0.75)", "bm25"),
        ("bm25(b=0.4,k1=2)-nostop", "bm25(k1=2,b=0.4)-nostop"),
        ("ql-dirichlet(mu=500)-stem-nostop", "ql-dirichlet(mu=500)-stem-nostop"),
        ("ql-jm-stem", "ql-jm-stem"),
        ("boolean(operator='or')", "boolean(operator='or')"),
        ("coordination()", "coordination"),
    ],
)
def test_notation(text: str, name: str) -> None:
    assert System.of(text).name == name
    assert System.of(name).name == name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bm52", "did you mean 'bm25'"),
        ("", "there are boolean, coordination"),
        ("bm25(", "There is no model"),
        ("bm25(k1)", r"Write bm25\(k1=1.2,b=0.75\)"),
        ("bm25(**x)", "Cannot read the parameters"),
        ("bm25(k1=x)", "Cannot read the parameters"),
        ("bm25(k2=1)", "no parameter 'k2'; it has k1, b"),
        ("bm25(b=2)", "must be a number from 0 to 1. Got 2"),
        ("bm25(k1=True)", "must be a number ≥ 0. Got True"),
        ("coordination(k1=1)", "it has none"),
        ("boolean(operator='xor')", "'and' or 'or'"),
        ("ql-jm(lam=1)", "between 0 and 1"),
        ("bm25(k1=float('nan'))", "Cannot read"),
        ("ql-dirichlet(mu=0)", "> 0"),
    ],
)
def test_what_is_no_system_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        System.of(text)


def test_the_page_has_every_model_with_its_parameters() -> None:
    text = (Path(__file__).parents[2] / "docs" / "experiment.md").read_text(encoding="utf-8")
    text = text.partition("## Models")[2].partition("\n## ")[0]
    rows = {line.split("`")[1]: line for line in text.splitlines() if line.startswith("| `")}
    assert tuple(rows) == tuple(MODELS)
    for name, model in MODELS.items():
        for parameter, usual in model.defaults.items():
            shown = int(usual) if isinstance(usual, float) and usual.is_integer() else usual
            assert f"`{parameter}={shown!r}`" in rows[name]
