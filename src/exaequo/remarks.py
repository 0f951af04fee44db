"""Remarks: what about judgments and runs changes how scores should be read. In: what was read, judged. Out: sentences.

What cannot be evaluated at all is refused here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from exaequo.errors import MissingTopics, bad_input
from exaequo.frames import pl
from exaequo.judge import JudgedRun, Judgments
from exaequo.measures import Measure
from exaequo.options import Options
from exaequo.read import Qrels, Run
from exaequo.read.oddities import other_forms
from exaequo.read.trec import quoted
from exaequo.scores import ALL
from exaequo.text import count, listed


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


def refuse_unjudged(name: str, topics: Iterable[str], qrels: Qrels) -> None:
    """Refuse a run of these topics if none of them is judged."""
    mine, judged = sorted({*topics}), qrels.topics
    if not {*judged}.isdisjoint(mine):
        return
    none = "its only topic is not judged" if len(mine) == 1 else f"none of its {len(mine):,} topics is judged"
    found = f"{none} ({listed(mine, 3)})"
    mend = "Check that the run and the qrels are of the same collection."
    are_texts = [any(re.search(r"\S \S", topic) for topic in each) for each in (mine, judged)]
    if are_texts[0] != are_texts[1]:
        mend = "If one names queries by id, the other by text, name a field of both: --columns qid=NAME, columns=."
    raise bad_input(name, found, f"topics such as {listed(judged, 3)}", mend)


def remark_on_names(name: str, ours: str, theirs: str) -> str:
    """Say that no document of a run is judged, and how one of it, and a judged one, are called."""
    names = f"they have names such as {quoted(ours)}, judged ones {quoted(theirs)}"
    return f"{name}: none of its documents is judged; {names}"


def _remarks_on_documents(judged: JudgedRun) -> list[str]:
    """Say that the documents of a run and those judged seem to have different names."""
    if judged.run.plain is not None and judged.judged.any():
        return []
    name, run, qrels = judged.run.source.name, judged.run.frame, judged.judgments.qrels.frame
    remarks = []
    if len(judged.row) and not judged.judged.any():
        ours, theirs = run["docno"][int(judged.row[0])], qrels["docno"][int(judged.judgments.row[0])]
        remarks.append(remark_on_names(name, ours, theirs))
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
        refuse_unjudged(run.source.name, run.topics, judged.judgments.qrels)
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
