"""The drop-in command from arguments to text: read, rank, compute, print, each as the release in question does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from exaequo import __version__
from exaequo.aggregate import GM_FLOOR
from exaequo.arrays import Bools
from exaequo.errors import InputError
from exaequo.frames import pl
from exaequo.read import Qrels, Run, Source, datasets, trec
from exaequo.read.foreign import refuse_foreign
from exaequo.read.mending import finite
from exaequo.read.plain import Plain, of_text
from exaequo.read.records import repeated
from exaequo.read.source import Mend, load
from exaequo.text import count
from exaequo.trec_eval import OfficialError, groups
from exaequo.trec_eval.about import described
from exaequo.trec_eval.catalogue import Request, requests
from exaequo.trec_eval.lists import Lists, all_topics, build
from exaequo.trec_eval.options import FORMATS, USAGE, CommandLine, help_text, parse
from exaequo.trec_eval.preferences import Topics, read_topics

MISSING_ZSCORE = -1000000.0
#: Lines of a file, and where they come from.
Read: TypeAlias = "tuple[pl.DataFrame | Plain, Source]"
PREFS = trec.Layout("preferences", ("qid", "jg", "jsg", "docno", "rel"), "rel", more=False)


@dataclass(frozen=True, eq=False)
class Column:
    """One figure under its printed name: a value per topic, or a text."""

    name: str
    request: Request
    values: npt.NDArray[Any]

    @property
    def is_text(self) -> bool:
        """Tell whether the values are texts."""
        return self.values.dtype.kind == "U"


@dataclass(frozen=True, eq=False)
class Table:
    """All columns, for the topics that are evaluated, and what the summary needs to know."""

    topics: list[str]
    columns: list[Column]
    n_judged: int
    n_relevant: int
    run_id: str


def main(arguments: Sequence[str], tell: Callable[[str], object] = str) -> str:
    """Return what the official program prints for these arguments; OfficialError carries its exit code.

    What was mended in the files, if that was asked for, is told.
    """
    options = parse(arguments)
    if options.version:
        return f"trec_eval version {'9.0.8' if options.release == 9 else '10.0'}\nby exaequo {__version__}\n"
    asked = requests(options.measures, options.release)
    if options.help:
        return (described(asked) if options.measures else help_text(options)) + "\n"
    if len(options.files) != 2:
        raise OfficialError(1, f"{count(len(options.files), 'file')}; expected two, REL_INFO and RESULTS.\n{USAGE}")
    if options.files == ["-", "-"]:
        raise OfficialError(1, "standard input (-) can stand for one file only.")
    with np.errstate(all="ignore"):  # what overflows is printed as C prints it
        table = evaluate(options, asked, tell)
    if options.zscores:
        table = with_zscores(table, options.zscores)
    return written(table, options)


def evaluate(options: CommandLine, asked: list[Request], tell: Callable[[str], object] = str) -> Table:
    """Read both files and compute what is asked for."""
    if options.rel_format not in FORMATS:
        raise OfficialError(2, f"-R is {options.rel_format!r}; expected one of {', '.join(FORMATS)}.")
    if options.results_format != "trec_results":
        raise OfficialError(2, f"-T is {options.results_format!r}; expected trec_results.")
    _refuse_mixtures(options, asked)
    layouts = (PREFS if options.rel_format == "prefs" else trec.QRELS, trec.RUN)
    (judged, source), (lines, run_source) = read = _read_both(options, layouts)
    for mend in (each for _, about in read for each in about.mended):
        tell(str(mend))
    qrels = Qrels.of(judged, source=source) if isinstance(judged, Plain) else Qrels(judged, source)
    if isinstance(lines, Plain):
        run = Run.of(lines, name=lines.label, source=run_source)
    else:
        run = Run(lines["run_id"][-1], lines.select("qid", "docno", "sim", "rank", "key"), run_source)
    present = _present(qrels, run, options)
    if any(request.official.judgments for request in asked):  # the others do not look at documents
        _refuse_repeats(run, present, "returned")
        if options.rel_format == "qrels":
            _refuse_repeats(qrels, present, "judged")
    kept = np.array([topic in present for topic in qrels.topics])
    columns = _columns(qrels, run, options, asked)
    columns = [replace(column, values=column.values[kept]) for column in columns]
    topics = [topic for topic in qrels.topics if topic in present]
    return Table(topics, columns, len(kept), int((qrels.numbers >= 1).sum()), run.name)


def _refuse_mixtures(options: CommandLine, asked: list[Request]) -> None:
    """Refuse measures that need other judgments than those given."""
    have = "prefs" if options.rel_format == "qrels_prefs" else options.rel_format
    for request in asked:
        needs = request.official.judgments
        if needs and needs != have:
            raise OfficialError(4, f"measure {request.official.name} needs -R {needs}, not -R {options.rel_format}.")
    if have == "prefs" and options.ties != "conventional":
        raise OfficialError(1, "--ties: preferences have no grades to order ties by; expected conventional.")


def _read_both(options: CommandLine, layouts: tuple[trec.Layout, trec.Layout]) -> list[Read]:
    """Read both files, and say what is wrong with either."""
    read: list[Read] = []
    errors = []
    for path, layout in zip(options.files, layouts, strict=True):
        try:
            named = layout is trec.QRELS and datasets.is_named(path)
            data, source = datasets.judgments(path) if named else load(path)
            read.append(_lines(data, layout, source, options))
        except InputError as error:
            errors.append(str(error))
    if errors:
        raise OfficialError(2, "\n".join(errors))
    return read


def _lines(data: bytes, layout: trec.Layout, source: Source, options: CommandLine) -> Read:
    """Read a file, mended if that was asked for and it needs it."""
    comments = options.release != 9  # such a line is data there, or malformed
    parse = partial(trec.parse, layout=layout, name=source.name, repeats=True, comments=comments)
    try:
        refuse_foreign(data, source.name, layout.what)
        plain = of_text(data, replace(layout, comments=comments)) if options.rel_format == "qrels" else None
        frame = parse(data) if plain is None else plain
        if isinstance(frame, Plain) or not options.mend or repeated(frame, subtopics=layout is not trec.RUN) is None:
            return frame, source
    except InputError:
        if not options.mend:
            raise
    from exaequo.read import mends

    done: list[Mend] = []
    data = mends.text(data, layout, source, done)
    return parse(data), replace(source, mended=tuple(done))


def _present(judged: Qrels, run: Run, options: CommandLine) -> set[str]:
    """Return the topics to evaluate: those of both files, or under -c in release 10 all judged ones."""
    topics = {*judged.topics}
    if options.only_topic is not None:
        topics &= {options.only_topic}
    returned = {*run.topics}
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


def _refuse_repeats(lines: Qrels | Run, present: set[str], what: str) -> None:
    again = repeated(lines.frame) if lines.plain is None else None
    for qid, docno in again.select("qid", "docno").rows() if again is not None else ():
        if qid in present:
            raise OfficialError(4, f"{lines.source.name}: document {docno!r} is {what} twice for topic {qid!r}.")


def _columns(judged: Qrels, run: Run, options: CommandLine, asked: list[Request]) -> list[Column]:
    """Compute every figure for every judged topic, from judgments, preferences or groups of judgments."""
    if options.rel_format in ("prefs", "qrels_prefs"):
        return computed(read_topics(judged.frame, run, options.depth, single=options.release == 9), asked)
    if options.rel_format == "qrels_jg":
        pairs, copies, owner = groups.one_topic_each(judged, run)
        columns = computed(_lists(pairs, copies, options), asked)
        return [replace(column, values=groups.averaged(column.values, owner)) for column in columns]
    lists = _lists(groups.whole(judged), run, options)
    columns = computed(lists, asked)
    if options.complete and options.release != 9:
        return [_cleaned(column, lists.present) for column in columns]
    return columns


def _lists(qrels: Qrels, run: Run, options: CommandLine) -> Lists:
    return build(
        all_topics(qrels, options.level),
        run,
        release=options.release,
        ties=options.ties,
        seed=options.seed,
        depth=options.depth,
        judged_only=options.judged_only,
        complete=options.complete,
        collection_size=options.collection_size,
    )


def computed(ranked: Lists | Topics, asked: list[Request]) -> list[Column]:
    """Compute every figure that is asked for."""
    return [
        Column(name, request, values)
        for request in asked
        for name, values in zip(request.names, request.figures(ranked), strict=True)
    ]


def _cleaned(column: Column, present: Bools) -> Column:
    """Undo what the placeholder of a missing topic leaves behind, in the figures the original thinks of."""
    if column.name in ("num_ret", "utility", "rbp_resid", "relstring") or column.name.startswith("unj"):
        return replace(column, values=np.where(present, column.values, np.zeros_like(column.values)))
    return column


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
    for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        figures = tuple(map(finite, fields[2:]))
        if len(figures) != 2 or None in figures:
            expected = "topic, measure, mean and standard deviation"
            raise OfficialError(255, f"{source.name}:{number}: {line!r}; expected {expected}.")
        mean, deviation = figures
        if known.setdefault((fields[0], fields[1]), (mean or 0.0, deviation or 0.0)) != figures:
            found = f"{fields[1]} of topic {fields[0]!r} is here and above, with other figures"
            raise OfficialError(255, f"{source.name}:{number}: {found}; expected each once.")

    def scored(column: Column) -> Column:
        found = [known.get((topic, column.name)) for topic in table.topics]
        return replace(column, values=np.array(list(map(_zscore, column.values.tolist(), found))))

    return replace(table, columns=[column if column.is_text else scored(column) for column in table.columns])


def _zscore(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return MISSING_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_ZSCORE


# --------------------------------------------------------------------------------------------------------- printing


def written(table: Table, options: CommandLine) -> str:
    """Print topic by topic (-q), then the summary (unless -n)."""
    z = "Z" if options.zscores else ""
    lines: list[str] = []
    if options.per_topic:
        printed = [column for column in table.columns if column.request.official.per_topic]
        heads = [f"{'' if column.is_text else z}{column.name:<22}\t" for column in printed]
        cells = [_cells(column, bool(z)) for column in printed]
        for at, topic in enumerate(table.topics):
            lines += [f"{head}{topic}\t{own[at]}" for head, own in zip(heads, cells, strict=True)]
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
    if column.is_text:
        return [f"'{text}'" for text in column.values]
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
