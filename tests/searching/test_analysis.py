"""Terms of texts: words, elision, stop words, stems."""

from __future__ import annotations

import polars as pl
import pytest

from exaequo.errors import BadParameter
from exaequo.searching.analysis import STEMMERS, STOP_WORDS, Analysis
from exaequo.searching.counts import counted


def terms(text: str, language: str = "en", *, stem: bool = False, stop: bool = False) -> list[str]:
    found: list[str] = Analysis(language, stem, stop).terms(pl.Series([text]))["term"].to_list()
    return found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two bridges, ONE river.", "two bridges one river"),
        ("the dog's, the dogs’ and don't", "the dog the dogs and don"),
        ("B-52 & x_y 3.14", "b 52 x y 3 14"),
        ("Straße ΑΒΓ naïve nai\u0308ve 東京", "straße αβγ naïve naïve 東京"),
        (" … ", ""),
    ],
)
def test_words(text: str, words: str) -> None:
    assert terms(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("L'eau d’un pont qu'il a vu", "eau un pont il a vu"),
        ("Aujourd'hui, lorsqu’on s'arrête jusqu'à l'Île", "aujourd hui on arrête à île"),
        ("J'ai n'importe quoi, c'est m'a t'a", "ai importe quoi est a a"),
    ],
)
def test_french_elision(text: str, words: str) -> None:
    assert terms(text, "fr") == words.split()


def test_stop_words_go_before_stems() -> None:
    text = "The bridges were being built over these rivers"
    assert terms(text, stop=True) == ["bridges", "built", "rivers"]
    assert terms(text, stop=True, stem=True) == ["bridg", "built", "river"]
    assert terms("Les ponts étaient construits sur l'eau", "fr", stop=True, stem=True) == ["pont", "construit", "eau"]


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_words_are_words_of_their_language(language: str) -> None:
    for word in STOP_WORDS[language]:
        assert terms(word, language) == [word]


@pytest.mark.parametrize("language", STEMMERS)
def test_every_stemmer_is_there(language: str) -> None:
    assert terms("informations", language, stem=True)


def test_a_language_without_words_of_ours() -> None:
    with pytest.raises(BadParameter, match=r"no stop words for the language 'ja', only for en, fr\. --no-stop"):
        Analysis("ja")
    with pytest.raises(BadParameter, match="no stemmer for the language 'ja'"):
        Analysis("ja", stem=True, stop=False)
    assert terms("東京", "ja") == ["東京"]


def test_counts() -> None:
    counts = counted(pl.Series(["b a b", "", "c"]), pl.Series(["c d", "b"]), Analysis("en", stop=False))
    assert counts.terms.to_list() == ["a", "b", "c", "d"]
    assert counts.documents.toarray().tolist() == [[1, 2, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert counts.queries.toarray().tolist() == [[0, 0, 1, 1], [0, 1, 0, 0]]
