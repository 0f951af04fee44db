"""The same lists judged otherwise: documents that nobody judged, as if somebody had. In: an `Ordering`. Out: others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from exaequo.arrays import Bools, Floats, Ints
from exaequo.order import Ordering

_NONE: Ints = np.zeros(0, dtype=np.int64)


def unknown_lines(ordering: Ordering) -> Bools:
    """Tell which lines have no judgment, or one below 0."""
    lines = ordering.judged_run
    unknown: Bools = ~lines.judged | (lines.grade < 0)
    return unknown


def unknown_documents(ordering: Ordering) -> pl.DataFrame:
    """Return the documents nobody judged: `topic` (its place), `docno`, and the `line` each stands on."""
    lines, at = ordering.judged_run, np.flatnonzero(unknown_lines(ordering))
    docno = ordering.run.frame["docno"].gather(lines.row[at])
    return pl.DataFrame({"topic": lines.topic[at], "docno": docno, "line": at})


def judged_so(
    ordering: Ordering, at: Ints, grades: Floats | float, elsewhere: Ints = _NONE, grade: float = 0.0
) -> Ordering:
    """Return the same lists where these lines have these grades.

    `elsewhere` are the topics of documents that are in other lists only, and have this `grade`.
    """
    lines, judgments = ordering.judged_run, ordering.judgments
    grades = np.broadcast_to(np.asarray(grades, dtype=np.float64), at.shape)
    new = lines.place[at] < 0
    added = np.concatenate((grades[new], np.full(len(elsewhere), grade)))
    known, own = judgments.grade.copy(), lines.grade.copy()
    place, judged = lines.place.copy(), lines.judged.copy()
    known[place[at[~new]]] = grades[~new]
    place[at[new]] = len(known) + np.arange(int(new.sum()))
    own[at], judged[at] = grades, True
    more = replace(
        judgments,
        topic=np.concatenate((judgments.topic, lines.topic[at[new]], elsewhere)),
        grade=np.concatenate((known, added)),
        row=np.concatenate((judgments.row, np.full(len(added), -1))),
    )
    return ordering.rejudged(replace(lines, grade=own, judged=judged, place=place, judgments=more))
