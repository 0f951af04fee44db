"""Built-in sample data: a small campaign, the same on every machine, made from a seed.

25 topics, judged 0 to 3, and six systems. Two of them tie by design: `llm-judge` grades documents 0 to 4, `boolean`
fills its lists with documents of score 0. `dense-fp16` ties because its scores are kept in 16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple, SupportsIndex, overload

import numpy as np
import polars as pl

from exaequo.errors import BadParameter, ExaequoError
from exaequo.read import Qrels, Run, Source
from exaequo.read.collection.saving import trec_qrels
from exaequo.read.records import with_keys
from exaequo.text import did_you_mean
from exaequo.writing import make_folder, write_whole

N_TOPICS, CANDIDATES, DEPTH = 25, 160, 100
_NEWSPAPERS = ("AP", "FT", "LA", "WSJ", "ZF")
#: The candidates of a topic by docno: their grades, and whether somebody judged them.
_Pool = dict[str, tuple[int, bool]]


class Runs(list[Run]):
    """Runs, by number as in any list, or by name: `runs["bm25"]`."""

    @overload
    def __getitem__(self, at: SupportsIndex | str) -> Run: ...
    @overload
    def __getitem__(self, at: slice) -> list[Run]: ...
    def __getitem__(self, at: SupportsIndex | str | slice) -> Run | list[Run]:
        """Return a run, or some of them."""
        if not isinstance(at, str):
            return super().__getitem__(at)
        for run in self:
            if run.name == at:
                return run
        names = [run.name for run in self]
        raise BadParameter(f"There is no run {at!r}{did_you_mean(at, names) or '.'}")


class Sample(NamedTuple):
    """Judgments and runs: `qrels, runs = exaequo.sample()`."""

    qrels: Qrels
    runs: Runs

    def save(self, folder: str | Path) -> list[Path]:
        """Write `qrels.txt` and `runs/NAME.txt` in TREC format; existing files are not overwritten."""
        folder = Path(folder)
        texts = {folder / "qrels.txt": trec_qrels(self.qrels)}
        texts |= {folder / "runs" / f"{run.name}.txt": _run_text(run) for run in self.runs}
        for path in texts:
            if path.exists():
                raise ExaequoError(f"{path}: there is such a file already. Choose a new folder.")
        make_folder(folder / "runs")
        for path, text in texts.items():
            write_whole(path, text.encode())
        return list(texts)


#: Name, how well grades show through the noise, and how the system writes its scores.
_SYSTEMS: tuple[tuple[str, float, Callable[[float], float]], ...] = (
    ("bm25", 0.28, lambda score: round(score * 4.1, 6)),
    ("boolean", 0.22, lambda score: float(round(score * 2)) if score > 2 else 0.0),
    ("dense-fp16", 0.38, lambda score: float(np.float16(score + 60))),
    ("hybrid", 0.5, lambda score: round(score / 6, 6)),
    ("llm-judge", 0.48, lambda score: float(max(0, min(4, round(score))))),
    ("logprob", 0.33, lambda score: round(score - 8, 1)),
)


def sample(seed: int = 2010) -> Sample:
    """Return the built-in judgments and runs. Another seed gives another campaign of the same shape."""
    # Only Random.random() is used: its sequence is the same in all versions of Python.
    random = Random(seed).random
    pools = {str(401 + number): _pool(random) for number in range(N_TOPICS)}
    judgments = [
        (qid, docno, float(grade)) for qid, pool in pools.items() for docno, (grade, judged) in pool.items() if judged
    ]
    frame = pl.DataFrame(judgments, schema=["qid", "docno", ("rel", pl.Float64)], orient="row")
    runs = Runs(_run(name, quality, written, pools, random) for name, quality, written in _SYSTEMS)
    return Sample(Qrels(with_keys(frame), Source("sample/qrels.txt")), runs)


def _pool(random: Callable[[], float]) -> _Pool:
    """Candidates of one topic: a tenth to a third relevant, most of the rest judged 0, some not judged."""
    share = 0.08 + 0.22 * random()
    documents: _Pool = {}
    while len(documents) < CANDIDATES:
        docno = f"{_NEWSPAPERS[int(random() * 5)]}{int(random() * 9000) + 1000}"
        grade = 1 + int(3 * random() ** 2) if random() < share else 0
        documents.setdefault(docno, (grade, grade > 0 or random() < 0.7))
    return documents


def _run(
    name: str, quality: float, written: Callable[[float], float], pools: dict[str, _Pool], random: Callable[[], float]
) -> Run:
    rows: list[tuple[str, str, float, str]] = []
    for qid, pool in pools.items():
        scored = [
            (docno, written(quality * grade + (random() + random() + random()))) for docno, (grade, _) in pool.items()
        ]
        scored.sort(key=lambda pair: -pair[1])
        rows += [(qid, docno, sim, str(rank)) for rank, (docno, sim) in enumerate(scored[:DEPTH], 1)]
    frame = pl.DataFrame(rows, schema=["qid", "docno", ("sim", pl.Float64), "rank"], orient="row")
    return Run(name, with_keys(frame), Source(f"sample/runs/{name}.txt"))


def _run_text(run: Run) -> str:
    rows = run.frame.select("qid", "docno", "rank", "sim").rows()
    return "".join(f"{qid} Q0 {docno} {rank} {sim!r} {run.name}\n" for qid, docno, rank, sim in rows)
