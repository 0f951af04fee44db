"""Pooling: which documents to judge, who found them, what leaving a team out changes. In: runs. Out: a `Pool`.

The pool of a topic is the union of the first documents of every run. A tie that straddles the depth comes in whole,
unless an order that needs no judgments is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from exaequo.choices import HIGHEST_GRADE, MEASURES, POOL_DEPTH, POOL_FORMATS, TIES_AT_DEPTH, WHOLE_TIES
from exaequo.errors import BadParameter, bad_input
from exaequo.evaluation import warn
from exaequo.language import say
from exaequo.measures import Measure, parse_measures
from exaequo.options import Options, Reading, check_choice, keywords, one_strategy
from exaequo.pooling.counting import curve_of, depths_of, first, frame_of, pooled, runs_of, teams_of, topics_of
from exaequo.pooling.leaving import left_out, overview
from exaequo.pooling.lists import Lists, ordered
from exaequo.pooling.teams import team_of_each
from exaequo.read import Qrels, QrelsLike, Run, RunsLike, read_qrels, read_runs
from exaequo.remarks import cautions, remarks_on_grades
from exaequo.tabular import Tabled, plain
from exaequo.writing import write_whole

#: Endings of files that say what a pool is written as; any other is a table with tabs.
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".qrels": "qrels"}
#: What no name may hold where fields are not quoted.
_FORBIDDEN = {"tsv": ("tab or line end", r"[\t\r\n]"), "qrels": ("blank", r"\s")}


@dataclass(frozen=True, kw_only=True)
class Pooling:
    """How to pool: the depth, what comes in where a tie straddles it, the runs of teams, whether to leave these out."""

    depth: int = POOL_DEPTH
    ties_at_depth: str = WHOLE_TIES
    teams: Mapping[str, Sequence[str]] = field(default_factory=dict)
    leave_out: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.depth, bool) or not isinstance(self.depth, int) or self.depth < 1:
            raise BadParameter(f"The depth of a pool must be a whole number ≥ 1. Got {self.depth!r} instead.")
        check_choice("ties_at_depth", self.ties_at_depth, TIES_AT_DEPTH)


@dataclass(frozen=True, eq=False, repr=False)
class Pool(Tabled):
    """The documents to judge, and what is known of them; each table is a Polars frame.

    - `frame`: a row per document, by topic (`qid`) and name: how many `runs` found it, its `best_rank`; its `judgment`,
      if judgments were given.
    - `curve`: the size of pools of other depths, overall and by topic, and the relevant documents they find.
    - `runs`, `teams`: what each contributed, and what no other did; `by_tie` counts what a tie at the depth brought.
    - `topics`: the documents of each topic: all, found by every run, by one alone.
    - `left_out`: what scores and ranks are without what only the team of a run contributed; `overview` sums it up.
    """

    shown = (
        "curve: depth documents added relevant relevant_percent",
        "runs: run documents unique by_tie relevant unique_relevant",
        "overview: measure mean_percent largest_percent largest_of ranks_most tau_b",
    )
    frame: pl.DataFrame
    curve: pl.DataFrame
    runs: pl.DataFrame
    teams: pl.DataFrame
    topics: pl.DataFrame
    overview: pl.DataFrame
    left_out: pl.DataFrame
    more_by_ties: int = 0
    warnings: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> list[str]:
        """What there is to say first: how many documents, who found them, what ties and judgments add."""
        sizes, runs = self.topics["documents"], self.runs.height
        least, most, median = sizes.min(), sizes.max(), sizes.median()
        same = say("{n:,} a topic", n=most)
        spread = say("{least:,} to {most:,} a topic, median {median:,g}", least=least, most=most, median=median)
        said = [
            say(
                "{n:,} {n:document|documents} to judge: the first {depth:,} of {runs:,} {runs:run|runs}, "
                "{topics:,} {topics:topic|topics}; {sizes}",
                n=self.frame.height,
                depth=self.options["depth"],
                runs=runs,
                topics=len(sizes),
                sizes=same if least == most else spread,
            )
        ]
        if runs > 1:
            shared = {name: int(self.topics[name].sum()) for name in ("by_all", "by_one")}
            said.append(say("{by_all:,} found by every run, {by_one:,} by one alone", **shared))
        if self.options["ties_at_depth"] == WHOLE_TIES:
            more = say(
                "Ties that straddle the depth come in whole: {n:,} {n:document|documents} more", n=self.more_by_ties
            )
            said.append(more)
        if "judged" in self.topics.columns:
            known = {name: int(self.topics[name].sum()) for name in ("judged", "relevant")}
            said.append(say("{judged:,} {judged:is|are} judged already, {relevant:,} of them relevant", **known))
        return said

    def text(self, kind: str = POOL_FORMATS[0]) -> str:
        """Return the pool as a file: a table with tabs or commas, JSON lines, or qrels where -1 means not judged."""
        check_choice("kind", kind, POOL_FORMATS)
        if kind == "jsonl":
            return self.frame.write_ndjson()
        if kind == "csv":
            return self.frame.write_csv()
        what, pattern = _FORBIDDEN[kind]
        for name in ("qid", "docno"):
            wrong = self.frame.filter(pl.col(name).str.contains(pattern))[name]
            if len(wrong):
                mend = "Write another format: csv or jsonl."
                raise bad_input("pool", f"the {name} {wrong[0]!r} has a {what}", f"none in {kind}", mend)
        if kind == "tsv":
            return self.frame.write_csv(separator="\t", quote_style="never")
        known = pl.col("judgment").fill_null(-1.0) if "judgment" in self.frame.columns else pl.lit(-1.0)
        # Whole grades are written as such: other evaluators read nothing else.
        whole = (known % 1 == 0) & (known < 1e15)
        grade = pl.when(whole).then(known.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(known)
        lines = self.frame.select("qid", pl.lit("0"), "docno", grade.alias("grade"))
        return lines.write_csv(separator=" ", include_header=False, quote_style="never")

    def save(self, path: str | Path, kind: str | None = None) -> None:
        """Write the pool to a file, in the format its name ends in (.csv, .jsonl, .qrels), or else as tsv."""
        kind = kind or _ENDINGS.get(Path(path).suffix.lower(), POOL_FORMATS[0])
        write_whole(path, self.text(kind).encode())


def pool(
    runs: RunsLike,
    depth: int = POOL_DEPTH,
    *,
    ties_at_depth: str = WHOLE_TIES,
    teams: Mapping[str, Sequence[str]] | None = None,
    qrels: QrelsLike | None = None,
    leave_out: bool = False,
    measures: Iterable[str | Measure] | str | Measure = MEASURES,
    ties: str = "realistic",
    rel_level: float | None = None,
    max_grade: float = HIGHEST_GRADE,
    precision: str = "double",
    seed: int = 0,
    **files: Unpack[Reading],
) -> Pool:
    """Pool the first documents of runs, topic by topic, duplicates removed.

    Args:
        runs: as for `evaluate`.
        depth: how many documents of each list come in.
        ties_at_depth: where a tie straddles the depth, `"all"` of it comes in, or what an order that needs no
            judgments puts first: conventional, rank, input, random.
        teams: the names of the runs of each team; a run that none has is a team by itself.
        qrels: judgments, to tell what is judged and relevant.
        leave_out: with judgments, score each run without what only its team contributed.
        measures: those that runs are scored by; as for `evaluate`.
        ties: the strategy that orders tied documents when runs are scored.
        rel_level, max_grade, precision, seed: as for `evaluate`.
        files: `columns` and `mend`, as for `evaluate`.
    """
    plan = Pooling(depth=depth, ties_at_depth=ties_at_depth, teams=teams or {}, leave_out=leave_out)
    options = Options(
        ties=(one_strategy(ties),), rel_level=rel_level, max_grade=max_grade, precision=precision, seed=seed
    )
    reading, _ = keywords("pool", files, Reading.__annotations__)
    judged = None if qrels is None else read_qrels(qrels, **reading)
    result = pool_runs(read_runs(runs, **reading), judged, parse_measures(measures), options, plan)
    warn(result.warnings)
    return result


def pool_runs(
    runs: Iterable[Run], qrels: Qrels | None, measures: Sequence[Measure], options: Options, plan: Pooling
) -> Pool:
    """Pool runs; warnings are collected, not given."""
    if plan.leave_out and qrels is None:
        raise BadParameter("Leaving runs out takes judgments: qrels=, --qrels.")
    lists = ordered(list(runs), qrels, options, plan.ties_at_depth)
    teams = team_of_each(lists.names, plan.teams)
    names = list(dict.fromkeys(teams))
    team = [names.index(each) for each in teams]
    top = first(lists, plan.depth, team)
    found = pooled(top)
    if qrels is not None and not (found["place"] >= 0).any():
        mend = "Check that the runs and the qrels are of the same collection."
        raise bad_input(qrels.source.name, "no document of the pool is judged", "some", mend)
    if plan.leave_out and not lists.judgments.counted().any():
        mend = "Check the judgments, --rel-level and --max-grade."
        raise bad_input(lists.judgments.qrels.source.name, "no relevant document", "at least one", mend)
    left, summed = pl.DataFrame(), pl.DataFrame()
    if plan.leave_out:
        left = left_out(found, lists, team, measures, options)
        summed = overview(left, measures)
        left = left.join(pl.DataFrame({"run": lists.names, "team": teams}), on="run", how="left", maintain_order="left")
    return Pool(
        frame=frame_of(found, lists),
        curve=curve_of(lists, depths_of(lists, plan.depth)),
        runs=runs_of(top, found, lists, teams),
        teams=teams_of(top, found, lists, teams) if plan.teams else pl.DataFrame(),
        topics=topics_of(found, lists),
        overview=summed,
        left_out=left,
        more_by_ties=int(found["by_tie"].sum()),
        warnings=tuple(_remarks(lists, teams, measures if plan.leave_out else ())),
        options={
            **asdict(plan),
            "measures": [measure.name for measure in measures] if plan.leave_out else [],
            **{name: plain(getattr(options, name)) for name in ("rel_level", "max_grade", "precision", "seed")},
            "ties": options.ties[0],
        },
    )


def _remarks(lists: Lists, teams: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    runs = [each.run for each in lists.orderings]
    remarks = [str(mend) for run in runs for mend in run.source.mended]
    several = "{name}: {n} different run ids; taken as one run, called {run}"
    remarks += [several.format(name=r.source.name, n=r.n_names, run=r.name) for r in runs if r.n_names > 1]
    remarks += [*_missing(lists), *_repeated(lists, teams)]
    if lists.judged:
        remarks += remarks_on_grades(lists.judgments)
    return remarks + cautions(measures, lists.judgments.n_topics)


def _missing(lists: Lists) -> Iterator[str]:
    """Say which runs lack topics that others have."""
    every = lists.frame["topic"].n_unique()
    for (run,), topics in lists.frame.group_by("run", maintain_order=True):
        if lacking := every - topics["topic"].n_unique():
            yield f"{lists.names[run]}: {lacking:,} of {every:,} topics missing, to which it contributes nothing"


def _repeated(lists: Lists, teams: Sequence[str]) -> Iterator[str]:
    """Say which runs of two teams are the same: neither then has a document of its own."""
    seen: dict[int, int] = {}
    prints = lists.frame.group_by("run", maintain_order=True).agg(pl.struct("topic", "docno", "rank").hash().sum())
    for run, digest in prints.rows():
        if teams[former := seen.setdefault(digest, run)] != teams[run]:
            yield f"{lists.names[former]} and {lists.names[run]} have the same lists; drop one, or make them one team"
