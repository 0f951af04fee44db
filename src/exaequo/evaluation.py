"""Evaluating: judgments and runs → `Ordering`s, one after the other → `Scores`.

`judged_runs` is the one loop that judges and sorts runs as they are read; `evaluate_runs` measures what it yields, and
notes what else is asked of each run while it is at hand. Everything after works on the `Scores`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from exaequo.choices import EXPECTED, INTERVAL, ORDERS_SAMPLED
from exaequo.errors import BadParameter, DataWarning, MissingTopics, bad_input
from exaequo.expected import expected_values
from exaequo.frames import pl
from exaequo.judge import JudgedRun, Judgments, judge, prepare
from exaequo.measures import Measure, parse_measures
from exaequo.options import Evaluation, Options, first_order, keywords, one_strategy
from exaequo.order import Ordering
from exaequo.read import Qrels, QrelsLike, Run, RunLike, RunsLike, read_qrels, read_run, read_runs, unique_names
from exaequo.read.ahead import ahead
from exaequo.read.oddities import other_forms
from exaequo.read.trec import quoted
from exaequo.scores import ALL, Block, Scores
from exaequo.text import count, listed

#: A run that was judged and sorted, with what there is to say about it.
Judged = tuple[Ordering, list[str]]


def evaluate(
    qrels: QrelsLike,
    runs: RunsLike,
    measures: Iterable[str | Measure] | str | Measure,
    ties: str | Sequence[str] = "realistic",
    *,
    samples: int = ORDERS_SAMPLED,
    interval: bool = False,
    **options: Unpack[Evaluation],
) -> Scores:
    """Evaluate one run or many against judgments.

    Args:
        qrels: a path, a frame, a dict of dicts, or named tuples.
        runs: one run, a list of runs, or a dict of runs by name; each a path, a frame, a dict of dicts, …
        measures: names such as `"AP"`, `"nDCG@10"`, `"P(rel=2)@5"`, or measure objects.
        ties: one strategy or several: realistic, conventional, optimistic, rank, input, random, or `"expected"`, the
            mean over all orders of the ties; `"all"` is the first three.
        samples: orders of ties to sample where the expected value has no closed form and there are too many orders.
        interval: also find the aggregates that ties change (`Scores.tie_effects`).
        options: `rel_level`, the least grade that is relevant, for measures that do not say, by default any above 0;
            `max_grade`, above which a grade counts as 0; `depth`, where each list is cut, after ordering; `missing`:
            a judged topic the run lacks scores `"zero"`, is left out (`"skip"`), or is an `"error"`; `precision`, in
            which scores are compared, `"double"` or `"single"`; `seed`, for all that is random; `columns`, the names of
            `qid`, `docno`, `sim`, `rel` in tables, where they are not the usual ones; `mend`, to put right what is
            wrong with files where that is safe, as `Scores.warnings` then say.
    """
    reading, given = keywords("evaluate", options)
    chosen = Options.of(ties, samples=samples, **given)
    parsed = parse_measures(measures)
    judged = judged_runs(read_qrels(qrels, **reading), read_runs(runs, **reading), chosen, parsed)
    scores = evaluate_runs(judged, parsed, chosen, interval=interval)
    warn(scores.warnings)
    return scores


def warn(messages: Iterable[str]) -> None:
    """Give warnings that point at the line that called the public function."""
    for message in messages:
        warnings.warn(message, DataWarning, stacklevel=3)


def lexirecall(
    qrels: QrelsLike,
    one: RunLike,
    two: RunLike,
    *,
    ties: str = "realistic",
    rel_level: float | None = None,
    seed: int = 0,
) -> dict[str, int]:
    """Compare two runs by lexicographic recall: per topic 1 if the first is preferred, -1 the second, else 0."""
    from exaequo.measures.recall import lexicographic_recall

    options = Options(ties=(one_strategy(ties),), rel_level=rel_level, seed=seed)
    both = list(judged_runs(read_qrels(qrels), (read_run(run) for run in (one, two)), options))
    first, second = (ordering.ranking(ties, seed=seed) for ordering, _ in both)
    return dict(zip(first.judgments.names, lexicographic_recall(first, second).tolist(), strict=True))


# ---------------------------------------------------------------------------------------------------- the one loop


def prepared(qrels: Qrels, options: Options, *, every: bool = False) -> Judgments:
    """Prepare judgments as the options say; `every` evaluates topics with nothing relevant too."""
    return prepare(qrels, level=options.rel_level, highest=options.max_grade, every=every)


def judged_runs(
    qrels: Qrels | Judgments, runs: Iterable[Run], options: Options, measures: Sequence[Measure] = ()
) -> Iterator[Judged]:
    """Judge and sort runs, one after the other as they are read, each once; with each comes what there is to say.

    What there is to say about the judgments comes with the first, unless they have been prepared already.
    """
    judgments = qrels if isinstance(qrels, Judgments) else prepared(qrels, options)
    remarks: list[str] = [] if judgments is qrels else remarks_on_judgments(judgments, measures)
    for run in ahead(iter(runs)):
        judged = judge(run, judgments)
        remarks += remarks_on_run(judged, options)
        yield Ordering(judged, options.precision), remarks
        remarks = []


# ------------------------------------------------------------------------------------------------------ measuring


@dataclass(frozen=True, eq=False)
class Evaluated:
    """What is kept of a run: its lines are let go before the next one is read."""

    name: str
    file: str
    blocks: list[Block]
    beside: list[Block]
    about: dict[str, Any]
    facts: Any


def evaluate_runs(
    runs: Iterable[Judged],
    measures: Sequence[Measure],
    options: Options,
    *,
    interval: bool = False,
    also: Sequence[Measure] = (),
    facts: Callable[[Ordering], Any] | None = None,
) -> Scores:
    """Measure runs one after the other; warnings are collected, not given.

    With `interval`, what the three strategies give that tell what ties decide stands beside what was asked for; `also`
    are measures that do so under the first order. `facts` notes what else is wanted of a run, for `Scores.facts`.
    """
    evaluated: list[Evaluated] = []
    remarks: list[str] = []
    qrels: Judgments | None = None
    more = [ties for ties in (INTERVAL if interval else ()) if ties not in options.ties]
    for ordering, said in runs:
        qrels = ordering.judgments
        remarks += said
        blocks = _measured(ordering, measures, [*options.ties, *more], options)
        blocks, beside = blocks[: len(options.ties)], blocks[len(options.ties) :]
        beside += _measured(ordering, also, [first_order(options.ties)], options) if also else []
        about = {**_described(ordering.run), "tied": ordering.n_tied}
        noted = facts(ordering) if facts is not None else None
        evaluated.append(Evaluated(ordering.run.name, ordering.run.source.name, blocks, beside, about, noted))
    if qrels is None:
        raise BadParameter("No run is given.")
    return assembled(evaluated, qrels, measures, options, remarks)


def assembled(
    evaluated: Sequence[Evaluated],
    qrels: Judgments,
    measures: Sequence[Measure],
    options: Options,
    remarks: Sequence[str],
) -> Scores:
    """Put together what was kept of all runs."""
    remarks = [*remarks, *cautions(measures, qrels.n_topics)]
    names = unique_names([(each.name, each.file) for each in evaluated])
    named = list(zip(names, evaluated, strict=True))
    return Scores(
        measures=tuple(measures),
        blocks=tuple(replace(block, run=name) for name, each in named for block in each.blocks),
        beside=tuple(replace(block, run=name) for name, each in named for block in each.beside),
        facts={name: each.facts for name, each in named},
        remarks=tuple(remarks),
        options=dict(vars(options)),
        inputs={
            "qrels": _described(qrels.qrels),
            "runs": [{"name": name, **each.about} for name, each in named],
        },
        every=qrels.names,
    )


def _measured(ordering: Ordering, measures: Sequence[Measure], ties: Iterable[str], options: Options) -> list[Block]:
    """Compute all measures under each strategy; where nothing is tied, the orders are one."""
    blocks: list[Block] = []
    for each in ties:
        expected = None
        if each == EXPECTED:
            expected = expected_values(
                ordering, measures, depth=options.depth, seed=options.seed, samples=options.samples
            )
            values = expected.values
        elif blocks and not ordering.n_tied:
            values = blocks[0].values
        else:
            ranking = ordering.ranking(each, seed=options.seed, depth=options.depth)
            values = np.stack([measure.values(ranking) for measure in measures])
        blocks.append(Block(ordering.run.name, each, tuple(measures), ordering.judgments.names, values, expected))
    if options.missing != "skip":
        return blocks
    kept = np.flatnonzero(ordering.judged_run.returned)
    if not len(kept):
        found = "none of its topics has a relevant document"
        raise bad_input(ordering.run.source.name, found, "at least one", "Choose --missing zero.")
    return [block.part(kept) for block in blocks]


def _described(data: Run | Qrels) -> dict[str, Any]:
    return {"file": data.source.name, "sha256": data.source.sha256, "lines": data.height}


# --------------------------------------------------------------------------------------------------------- remarks


def remarks_on_judgments(judgments: Judgments, measures: Sequence[Measure] = ()) -> list[str]:
    """Say what about the judgments changes how scores should be read; raise if there is nothing to evaluate."""
    remarks = [*judgments.qrels.source.remarks]
    name = judgments.qrels.source.name
    if not judgments.n_topics:
        found = f"no relevant document in {count(len(judgments.nothing_relevant), 'topic')}"
        mend = "Check the judgments, --rel-level and --max-grade."
        raise bad_input(name, found, "at least one", mend)
    if ALL in judgments.names:
        remarks.append(f"{name}: a topic is called {ALL!r}; in CSV and trec output so are the figures of all topics")
    if judgments.nothing_relevant:
        topics = judgments.nothing_relevant
        left = f"{count(len(topics), 'topic')} with nothing relevant left out of all averages: {listed(topics)}"
        valued = [
            each.name for each in measures if each.definition.family == "filters" and not each.definition.undefined
        ]
        counted = f"; {listed(valued)} would have a value there, and `exaequo filter --compare` counts it"
        remarks.append(f"{name}: {left}{counted if valued else ''}")
    remarks += remarks_on_grades(judgments)
    for level in sorted({m.params["rel"] for m in measures if m.params.get("rel") is not None}):
        empty = int((judgments.counted(level) == 0).sum())
        if empty:
            what = f"{count(empty, 'topic')} with nothing relevant at rel={level:g}"
            remarks.append(f"{name}: {what}, scored there like lists that find nothing")
    return remarks


def cautions(measures: Iterable[Measure], topics: int) -> list[str]:
    """Say of which measures the values of several topics should not be averaged, though they are."""
    several = (measure for measure in measures if measure.definition.caution and topics > 1)
    return [f"{measure}: averaged over topics, but {measure.definition.caution}" for measure in several]


def remarks_on_grades(judgments: Judgments) -> list[str]:
    """Say which judgments are not taken as they stand, mended ones first."""
    remarks = [*map(str, judgments.qrels.source.mended)]
    name = judgments.qrels.source.name
    if judgments.too_high:
        remarks.append(
            f"{name}: {count(judgments.too_high, 'judgment')} above {judgments.highest:g} taken as not relevant "
            "(--max-grade, max_grade= changes that)"
        )
    if judgments.merged:
        remarks.append(
            f"{name}: {count(judgments.merged, 'document')} judged again for another subtopic (the iteration field); "
            "measures without subtopics take the highest grade"
        )
    for column, what, measure in (("stratum", "strata", "xinfAP"), ("prob", "chances to be drawn", "statAP")):
        if judgments.qrels.plain is None and column in judgments.qrels.frame.columns:
            remarks.append(
                f"{name}: the judgments are a sample, with {what}; {measure} estimates from it, all other measures "
                "take what was judged for all there is"
            )
    return remarks


def remarks_on_lines(run: Run) -> list[str]:
    """Say what is notable about a run by itself: a header, ties, and ranks that contradict the scores."""
    frame = run.frame
    remarks = []
    if run.source.header:
        lines = count(run.source.header.count("\n"), "line")
        remarks.append(f"{run.source.name}: begins with a header of metadata ({lines}; `exaequo metadata` shows it)")
    tied = frame.select(pl.struct("qid", "sim").is_duplicated().sum()).item()
    if tied:
        share = 100 * tied / frame.height
        remarks.append(f"{run.source.name}: {count(tied, 'document')} tied with another ({share:.1f} % of the run)")
    if "rank" in frame.columns:
        ranked = frame.with_columns(pl.col("rank").cast(pl.Float64, strict=False)).sort("qid", "rank")
        same_list = pl.col("qid") == pl.col("qid").shift()
        above = pl.col("sim") > pl.col("sim").shift()
        lists = ranked.filter(same_list & above)["qid"].n_unique()
        if lists:
            remarks.append(f"{run.source.name}: ranks contradict scores in {count(lists, 'list')}; scores decide")
    return remarks


def refuse_unjudged(run: Run, qrels: Qrels) -> None:
    """Refuse a run of whose topics none is judged."""
    mine, judged = (each.frame["qid"].unique().sort() for each in (run, qrels))
    if mine.is_in(judged.implode()).any():
        return
    none = "its only topic is not judged" if len(mine) == 1 else f"none of its {len(mine):,} topics is judged"
    found = f"{none} ({listed(mine.to_list(), 3)})"
    mend = "Check that the run and the qrels are of the same collection."
    if mine.str.contains(r"\S \S").any() != judged.str.contains(r"\S \S").any():
        mend = "If one names queries by id, the other by text, name a field of both: --columns qid=NAME, columns=."
    raise bad_input(run.source.name, found, f"topics such as {listed(judged.to_list(), 3)}", mend)


def _remarks_on_documents(judged: JudgedRun) -> list[str]:
    """Say that the documents of a run and those judged seem to have different names."""
    if judged.run.plain is not None and judged.judged.any():
        return []
    name, run, qrels = judged.run.source.name, judged.run.frame, judged.judgments.qrels.frame
    remarks = []
    if len(judged.row) and not judged.judged.any():
        ours, theirs = run["docno"][int(judged.row[0])], qrels["docno"][int(judged.judgments.row[0])]
        names = f"they have names such as {quoted(ours)}, judged ones {quoted(theirs)}"
        remarks.append(f"{name}: none of its documents is judged; {names}")
    other = other_forms(run, qrels)
    if other is not None:
        number, docno = other
        what = f"{count(number, 'document')} judged under another Unicode form of the name, such as {quoted(docno)}"
        remarks.append(f"{name}: {what}; taken as not judged")
    return remarks


def remarks_on_run(judged: JudgedRun, options: Options) -> list[str]:
    """Say what about a run changes how its scores should be read; raise if it cannot be evaluated at all."""
    run, stray, missing = judged.run, judged.stray, judged.missing
    remarks = [*map(str, run.source.mended), *run.source.remarks]
    if stray:
        refuse_unjudged(run, judged.judgments.qrels)
    remarks += _remarks_on_documents(judged)
    if run.n_names > 1:
        remarks.append(f"{run.source.name}: {run.n_names} different run ids; taken as one run, called {run.name}")
    single = options.precision == "single"
    if single and max(judged.sim.max(initial=0), -judged.sim.min(initial=0)) > np.finfo(np.float32).max:
        remarks.append(f"{run.source.name}: scores too large for single precision are all tied")
    return remarks + remarks_on_topics(run.source.name, stray, missing, judged.judgments.n_topics, options)


def remarks_on_topics(
    name: str, stray: Sequence[str], missing: Sequence[str], n_topics: int, options: Options
) -> list[str]:
    """Say which topics of a run nobody judged, and which it lacks; raise if it may lack none."""
    remarks = []
    if stray:
        remarks.append(f"{name}: {count(len(stray), 'topic')} nobody judged, ignored: {listed(stray)}")
    if missing:
        what = f"{len(missing):,} of {n_topics:,} evaluated topics missing: {listed(missing)}"
        if options.missing == "error":
            raise MissingTopics(f"{name}: {what}. Add them, or choose --missing zero or skip.")
        done = "scored as empty lists" if options.missing == "zero" else "left out"
        remarks.append(f"{name}: {what}; {done}")
    return remarks
