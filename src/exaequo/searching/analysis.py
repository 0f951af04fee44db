"""Analysis: texts in, their terms out: words in lower case, perhaps without stop words, perhaps stemmed.

A word is a run of letters, marks and digits. An apostrophe, straight or curved, parts words, and what is elided beside
it is no word: *l'eau* is *eau*, *dog's* is *dog*.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from exaequo.errors import BadParameter, ExaequoError

_WORD = r"[\p{L}\p{M}\p{N}]+"
_ELIDED = {
    "en": r"'(?:s|t|d|m|re|ve|ll)\b",
    "fr": r"\b(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'",
}
#: Words that say nothing about a subject: articles, pronouns, prepositions, conjunctions, auxiliaries.
STOP_WORDS = {
    "en": frozenset(
        "a an the this that these those some any each every all both no not nor only such same other another "
        "i me my mine you your yours he him his she her hers it its we us our ours they them their theirs "
        "who whom whose which what when where why how "
        "at by for from in into of off on onto out over to up upon with within without about above across after "
        "against along among around before behind below beneath beside between beyond down during near per since "
        "through toward towards under until via "
        "and or but if then than as so because while though although whether "
        "am is are was were be been being do does did done doing have has had having can could may might must shall "
        "should will would there here also too very".split()
    ),
    "fr": frozenset(
        "le la les l un une des du de d au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos "
        "leur leurs tout toute tous toutes chaque quelque quelques aucun aucune autre autres même mêmes tel telle tels "
        "telles je j me m moi tu te t toi il elle on se s soi lui nous vous ils elles eux en y ceci cela ça celui "
        "celle ceux celles qui que qu quoi dont où lequel laquelle lesquels lesquelles quel quelle quels quelles "
        "à dans par pour sur sous vers avec sans chez entre parmi pendant depuis dès avant après contre selon jusque "
        "jusqu et ou mais donc or ni car si comme quand lorsque lorsqu puisque puisqu parce quoique quoiqu afin ainsi "
        "c n ne pas plus moins très aussi "
        "être suis es est sommes êtes sont était étaient étant été sera seront serait seraient fut furent soit soient "
        "avoir ai as a avons avez ont avait avaient ayant eu aura auront aurait auraient ait aient".split()
    ),
}
#: The stemmer of each language, as Snowball calls it.
STEMMERS = {"en": "english", "fr": "french", "de": "german", "es": "spanish", "it": "italian", "nl": "dutch"}


@dataclass(frozen=True)
class Analysis:
    """How texts become terms: the language, whether words are stemmed, whether stop words are left out."""

    language: str = "en"
    stem: bool = False
    stop: bool = True

    def __post_init__(self) -> None:
        """Check that there is what the language needs."""
        if self.stop and self.language not in STOP_WORDS:
            raise _none("stop words", self.language, STOP_WORDS, "--no-stop, stop=False keeps all words")
        if self.stem and self.language not in STEMMERS:
            raise _none("stemmer", self.language, STEMMERS, "Do without")

    def terms(self, texts: pl.Series) -> pl.DataFrame:
        """Return a line per occurrence: the `row` of its text, its `term`."""
        words = pl.col("text").str.normalize("NFC").str.to_lowercase().str.replace_all("’", "'", literal=True)
        if self.language in _ELIDED:
            words = words.str.replace_all(_ELIDED[self.language], " ")
        frame = texts.rename("text").to_frame().with_row_index("row")
        frame = frame.select("row", words.str.extract_all(_WORD).alias("term")).explode("term").drop_nulls("term")
        if self.stop:
            frame = frame.filter(~pl.col("term").is_in(list(STOP_WORDS[self.language])))
        return frame.with_columns(_stemmed(frame["term"], self.language)) if self.stem else frame


def _stemmed(words: pl.Series, language: str) -> pl.Series:
    try:
        import Stemmer
    except ImportError:
        raise ExaequoError("Stemming needs PyStemmer: pip install 'exaequo[search]'") from None
    different = words.unique()
    stems = Stemmer.Stemmer(STEMMERS[language]).stemWords(different.to_list())
    return words.replace_strict(different, pl.Series(stems, dtype=pl.String), return_dtype=pl.String)


def _none(what: str, language: str, known: dict[str, frozenset[str]] | dict[str, str], mend: str) -> BadParameter:
    return BadParameter(f"There is no {what} for the language {language!r}, only for {', '.join(known)}. {mend}.")
