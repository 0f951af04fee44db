"""The drop-in command from arguments to text: read, rank, compute, print, each as the release in question does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from exaequo import __version__
from exaequo.aggregate import GM_FLOOR
from exaequo.errors import InputError
from exaequo.judge import Bools, Floats
from exaequo.read import Qrels, Run, Source, trec
from exaequo.read.records import repeated, with_keys
from exaequo.read.source import load
from exaequo.trec_eval import groups, preferences
from exaequo.trec_eval.catalogue import OfficialError, Request, requests
from exaequo.trec_eval.lists import Lists, all_topics, build
from exaequo.trec_eval.measures import CALCULATIONS, relstrings
from exaequo.trec_eval.options import FORMATS, USAGE, Options, help_text, parse

MISSING_ZSCORE = -1000000.0
PREFS = trec.Layout("preferences", ("qid", "jg", "jsg", "docno", "rel"), "rel", more=False)


@dataclass(frozen=True, eq=False)
class Column:
    """One figure under its printed name: a value per topic, or a text."""

    name: str
    request: Request
    values: Floats
    texts: list[str] | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """All columns, for the topics that are evaluated, and what the summary needs to know."""

    topics: list[str]
    columns: list[Column]
    n_judged: int
    n_relevant: int
    run_id: str


def main(arguments: Sequence[str]) -> str:
    """Return what the official program prints for these arguments; OfficialError carries its exit code."""
    options = parse(arguments)
    if options.version:
        return f"exaequo {__version__}, as trec_eval version {'9.0.8' if options.release == 9 else '10.0'}\n"
    asked = requests(options.measures, options.release)
    if options.help:
        return help_text(options) + "\n"
    if len(options.files) != 2:
        raise OfficialError(1, f"{len(options.files)} files; expected two, REL_INFO and RESULTS.\n{USAGE}")
    if options.files == ["-", "-"]:
        raise OfficialError(1, "standard input (-) can stand for one file only.")
    with np.errstate(all="ignore"):  # what overflows is printed as C prints it
        table = evaluate(options, asked)
    if options.zscores:
        table = with_zscores(table, options.zscores)
    return written(table, options)


def evaluate(options: Options, asked: list[Request]) -> Table:
    """Read both files and compute what is asked for."""
    if options.rel_format not in FORMATS:
        raise OfficialError(2, f"-R is {options.rel_format!r}; expected one of {', '.join(FORMATS)}.")
    if options.results_format != "trec_results":
        raise OfficialError(2, f"-T is {options.results_format!r}; expected trec_results.")
    _refuse_mixtures(options, asked)
    layouts = (PREFS if options.rel_format == "prefs" else trec.QRELS, trec.RUN)
    (judged, source), (lines, run_source) = _read_both(options, layouts)
    run = Run("run", lines.select("qid", "docno", "sim", "rank", "key"), run_source)
    present = _present(judged, run, options)
    if any(request.official.judgments for request in asked):  # the others do not look at documents
        _refuse_repeats(run.frame, run_source, present, "returned")
        if options.rel_format == "qrels":
            _refuse_repeats(judged, source, present, "judged")
    columns = {
        "qrels": _from_qrels,
        "prefs": _from_preferences,
        "qrels_prefs": _from_preferences,
        "qrels_jg": _from_groups,
    }[options.rel_format](judged, source, run, options, asked)
    topics = judged["qid"].unique().sort()
    kept = np.array([topic in present for topic in topics])
    columns = [Column(c.name, c.request, c.values[kept], _picked(c.texts, kept)) for c in columns]
    relevant = int((judged["rel"] >= 1).sum())
    run_id = lines["run_id"][-1]
    return Table([topic for topic in topics if topic in present], columns, len(topics), relevant, run_id)


def _picked(texts: list[str] | None, kept: Bools) -> list[str] | None:
    return None if texts is None else [text for text, keep in zip(texts, kept, strict=True) if keep]


def _refuse_mixtures(options: Options, asked: list[Request]) -> None:
    """Refuse measures that need other judgments than those given."""
    have = "prefs" if options.rel_format == "qrels_prefs" else options.rel_format
    for request in asked:
        needs = request.official.judgments
        if needs and needs != have:
            raise OfficialError(4, f"measure {request.official.name} needs -R {needs}, not -R {options.rel_format}.")
    if have == "prefs" and options.ties != "conventional":
        raise OfficialError(1, "--ties: preferences have no grades to order ties by; expected conventional.")


def _read_both(options: Options, layouts: tuple[trec.Layout, trec.Layout]) -> list[tuple[pl.DataFrame, Source]]:
    """Read both files, and say what is wrong with either."""
    read, errors = [], []
    for path, layout in zip(options.files, layouts, strict=True):
        try:
            read.append(_read(path, layout, options.release))
        except InputError as error:
            errors.append(str(error))
    if errors:
        raise OfficialError(2, "\n".join(errors))
    return read


def _read(path: str, layout: trec.Layout, release: int) -> tuple[pl.DataFrame, Source]:
    data, source = load(path)
    # Release 9 knows no comments: such a line is data, or malformed.
    frame = trec.parse(data, layout, source.name, repeats=True, comments=release != 9)
    return frame, source


def _present(judged: pl.DataFrame, run: Run, options: Options) -> set[str]:
    """Return the topics to evaluate: those of both files, or under -c in release 10 all judged ones."""
    topics = set(judged["qid"].unique())
    if options.only_topic is not None:
        topics &= {options.only_topic}
    returned = set(run.frame["qid"].unique())
    if options.release == 9:
        topics &= returned
    elif not options.complete and topics - returned:
        missing = sorted(topics - returned, key=str.encode)
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise OfficialError(
            4,
            f"{options.files[1]}: no result for judged topic {missing[0]!r}{more}; expected all of them. "
            "With -c missing topics score 0; --release 9 leaves them out.",
        )
    if not topics:
        raise OfficialError(7, "no topic is both judged and in the results.")
    return topics


def _refuse_repeats(frame: pl.DataFrame, source: Source, present: set[str], what: str) -> None:
    again = repeated(frame)
    for qid, docno in again.select("qid", "docno").rows() if again is not None else ():
        if qid in present:
            raise OfficialError(4, f"{source.name}: document {docno!r} is {what} twice for topic {qid!r}.")


def _from_qrels(judged: pl.DataFrame, source: Source, run: Run, options: Options, asked: list[Request]) -> list[Column]:
    qrels = Qrels(judged.select("qid", "docno", groups.whole("rel"), "key"), source)
    return computed(lists_of(qrels, run, options), asked, complete=options.complete)


def lists_of(qrels: Qrels, run: Run, options: Options) -> Lists:
    """Rank a run as the options say."""
    return build(
        all_topics(qrels, options.level),
        run,
        release=options.release,
        ties=options.ties,
        depth=options.depth,
        judged_only=options.judged_only,
        complete=options.complete,
        collection_size=options.collection_size,
        seed=options.seed,
    )


def computed(lists: Lists, asked: list[Request], *, complete: bool = False) -> list[Column]:
    """Compute every figure for every judged topic."""
    columns: list[Column] = []
    none = np.zeros(lists.n_topics)
    for request in asked:
        name = request.official.name
        if name == "relstring":
            columns.append(Column(request.names[0], request, none, relstrings(lists, request.values)))
        elif name in CALCULATIONS:
            figures = CALCULATIONS[name](lists, request.values)
            columns += [Column(n, request, v) for n, v in zip(request.names, figures, strict=True)]
        else:
            columns.append(Column(name, request, np.ones(lists.n_topics)))
    if complete and lists.release != 9:
        columns = [_cleaned(column, lists.present) for column in columns]
    return columns


def _cleaned(column: Column, present: Bools) -> Column:
    """Undo what the placeholder of a missing topic leaves behind, in the figures the original thinks of."""
    if column.name == "relstring":
        texts = [text if here else "" for text, here in zip(column.texts or (), present, strict=True)]
        return Column(column.name, column.request, column.values, texts)
    if column.name in ("num_ret", "utility", "rbp_resid") or column.name.startswith("unj"):
        return Column(column.name, column.request, np.where(present, column.values, 0.0))
    return column


def _from_preferences(
    judged: pl.DataFrame, source: Source, run: Run, options: Options, asked: list[Request]
) -> list[Column]:
    del source
    if "jsg" not in judged.columns:
        judged = judged.rename({"iter": "jg"}).with_columns(jsg=pl.lit("0"))
    ranked = preferences.rank_by_name(run, options.depth, single=options.release == 9)
    by_topic = judged.group_by("qid").agg("jg", "jsg", "rel", "docno").sort("qid")
    topics = [
        preferences.read_topic(qid, zip(*columns, strict=True), ranked.get(qid, []))
        for qid, *columns in by_topic.rows()
    ]
    ones = np.ones(len(topics))
    return [
        Column(name, request, np.array([calculate(topic) for topic in topics], dtype=np.float64) if calculate else ones)
        for request in asked
        for name in request.names
        for calculate in [preferences.CALCULATIONS.get(request.official.name)]
    ]


def _from_groups(
    judged: pl.DataFrame, source: Source, run: Run, options: Options, asked: list[Request]
) -> list[Column]:
    pairs, copies, owner = groups.one_topic_each(judged, run)
    lists = lists_of(Qrels(with_keys(pairs), source), Run(run.name, with_keys(copies), run.source), options)
    columns: list[Column] = []
    for request in asked:
        if request.official.name in groups.SAME_AS:
            figures = CALCULATIONS[groups.SAME_AS[request.official.name]](lists, request.values)
            values = [groups.averaged(each, owner) for each in figures]
        else:
            values = [np.ones(int(owner.max()) + 1)]
        columns += [Column(name, request, each) for name, each in zip(request.names, values, strict=True)]
    return columns


# --------------------------------------------------------------------------------------------------------- z-scores


def with_zscores(table: Table, path: str) -> Table:
    """Replace every figure by its distance from a mean, in deviations."""
    known: dict[tuple[str, str], tuple[float, float]] = {}
    try:
        data, source = load(path)
    except InputError as error:
        raise OfficialError(255, str(error)) from None
    if not data.strip():
        raise OfficialError(255, f"{source.name}: the file is empty; expected topic, measure, mean and deviation.")
    for number, line in enumerate(data.decode(errors="replace").split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            topic, measure, mean, deviation = fields
            known[topic, measure] = (float(mean), float(deviation))
        except ValueError:
            expected = "topic, measure, mean and standard deviation"
            raise OfficialError(255, f"{source.name}:{number}: {line!r}; expected {expected}.") from None
    columns = [
        Column(
            column.name,
            column.request,
            np.array(
                [
                    _zscore(value, known.get((topic, column.name)))
                    for topic, value in zip(table.topics, column.values, strict=True)
                ]
            ),
            column.texts,
        )
        for column in table.columns
    ]
    return Table(table.topics, columns, table.n_judged, table.n_relevant, table.run_id)


def _zscore(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return MISSING_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_ZSCORE


# --------------------------------------------------------------------------------------------------------- printing


def written(table: Table, options: Options) -> str:
    """Print topic by topic (-q), then the summary (unless -n)."""
    z = "Z" if options.zscores else ""
    lines: list[str] = []
    if options.per_topic:
        printed = [column for column in table.columns if column.request.official.per_topic]
        heads = [f"{'' if column.texts is not None else z}{column.name:<22}\t" for column in printed]
        cells = [_cells(column, bool(z)) for column in printed]
        rows = zip(*cells, strict=True) if cells else iter(())
        for topic, row in zip(table.topics, rows, strict=bool(cells)):
            lines += [f"{head}{topic}\t{cell}" for head, cell in zip(heads, row, strict=True)]
    if options.summary:
        for column in table.columns:
            kind = column.request.official.summary
            if kind == "last":
                lines.append(f"{column.name:<22}\tall\t{table.run_id}")
            elif kind != "none":
                value = summarised(column, table, complete=options.complete)
                text = figure(value, whole=column.request.official.whole and not z)
                lines.append(f"{z}{column.name:<22}\tall\t{text}")
    return "".join(f"{line}\n" for line in lines)


def _cells(column: Column, zscores: bool) -> list[str]:
    if column.texts is not None:
        return [f"'{text}'" for text in column.texts]
    whole = column.request.official.whole and not zscores
    return [figure(value, whole=whole) for value in column.values.tolist()]


def figure(value: float, *, whole: bool) -> str:
    """Write a number as C does: `%ld`, or `%6.4f` with the sign of a NaN."""
    if whole:
        return str(int(value))
    if math.isnan(value):
        return f"{'-nan' if math.copysign(1.0, value) < 0 else 'nan':>6}"
    return f"{value:6.4f}"


def summarised(column: Column, table: Table, *, complete: bool) -> float:
    """Make one figure of all topics; under -c over all judged ones."""
    kind = column.request.official.summary
    n = table.n_judged if complete else len(table.topics)
    if kind == "topics":
        return float(n)
    if kind == "relevant" and complete:
        return float(table.n_relevant)
    total = added(column.values)
    if kind == "geometric":
        if complete:
            total += (n - len(table.topics)) * math.log(GM_FLOOR)
        return math.exp(total / n)
    return total if kind in ("sum", "relevant") else total / n


def added(values: Any) -> float:
    """Add from first to last, as a loop does: the last bit can decide how a figure is rounded."""
    return float(np.cumsum(values)[-1]) if len(values) else 0.0
