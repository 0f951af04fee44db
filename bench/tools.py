"""What each tool does with the data of a work. In: the folder of the work. Out: a call that returns values to compare.

A folder has `qrels.txt` and `runs/`. A call does the whole work; what comes before it, such as imports, is not timed.
How far values agree, `works.tolerance` says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Call = Callable[[], dict[str, float]]

#: Six measures as we call them, and as trec_eval and pytrec_eval, ir_measures, and ranx do.
PAIRS = {"AP": "map", "nDCG": "ndcg", "P@10": "P_10", "RR": "recip_rank", "R@1000": "recall_1000", "Bpref": "bpref"}
RANX = {"AP": "map", "nDCG": "ndcg", "P@10": "precision@10", "RR": "mrr", "R@1000": "recall@1000", "Bpref": "bpref"}
TEN = ("AP", "nDCG", "P@10", "RR", "R@1000", "Bpref", "nDCG@10", "P@5", "RBP", "RPrec")
#: How often a short work was done for one measurement.
CALLS = "calls"


def files_of(folder: Path) -> tuple[Path, list[Path]]:
    return folder / "qrels.txt", sorted((folder / "runs").iterdir())


def often(times: int, prepare: Callable[[Path], Call]) -> Callable[[Path], Call]:
    """A short work, so many times in a row: what is timed is long enough to be."""

    def prepared(folder: Path) -> Call:
        call = prepare(folder)

        def calls() -> dict[str, float]:
            for _ in range(times - 1):
                call()
            return {**call(), CALLS: times}

        return calls

    return prepared


def averaged(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean over runs of the means over topics."""
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


# --------------------------------------------------------------------------------------------------------- exaequo


def ours(
    measures: tuple[str, ...] = tuple(PAIRS), ties: Any = "conventional", *, alone: bool = False
) -> Callable[[Path], Call]:
    """From files; `alone` without the help of other processes."""

    def prepare(folder: Path) -> Call:
        import exaequo

        if alone:
            os.environ["EXAEQUO_PROCESSES"] = "1"
        qrels, runs = files_of(folder)

        def call() -> dict[str, float]:
            scores = exaequo.evaluate(qrels, runs, measures, ties, precision="single")
            return averaged(
                [{m: scores.mean(m, run=run, ties=scores.ties[0]) for m in measures} for run in scores.runs]
            )

        return call

    return prepare


def ours_with_statistics(folder: Path) -> Call:
    """Three strategies, and how many documents are tied, list by list."""
    from exaequo.choices import INTERVAL
    from exaequo.evaluation import evaluate_runs, judged_runs
    from exaequo.measures import parse_measures
    from exaequo.options import Options
    from exaequo.read import read_qrels, read_runs
    from exaequo.tiestats import tie_statistics

    qrels, runs = files_of(folder)
    options = Options.of(INTERVAL, precision="single")

    def call() -> dict[str, float]:
        judged = judged_runs(read_qrels(qrels), read_runs(runs), options)
        scores = evaluate_runs(judged, parse_measures([*PAIRS]), options, facts=tie_statistics)
        return averaged([{m: scores.mean(m, run=run, ties="conventional") for m in PAIRS} for run in scores.runs])

    return call


def ours_in_memory(folder: Path) -> Call:
    return _ours_of(*objects(folder))


def ours_frames(folder: Path) -> Call:
    return _ours_of(*frames(folder))


def ours_kept(folder: Path) -> Call:
    """Runs and judgments that were read once."""
    import exaequo

    qrels, run = objects(folder)
    return _ours_of(exaequo.read_qrels(qrels), exaequo.read_run(run))


def ours_of_ranx(folder: Path) -> Call:
    """Objects of ranx itself."""
    import ranx

    qrels, run = objects(folder)
    return _ours_of(ranx.Qrels(qrels), ranx.Run(run))


def _ours_of(qrels: Any, run: Any) -> Call:
    import exaequo

    def call() -> dict[str, float]:
        scores = exaequo.evaluate(qrels, run, list(PAIRS), "conventional", precision="single")
        return {measure: scores.mean(measure) for measure in PAIRS}

    return call


def drop_in_dicts(measures: tuple[str, ...] = ()) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        from exaequo.compat import pytrec_eval

        return _dicts(pytrec_eval, folder, measures)

    return prepare


def as_ir_measures(folder: Path) -> Call:
    from exaequo.compat import ir_measures

    return _aggregated(ir_measures, *objects(folder))


def as_ranx_kept(folder: Path) -> Call:
    from exaequo.compat import ranx

    return _ranked_again(ranx, folder)


def drop_in(measures: tuple[str, ...]) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        from exaequo.compat import pytrec_eval

        return script(pytrec_eval, folder, measures)

    return prepare


# ----------------------------------------------------------------------------------------------------------- peers


def script(module: Any, folder: Path, measures: tuple[str, ...]) -> Call:
    """The script of every user of pytrec_eval: judgments once, then run by run."""
    qrels, runs = files_of(folder)

    def call() -> dict[str, float]:
        with qrels.open() as lines:
            evaluator = module.RelevanceEvaluator(module.parse_qrel(lines), set(measures))
        means = []
        for run in runs:
            with run.open() as lines:
                found = list(evaluator.evaluate(module.parse_run(lines)).values())
            means.append(by_our_names({name: sum(each[name] for each in found) / len(found) for name in found[0]}))
        return averaged(means)

    return call


def by_our_names(found: Mapping[str, float]) -> dict[str, float]:
    """Call the six as we do, and others as they are."""
    ours = {their: our for our, their in PAIRS.items()}
    return {ours.get(name, name): value for name, value in found.items()}


def pytrec_eval_files(measures: tuple[str, ...]) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        import pytrec_eval

        return script(pytrec_eval, folder, measures)

    return prepare


def pytrec_eval_dicts(measures: tuple[str, ...] = ()) -> Callable[[Path], Call]:
    def prepare(folder: Path) -> Call:
        import pytrec_eval

        return _dicts(pytrec_eval, folder, measures)

    return prepare


def _dicts(module: Any, folder: Path, measures: tuple[str, ...]) -> Call:
    """Construct and evaluate; without measures, the six."""
    qrels, run = objects(folder)
    asked = {*(measures or PAIRS.values())}

    def call() -> dict[str, float]:
        found = list(module.RelevanceEvaluator(qrels, asked).evaluate(run).values())
        return by_our_names({name: sum(each[name] for each in found) / len(found) for name in found[0]})

    return call


def ir_measures_files(folder: Path) -> Call:
    import ir_measures

    package: Any = ir_measures
    measures = [package.parse_measure(name) for name in PAIRS]
    qrels, runs = files_of(folder)

    def call() -> dict[str, float]:
        evaluator = package.evaluator(measures, package.read_trec_qrels(str(qrels)))
        found = [evaluator.calc_aggregate(package.read_trec_run(str(run))) for run in runs]
        return averaged([dict(zip(PAIRS, (each[m] for m in measures), strict=True)) for each in found])

    return call


def ir_measures_in_memory(folder: Path) -> Call:
    import ir_measures

    return _aggregated(ir_measures, *objects(folder))


def ir_measures_frames(folder: Path) -> Call:
    import ir_measures

    return _aggregated(ir_measures, *frames(folder))


def _aggregated(package: Any, qrels: Any, run: Any) -> Call:
    measures = [package.parse_measure(name) for name in PAIRS]

    def call() -> dict[str, float]:
        found = package.calc_aggregate(measures, qrels, run)
        return dict(zip(PAIRS, (found[m] for m in measures), strict=True))

    return call


def ranx_files(folder: Path) -> Call:
    import ranx

    qrels, runs = files_of(folder)

    def call() -> dict[str, float]:
        judged = ranx.Qrels.from_file(str(qrels), kind="trec")
        return averaged([_ranked(ranx, judged, ranx.Run.from_file(str(run), kind="trec")) for run in runs])

    return call


def ranx_in_memory(folder: Path) -> Call:
    import ranx

    qrels, run = objects(folder)
    return lambda: _ranked(ranx, ranx.Qrels(qrels), ranx.Run(run))


def ranx_kept(folder: Path) -> Call:
    import ranx

    return _ranked_again(ranx, folder)


def _ranked_again(ranx: Any, folder: Path) -> Call:
    dicts = objects(folder)
    qrels, run = ranx.Qrels(dicts[0]), ranx.Run(dicts[1])
    return lambda: _ranked(ranx, qrels, run)


def _ranked(ranx: Any, qrels: Any, run: Any) -> dict[str, float]:
    found = ranx.evaluate(qrels, run, [*RANX.values()])
    return {our: float(found[their]) for our, their in RANX.items()}


def columns(folder: Path) -> Call:
    """What every evaluation needs of the files, read by Polars: names of topics and documents, numbers."""
    import polars as pl

    qrels, runs = files_of(folder)
    needed = [(qrels, [0, 2, 3]), *((run, [0, 2, 4]) for run in runs)]
    names = {"column_1": pl.String, "column_3": pl.String}

    def call() -> dict[str, float]:
        for path, own in needed:
            pl.read_csv(path, has_header=False, separator=" ", quote_char=None, columns=own, schema_overrides=names)
        return {}

    return call


def objects(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and the first run as dicts of dicts."""
    qrels, runs = files_of(folder)
    judged: dict[str, dict[str, int]] = {}
    returned: dict[str, dict[str, float]] = {}
    for line in qrels.read_text().splitlines():
        topic, _, docno, rel = line.split()
        judged.setdefault(topic, {})[docno] = int(rel)
    for line in runs[0].read_text().splitlines():
        topic, _, docno, _, sim, _ = line.split()
        returned.setdefault(topic, {})[docno] = float(sim)
    return judged, returned


def frames(folder: Path) -> tuple[Any, Any]:
    """Return the same as frames of pandas."""
    import pandas as pd

    judged, returned = ([(t, d, n) for t, own in each.items() for d, n in own.items()] for each in objects(folder))
    ids = ["query_id", "doc_id"]
    return pd.DataFrame(judged, columns=[*ids, "relevance"]), pd.DataFrame(returned, columns=[*ids, "score"])
