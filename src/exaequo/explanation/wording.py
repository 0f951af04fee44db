"""What explanations say. In: steps and numbers. Out: sentences and tables of a language, from its file.

A sentence may choose a word by a number, one form or several: `{n} {n:document|documents}`; which numbers take the
first form is said under `[grammar]`. English takes the titles and formulas of measures from the registry.
"""

from __future__ import annotations

import re
import string
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from exaequo import tabular
from exaequo.language import ENGLISH, number, plural, sentences, speaking, spoken
from exaequo.measures import Measure
from exaequo.measures.steps import Figure, Fine, Given, Plain, Step, Terms, Word
from exaequo.scores.formats import value_text
from exaequo.text import on_one_line

#: Columns that are written whole if all their numbers are.
WHOLE = ("sim", "judgment", "gain", "so far")
#: Terms of a sum that are written out; of longer ones the first and the last.
MOST_TERMS = 12
#: Digits of scores: enough to tell different ones apart, if these are enough.
LEAST_DIGITS, MOST_DIGITS = 4, 17


def figure_of(measure: Measure, value: float) -> Figure:
    """Return a value as `eval` prints it, in English; a language writes it with marks of its own."""
    with speaking(ENGLISH):
        return Figure(value_text(measure, value))


class Told:
    """What explains itself in words: `text` in a language; notebooks show it in the language spoken."""

    def text(self, lang: str = ENGLISH, *, rows: int = 30, markdown: bool = False) -> str:
        """Write the explanation out."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.text(spoken())

    def _repr_markdown_(self) -> str:
        return self.text(spoken(), markdown=True)


class Wording(string.Formatter):
    """One language, as text or as Markdown; `full` writes all terms of a sum."""

    def __init__(self, lang: str, *, markdown: bool = False, full: bool = False) -> None:
        self.words = sentences(lang)
        self.lang = lang
        self.markdown = markdown
        self.full = full

    def said(self, key: str, **numbers: Any) -> str:
        """Return a sentence of the frame."""
        return self.vformat(self.words["text"][key], (), numbers)

    def title(self, key: str, **names: Any) -> str:
        """Return the sentence of the frame that stands above."""
        return ("## " if self.markdown else "") + self.said(key, **names)

    def others(self, measure: Measure, values: Mapping[str, float]) -> list[str]:
        """Return the values of other strategies, as `eval` prints them."""
        figures = [self.figure(figure_of(measure, value)) for value in values.values()]
        strategies = [self.word(name) for name in values]
        return [self.said("others"), self.table(pl.DataFrame({"strategy": strategies, "value": figures}))]

    def figure(self, text: str) -> str:
        """Write a figure as `eval` prints it, which may be a word."""
        return self.word(text) if text in self.words["word"] else number(text, self.lang)

    def step(self, step: Step) -> str:
        """Return the sentence of a step; one that stands in no language file is its own key."""
        return self.vformat(self.words["step"].get(step.key, step.key), (), step.numbers)

    def word(self, word: str) -> str:
        """Return a word, or the name of a strategy."""
        return str(self.words["word"].get(word) or self.words["strategy"].get(word, word))

    def about(self, measure: Measure) -> dict[str, Plain]:
        """Return title, formula, and why it can be undefined; as the registry says them, if the language does not."""
        known = measure.definition
        said = {"title": known.title, "formula": known.formula, "reason": known.undefined}
        own = {
            part: self.words.get(part, {}).get(known.name, text) if known.ours else text for part, text in said.items()
        }
        if measure.params.get("dcg") == "jk":
            own["formula"] = own["formula"].replace("log2(i + 1)", "log2(max(i, 2))")
        return {part: Plain(text) for part, text in own.items()}

    def format_field(self, value: Any, format_spec: str) -> str:
        """Numbers as a teacher writes them: whole ones whole, others with up to six digits; – where there is none."""
        if format_spec:
            return plural(value, format_spec, self.lang)
        if value is None:
            return "–"
        if isinstance(value, float):
            digits = 15 if isinstance(value, Given) else 10 if isinstance(value, Fine) else 6
            whole = value.is_integer() and abs(value) < 1e15
            return number(f"{value:.0f}" if whole else f"{value:.{digits}g}", self.lang).replace("-", "−")
        if isinstance(value, int):
            return str(value).replace("-", "−")
        if isinstance(value, Word):
            return self.word(value)
        if isinstance(value, Figure):
            return self.figure(value)
        if isinstance(value, Terms):
            return self._sum(value)
        if isinstance(value, str) and not isinstance(value, Plain):
            return tabular.markdown_safe(value) if self.markdown else on_one_line(value)
        return str(value)

    def table(self, rows: Sequence[Mapping[str, Any]] | pl.DataFrame, apart: Sequence[float] = ()) -> str:
        """Return a table in the words of the language; scores have digits enough to stay apart from `apart` too."""
        if not isinstance(rows, pl.DataFrame):
            rows = pl.DataFrame([self._translated(row) for row in rows], infer_schema_length=None)
        frame = rows.with_columns(*self._readable(rows))
        heads = {name: self.words["head"].get(name, self.word(name)) for name in frame.columns}
        digits = {heads[name]: 0 for name in frame.columns if _whole(name, rows[name])}
        if "sim" in rows.columns:
            digits.setdefault(heads["sim"], _digits([*rows["sim"].drop_nulls(), *apart]))
        write = tabular.markdown if self.markdown else tabular.text
        with speaking(self.lang):
            return write(tabular.Table.of(frame.rename(heads), digits=digits, names=heads.values()))

    def _sum(self, terms: str) -> str:
        """Write a sum with the marks of the language, and a long one with how many terms are left out.

        Beyond English, a term below 0 that is not the first stands in brackets.
        """
        each = terms.split(" + ")
        left = len(each) - MOST_TERMS + 1
        if left > 1 and not self.full:
            terms = " + ".join([*each[: MOST_TERMS - 2], self.said("more terms", left=left), each[-1]])
        if self.lang == ENGLISH:
            return terms
        return re.sub(
            r"(?<=\+ )−[^ ]+", r"(\g<0>)", re.sub(r"\d+\.\d+", lambda found: number(found[0], self.lang), terms)
        )

    def _readable(self, rows: pl.DataFrame) -> list[pl.Expr]:
        """Return columns in words; whole numbers without marks between thousands, which are not the same everywhere."""
        yes, no = pl.lit(self.word("yes")), pl.lit(self.word("no"))
        columns = []
        for name, kind in rows.schema.items():
            column = pl.col(name)
            if kind == pl.Boolean:
                columns.append(pl.when(column).then(yes).when(~column).then(no).alias(name))
            elif name == "judgment":
                known = column.map_elements(lambda grade: f"{grade:g}", return_dtype=pl.String)
                nobody = pl.when(pl.col("rank").is_not_null()).then(pl.lit(self.word("not judged")))
                columns.append(known.fill_null(nobody))
            elif kind.is_integer():
                columns.append(column.cast(pl.Float64))
        return columns

    def _translated(self, row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.word(value) if isinstance(value, Word) else value for name, value in row.items()}

    def shortened(self, table: Sequence[Mapping[str, Any]] | pl.DataFrame, rows: int) -> list[str]:
        """Return a table of so many rows, and a sentence about those left out."""
        if not isinstance(table, pl.DataFrame) and table and "part" in table[0]:  # two by two, and its totals
            return [self.table(table)]
        left = len(table) - rows
        return [self.table(table[:rows]), *([self.said("left out", left=left)] if left > 0 else [])]

    def steps(self, steps: Sequence[Step], rows: int) -> list[str]:
        """Return the sentences and tables of steps."""
        parts = []
        for step in steps:
            parts.append(self.step(step))
            if step.table:
                parts += self.shortened(step.table, rows)
        return parts


def wrapped(parts: Sequence[str], width: int) -> str:
    """Put sentences and tables together; sentences are broken where they are wider than the terminal, if there is one.

    A table has lines of its own, and keeps them.
    """
    broken = (part if "\n" in part or not width else textwrap.fill(part, width, **_WHOLE_WORDS) for part in parts)
    return "\n\n".join(broken)


_WHOLE_WORDS: Any = {"break_long_words": False, "break_on_hyphens": False}


def _whole(name: str, values: pl.Series) -> bool:
    known = values.drop_nulls()
    if not known.dtype.is_numeric() or known.dtype.is_integer():
        return known.dtype.is_integer()
    return name in WHOLE and bool((known.is_finite() & (known == known.floor()) & (known.abs() < 1e15)).all())


def _digits(scores: Sequence[float]) -> int:
    different = len(set(scores))
    for digits in range(LEAST_DIGITS, MOST_DIGITS):
        if len({round(score, digits) for score in scores}) == different:
            return digits
    return MOST_DIGITS


def plain_steps(steps: Sequence[Step], words: Wording) -> list[dict[str, Any]]:
    """Return steps as plain data, for JSON, with their sentences."""
    return [
        {
            "key": step.key,
            "text": words.step(step),
            "numbers": tabular.plain(step.numbers),
            "table": tabular.plain(step.table),
        }
        for step in steps
    ]
