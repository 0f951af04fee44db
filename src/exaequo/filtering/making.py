"""Making filters: of judgments and runs, of tables of decisions, of arrays. Out: `Filter`s of one collection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.choices import HIGHEST_GRADE
from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import judged_runs, prepared
from exaequo.filtering.filters import Filter
from exaequo.measures.parameters import MOST_DOCUMENTS
from exaequo.options import Options
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, read_qrels, read_run, unique_names
from exaequo.read.decisions import Decisions, read_decisions
from exaequo.remarks import remarks_on_grades
from exaequo.text import listed


def read_filter(
    qrels: QrelsLike,
    run: RunLike,
    *,
    docs: int | None = None,
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
) -> Filter:
    """Make a filter of judgments and a run."""
    options = Options(rel_level=rel_level, max_grade=max_grade)
    (one,), _ = judged_filters(read_qrels(qrels), [read_run(run)], options, docs=docs)
    return one


def judged_filters(
    qrels: Qrels, runs: Iterable[Run], options: Options, *, docs: int | None = None
) -> tuple[list[Filter], list[str]]:
    """Make filters of judgments and runs, of one collection; and return what there is to say about the files."""
    judgments = prepared(qrels, options, every=True)
    judged = list(judged_runs(judgments, runs, options))
    said = [*remarks_on_grades(judgments), *(note for _, notes in judged for note in notes)]
    return filters_of([ordering for ordering, _ in judged], docs=docs), said


def filter_of(ordering: Ordering, *, docs: int | None = None) -> Filter:
    """Make a filter of a run that has been judged and sorted."""
    (one,) = filters_of([ordering], docs=docs)
    return one


def filters_of(orderings: Sequence[Ordering], *, docs: int | None = None) -> list[Filter]:
    """Make filters of runs that have been judged and sorted; without `docs`, their collection is what any of them know.

    Themes are those of the judgments; prepare them with every topic, so that those with nothing relevant count too.
    """
    judgments = orderings[0].judgments
    known = np.bincount(judgments.topic, minlength=judgments.n_topics) + _unjudged(orderings)
    files = [each.run.source.name for each in orderings]
    names = unique_names([(each.run.name, file) for each, file in zip(orderings, files, strict=True)])
    themes, n_rel = judgments.topics.to_list(), judgments.counted()
    sizes = _sizes(known, docs, files[0], themes)
    filters = []
    for name, file, ordering in zip(names, files, orderings, strict=True):
        lists = ordering.ranking("input")
        moment = _places(lists.topic, lists.row)
        columns = lists.topic, lists.lines.sim[lists.line], lists.relevant()
        filters.append(Filter(name, themes, *columns, n_rel, sizes, moment, _counted(moment), file))
    return filters


def _unjudged(orderings: Iterable[Ordering]) -> Ints:
    """Return how many documents of each theme any of the runs has, and nobody judged."""
    parts, n_topics = [], 0
    for ordering in orderings:
        lines = ordering.judged_run
        n_topics, new = ordering.judgments.n_topics, ~lines.judged
        names = lines.run.frame["docno"][lines.row[new]]
        parts.append(pl.DataFrame({"topic": lines.topic[new], "docno": names}))
    return np.bincount(pl.concat(parts).unique()["topic"].to_numpy(), minlength=n_topics)


def _places(owner: Ints, row: Ints) -> Ints:
    """Return the place of each row among those of its owner, from 0."""
    order = np.lexsort((row, owner))
    place = np.empty_like(order)
    place[order] = np.arange(len(order)) - np.searchsorted(owner[order], owner[order])
    return place


def _counted(moment: Ints) -> pl.Series:
    """Return the moments of documents that come one after the other: 1, 2, …"""
    return pl.Series("time", np.arange(1, moment.max(initial=-1) + 2))


def from_arrays(
    themes: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, docs: int | None = None, name: str = "filter"
) -> Filter:
    """Make a filter of `{theme: (y_true, y_score)}`; decisions are scores of 0 and 1."""
    if not themes:
        raise bad_input(name, "there is no theme", "at least one", "Check how it was made.")
    checked = [_checked(name, theme, *pair) for theme, pair in themes.items()]
    relevant, score = (np.concatenate(column) for column in zip(*checked, strict=True))
    owner = np.repeat(np.arange(len(checked)), [len(truth) for truth, _ in checked])
    n_rel, n_docs = (np.bincount(each, minlength=len(checked)) for each in (owner[relevant], owner))
    moment = _places(owner, np.arange(len(owner)))
    sizes = _sizes(n_docs, docs, name, list(themes))
    return _sorted(name, list(themes), owner, score, relevant, n_rel, sizes, moment)


def _sorted(
    name: str,
    themes: list[str],
    owner: Ints,
    score: Floats,
    relevant: Bools,
    n_rel: Ints,
    n_docs: Ints,
    moment: Ints,
    moments: pl.Series | None = None,
) -> Filter:
    order = np.lexsort((-score, owner))
    columns = owner[order], score[order], relevant[order], n_rel, n_docs, moment[order]
    return Filter(name, themes, *columns, _counted(moment) if moments is None else moments)


def _checked(name: str, theme: str, y_true: npt.ArrayLike, y_score: npt.ArrayLike) -> tuple[Bools, Floats]:
    """Return which documents are relevant, and their scores; refuse what is no such pair of lists."""
    truth, score = np.asarray(y_true, dtype=np.float64), np.asarray(y_score, dtype=np.float64)
    if not np.isfinite(truth).all():
        problem = (f"theme {theme!r} has a truth that is not finite", "numbers", "Mend it.")
    elif truth.shape != score.shape or score.ndim != 1:
        found = f"theme {theme!r} has arrays of shapes {truth.shape} and {score.shape}"
        problem = (found, "two lists of one length", "Mend the arrays.")
    elif not np.isfinite(score).all():
        problem = (f"theme {theme!r} has a score that is not finite", "numbers", "Mend it.")
    else:
        return truth > 0, score
    raise bad_input(name, *problem)


def from_table(
    data: Any, *, docs: int | None = None, reader: str | None = None, columns: Mapping[str, str] | None = None
) -> Filter:
    """Make a filter of a table with a row per theme and document: `theme`, `y_true`, and `y_score` or a decision."""
    (one,) = from_tables([data], docs=docs, reader=reader, columns=columns)
    return one


def from_tables(
    tables: Sequence[Any] | Mapping[str, Any],
    *,
    docs: int | None = None,
    reader: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Filter]:
    """Make filters of tables as for `from_table`, of one collection: what any of the tables knows of a theme.

    Documents are told by their names. Tables without names must agree in how many documents a theme has, and how many
    of them are relevant.
    """
    named = tables.items() if isinstance(tables, Mapping) else [(None, data) for data in tables]
    read: list[Decisions] = []
    names: list[tuple[str, str]] = []
    for name, data in named:
        one = data if isinstance(data, Decisions) else read_decisions(data, reader=reader, columns=columns)
        read.append(one)
        names.append((name or one.name, one.file))
    if not read:
        raise BadParameter("No table is given.")
    themes = pl.concat([each.theme for each in read]).unique(maintain_order=True)
    by_name = all(each.document is not None for each in read)
    n_rel, known = _in_all(read, themes) if by_name else _in_each(read, themes)
    sizes = _sizes(known, docs, read[0].file, themes.to_list())
    filters = []
    for name, one in zip(unique_names(names), read, strict=True):
        owner = _codes(one.theme, themes)
        moment = _places(owner, np.arange(len(owner))) if one.moment is None else one.moment
        own = owner, one.score, one.truth > 0, n_rel, sizes, moment, one.moments
        filters.append(replace(_sorted(name, themes.to_list(), *own), file=one.file))
    return filters


def absent(filters: Iterable[Filter]) -> list[str]:
    """Say of filters of tables which themes of the others one has no row for."""
    said = []
    for one in filters:
        there = {*one.theme.tolist()}
        missing = [theme for at, theme in enumerate(one.themes) if at not in there]
        what = f"{len(missing):,} of {len(one.themes):,} themes missing: {listed(missing)}"
        said += [f"{one.name}: {what}; nothing is selected for them"] if missing else []
    return said


def _codes(theme: pl.Series, themes: pl.Series) -> Ints:
    return theme.cast(pl.Enum(themes)).to_physical().to_numpy().astype(np.int64)


def _in_all(tables: Sequence[Decisions], themes: pl.Series) -> tuple[Ints, Ints]:
    """Return how many relevant documents, and how many documents, all tables together have for each theme."""
    rows = pl.concat(
        pl.DataFrame(
            {"theme": _codes(each.theme, themes), "document": each.document, "relevant": each.truth > 0, "file": at}
        )
        for at, each in enumerate(tables)
    )
    each = rows.group_by("theme", "document").agg(
        pl.col("relevant").any(), disputed=pl.col("relevant").n_unique() > 1, file=pl.col("file").max()
    )
    odd = each.filter("disputed").sort("theme", "document")
    if odd.height:
        theme, document, _, _, file = odd.row(0)
        found = f"document {document!r} of theme {themes[theme]!r} is relevant here or in another table, not in both"
        raise bad_input(tables[file].file, found, "one truth", "Mend one of the tables.")
    theme, relevant = each["theme"].to_numpy(), each["relevant"].to_numpy()
    counts = (np.bincount(chosen, minlength=len(themes)) for chosen in (theme[relevant], theme))
    n_rel, known = counts
    return n_rel, known


def _in_each(tables: Sequence[Decisions], themes: pl.Series) -> tuple[Ints, Ints]:
    """Return how many relevant documents, and how many documents, each table has for each theme: all the same."""
    owners = [_codes(table.theme, themes) for table in tables]
    known = [np.bincount(owner, minlength=len(themes)) for owner in owners]
    relevant = [
        np.bincount(owner[table.truth > 0], minlength=len(themes)) for owner, table in zip(owners, tables, strict=True)
    ]
    for table, n_rel, n_docs in zip(tables, relevant, known, strict=True):
        for at in np.flatnonzero((n_rel != relevant[0]) | (n_docs != known[0])):
            found = f"theme {themes[int(at)]!r} has {n_docs[at]:,} documents, {n_rel[at]:,} of them relevant"
            expected = f"{known[0][at]:,} and {relevant[0][at]:,}, as in {tables[0].file}"
            raise bad_input(table.file, found, expected, "Name the documents, in a column docno of all tables.")
    return relevant[0], known[0]


def _sizes(known: Ints, docs: int | None, name: str, themes: Sequence[str]) -> Ints:
    if docs is not None and (type(docs) is not int or not 1 <= docs <= MOST_DOCUMENTS):
        raise BadParameter(f"docs must be a whole number from 1 to {MOST_DOCUMENTS:,}. Got {docs!r} instead.")
    if docs is not None and docs < known.max(initial=0):
        found = f"theme {themes[int(known.argmax())]!r} has {known.max():,} documents"
        raise bad_input(name, found, f"at most the {docs:,} of the collection", "Check --docs.")
    return known if docs is None else np.full(len(known), docs)
