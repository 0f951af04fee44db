"""The kernel: some lists, whole, with all judgments of their topics in; their values, or tie statistics, out.

A list is what one run returned for one topic. All lists of a block are evaluated at once, each as a topic of its own
with a copy of its judgments, whichever runs they are from: so a block may hold many short lists of many runs, and a
list gets the same value, to the last bit, in whichever block it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from exaequo.aggregate import aggregate
from exaequo.arrays import Floats
from exaequo.choices import ERRORS
from exaequo.errors import InputError, MissingTopics, Problem
from exaequo.expected import Expected
from exaequo.frames import pl
from exaequo.judge import JudgedRun, Judgments, judge, prepare
from exaequo.lots import of_names
from exaequo.measures import Measure, parse_measure
from exaequo.measuring import measured
from exaequo.options import Options, check_choice
from exaequo.order import Ordering
from exaequo.read.records import Qrels, Run, by_subtopic, with_keys
from exaequo.read.source import Source
from exaequo.scores import ALL, COLUMNS
from exaequo.tiestats import tie_statistics

#: The columns of a tidy table.
_SCORES = {name: pl.Float64 if name == "value" else pl.String for name in COLUMNS}
#: Digits of the number of a list within its block.
_DIGITS = 10
#: Copies of judgments that are in memory at a time, more or less: each list of a topic has its own.
_COPIES = 2_000_000


@dataclass(frozen=True)
class Work:
    """What to compute of each list: measures under tie strategies, as the options say; what becomes of bad rows."""

    measures: tuple[Measure, ...]
    options: Options
    errors: str = ERRORS[0]

    def __post_init__(self) -> None:
        check_choice("errors", self.errors, ERRORS)


class Rows(NamedTuple):
    """A block: `run, qid` of its lists, also of empty ones; their lines; and the judgments of all their topics.

    Lines are `run, qid, docno, sim`, and `rank` if there is one. In `qrels`, an `iter` column means that subtopics are
    told apart, `stratum` and `prob` that they are a sample.
    """

    lists: pl.DataFrame
    lines: pl.DataFrame
    qrels: pl.DataFrame


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of a block that are evaluated: run and topic of each, and all of them in order, judged and sorted."""

    frame: pl.DataFrame
    ordering: Ordering


class _OfLists(Ordering):
    """Lists in order, whose topics are their numbers; messages name run and topic."""

    def __init__(self, judged: JudgedRun, precision: str, lists: pl.DataFrame) -> None:
        super().__init__(judged, precision)
        self._lists = lists

    def _called(self, at: int) -> tuple[str, str]:
        run, topic = self._lists.select("run", "qid").row(int(super()._called(at)[1]))
        return f"run {run!r}", topic


def judged(block: Rows, options: Options) -> Lists | None:
    """Judge and sort the lists of a block; None if there are none. Topics with nothing relevant are left out."""
    lists, lines, qrels = block
    prepared = prepare(_qrels(qrels), level=options.rel_level, highest=options.max_grade)
    known = pl.DataFrame({"qid": prepared.topics})
    lists = lists.join(known, on="qid", how="semi").unique(["run", "qid"]).sort("run", "qid")
    if not lists.height:
        return None
    number = pl.int_range(lists.height).cast(pl.String).str.zfill(_DIGITS)
    lists = lists.with_columns(number.alias("list"))
    judgments = _copied(qrels, lists, options)
    own = lines.join(lists, on=["run", "qid"], how="inner", maintain_order="left")
    frame = own.select(
        pl.col("list").alias("qid"), "docno", "sim", *(name for name in ("rank",) if name in own.columns)
    )
    run = Run("", with_keys(frame), Source("lists"))
    return Lists(lists, _OfLists(judge(run, judgments), options.precision, lists))


def _qrels(frame: pl.DataFrame) -> Qrels:
    """Make judgments of rows; where subtopics are told apart, they are so even where all rows are of one."""
    qrels = by_subtopic(with_keys(frame), Source("qrels"))
    if "iter" in frame.columns and qrels.subtopics is None:
        row = pl.int_range(frame.height, eager=True).alias("row")
        table = frame.select(row, pl.col("iter").fill_null("").alias("subtopic"), "rel")
        return Qrels(qrels.frame, qrels.source, table)
    return qrels


def _copied(qrels: pl.DataFrame, lists: pl.DataFrame, options: Options) -> Judgments:
    """Return the judgments of each list, prepared; lots are drawn by the names of topics, not of lists."""
    own = lists.select("qid", "list").join(qrels, on="qid", how="inner", maintain_order="left_right")
    found = prepare(_qrels(own.drop("qid").rename({"list": "qid"})), level=options.rel_level, highest=options.max_grade)
    names = lists["qid"].unique(maintain_order=True)
    numbers = pl.DataFrame({"qid": names, "lot": of_names(names)})
    vars(found)["lots"] = lists.join(numbers, on="qid", how="left", maintain_order="left")["lot"].to_numpy()
    return found


def _parts(block: Rows) -> Iterator[Rows]:
    """Cut a block where its lists need too many copies of judgments: many runs that return little, or nothing."""
    lists, lines, qrels = block
    lists = lists.unique(["run", "qid"]).join(qrels.group_by("qid").len(), on="qid", how="inner").sort("qid", "run")
    part = (pl.col("len").cum_sum() - 1) // _COPIES
    for own in lists.select("run", "qid", part.alias("part")).partition_by("part", include_key=False):
        if own.height == lists.height:
            yield block
        else:
            rows = lines.join(own, on=["run", "qid"], how="semi", maintain_order="left")
            yield Rows(own, rows, qrels.join(own, on="qid", how="semi", maintain_order="left"))


def values(lists: Lists, work: Work) -> list[Floats | Expected]:
    """Return for each strategy the values of the lists, a row per measure, or the expected ones."""
    return measured(lists.ordering, work.measures, work.options.ties, work.options)


def tidy(lists: Lists, ties: Sequence[str], names: Sequence[str], tables: Sequence[Floats | Expected]) -> pl.DataFrame:
    """Return a row per list, strategy and measure: run, ties, topic, measure, value."""
    frame = lists.frame.select("run", pl.col("qid").alias("topic"))
    at = np.repeat(np.arange(frame.height), len(names))
    parts = [
        frame[at].with_columns(
            pl.lit(each).alias("ties"),
            pl.Series("measure", [*names] * frame.height, dtype=pl.String),
            pl.Series("value", (table.values if isinstance(table, Expected) else table).T.ravel()),
        )
        for each, table in zip(ties, tables, strict=True)
    ]
    return pl.concat(parts).select(COLUMNS)


def scored(block: Rows, work: Work) -> pl.DataFrame:
    """Evaluate a block: the tidy table of its lists; bad rows are dropped, or raise InputError."""
    names = [measure.name for measure in work.measures]
    found = (judged(part, work.options) for part in _parts(sound(block, work)))
    tables = [tidy(each, work.options.ties, names, values(each, work)) for each in found if each is not None]
    return pl.concat(tables) if tables else pl.DataFrame(schema=_SCORES)


def averaged(scores: pl.DataFrame, kinds: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return the aggregates of scores, added up in the order of topics, under the topic `all`.

    `topics` is how many values there are, `zeros` how many of them are 0. `kinds` says how measures are aggregated that
    nobody can tell by their names.
    """
    rows = []
    for (run, ties, measure), own in scores.sort("topic").group_by("run", "ties", "measure", maintain_order=True):
        kind = (kinds or {}).get(str(measure)) or parse_measure(str(measure)).aggregate
        value = own["value"].to_numpy()
        rows.append((run, ties, ALL, measure, aggregate(kind, value), own.height, np.count_nonzero(value == 0)))
    return pl.DataFrame(rows, schema={**_SCORES, "topics": pl.Int64, "zeros": pl.Int64}, orient="row")


def counted(block: Rows, work: Work, cutoffs: Sequence[int]) -> pl.DataFrame:
    """Count the ties of each list of a block that has documents: the columns of `TieStatistics`."""
    tables = [pl.DataFrame()]
    for found in (judged(part, work.options) for part in _parts(sound(block, work))):
        if found is not None:
            columns = tie_statistics(found.ordering, cutoffs, depth=work.options.depth).columns()
            frame = found.frame.select("run", pl.col("qid").alias("topic"))
            frame = frame.with_columns(pl.Series(name, each) for name, each in columns.items())
            tables.append(frame.filter(pl.col("documents") > 0))
    return pl.concat(tables, how="diagonal")


# --------------------------------------------------------------------------------------------------------- bad rows

_NUMBER = ("a finite number", "Drop the row or give it a number.")
#: What is kept of a document that is there again.
_BEST = {"sim": "score", "rel": "grade"}


def wrong(number: str, columns: Sequence[str], value: str | None = None) -> pl.Expr:
    """Return what is wrong with a row by itself, null if nothing is; its number may be called otherwise."""
    figure = pl.col(value or number)
    no_id = pl.any_horizontal(pl.col("qid", "docno").fill_null("") == "")
    found = pl.when(no_id).then(pl.lit("no id")).when(figure.is_null()).then(pl.lit(f"no {number}"))
    found = found.when(~figure.is_finite()).then(pl.format(f"{number} is {{}}", figure))
    if number == "rel" and "prob" in columns:
        found = found.when(~pl.col("prob").is_between(0, 1)).then(pl.format("prob is {}", "prob"))
    return found.otherwise(None)


def bad(lines: pl.DataFrame, number: str) -> pl.DataFrame:
    """Return the bad rows of lines (`sim`) or of judgments (`rel`): all columns, and `problem`, what is wrong.

    Of a document that is there again, the rows beyond the first are bad: beyond its best score, or its highest grade.
    """
    once = [
        name for name in ("run", "qid", "docno", "iter") if name in lines.columns and (name != "run" or number == "sim")
    ]
    again = pl.struct(once).is_duplicated()
    numbered = lines.with_row_index("_row").with_columns(wrong(number, lines.columns).alias("problem"))
    fine = numbered.filter(pl.col("problem").is_null())
    repeated = fine.filter(again)
    if repeated.height:
        # Of equal ones, the least of what else they have: rows of Spark have no order.
        other = sorted({*lines.columns} - {*once, number})
        falling = [name == number for name in (*once, number, *other, "_row")]
        best = repeated.sort(*once, number, *other, "_row", descending=falling, nulls_last=True)
        first = best.unique(once, keep="first", maintain_order=True)
        extra = (
            repeated.join(first, on="_row", how="anti").select("_row").with_columns(pl.lit("there again").alias("how"))
        )
        numbered = numbered.join(extra, on="_row", how="left", maintain_order="left")
        numbered = numbered.with_columns(pl.coalesce("problem", "how").alias("problem")).drop("how")
    return numbered.filter(pl.col("problem").is_not_null())


def sound(block: Rows, work: Work) -> Rows:
    """Return a block without bad rows; raise InputError if they are not to be dropped, MissingTopics if lists lack."""
    lists, lines, qrels = block
    kept = []
    for frame, number, name in ((lines, "sim", _of_list), (qrels, "rel", _of_judgments)):
        found = bad(frame, number)
        if found.height and work.errors == "raise":
            raise InputError([_problem(row, number, name(row)) for row in found.head(20).to_dicts()], checked=False)
        kept.append(frame[np.setdiff1d(np.arange(frame.height), found["_row"].to_numpy())] if found.height else frame)
    lines, qrels = kept
    if work.options.missing == "skip":
        lists = lines.select("run", "qid").unique()
    elif work.options.missing == "error":
        _refuse_missing(lists, lines, qrels, work.options)
    return Rows(lists, lines, qrels)


def _refuse_missing(lists: pl.DataFrame, lines: pl.DataFrame, qrels: pl.DataFrame, options: Options) -> None:
    evaluated = pl.DataFrame({"qid": prepare(_qrels(qrels), level=options.rel_level, highest=options.max_grade).topics})
    lacking = lists.join(evaluated, on="qid", how="semi").join(lines, on=["run", "qid"], how="anti").sort("run", "qid")
    if lacking.height:
        run, topic = lacking.select("run", "qid").row(0)
        what = f"{lacking.height:,} evaluated topics missing, such as {topic!r}"
        raise MissingTopics(f"run {run!r}: {what}. Add them, or choose --missing zero or skip.")


def _of_list(row: dict[str, object]) -> str:
    return f"run {row['run']!r}, topic {row['qid']!r}"


def _of_judgments(row: dict[str, object]) -> str:
    return f"judgments, topic {row['qid']!r}"


def _problem(row: dict[str, object], number: str, where: str) -> Problem:
    document, what = row["docno"], str(row["problem"])
    if what == "there again":
        mend = f'Delete one of the two rows; errors="drop", --errors drop, keeps the best {_BEST[number]}.'
        return Problem(where, None, f"document {document!r} is there again", "each document once in a topic", mend)
    expected, mend = ("an id", "Drop the row or give it an id.") if what == "no id" else _NUMBER
    if what.startswith("prob"):
        expected, mend = "a chance from 0 to 1", "Drop the row or give it its chance."
    return Problem(where, None, f"{what} (document {document!r})", expected, mend)
