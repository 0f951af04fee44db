"""Readers who stop when the need is met."""

from __future__ import annotations

from exaequo.explanation.steps.parts import Row, Step, explains, listed, over, summed
from exaequo.explanation.view import View

#: Ranks INST looks at, by its definition.
DEEPEST = 1000


@explains("INST")
def _inst(view: View, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - the name of the parameter
    lines = {line.rank: line for line in view.lines(DEEPEST)}
    weight, found, everything = 1.0, 0.0, 0.0
    rows: list[Row] = []
    for rank in range(1, DEEPEST + 1):
        line = lines.get(rank)
        gain = line.grade / max_rel if line and line.judged and line.grade > 0 else 0.0
        everything += weight
        found += gain
        if line:
            numbers = {"gain": gain, "so far": found, "weight": weight, "product": gain * weight}
            rows.append({"rank": rank, "document": line.document, **numbers})
        weight *= ((rank + 2 * T - found - 1) / (rank + 2 * T - found)) ** 2
    last = max((at for at, row in enumerate(rows, 1) if row["gain"]), default=0)
    rows = rows[:last]  # after the last gain nothing is added
    together = summed([row["product"] for row in rows if row["gain"]])
    return [
        listed("reader weights", rows, {"T": T, "max_rel": max_rel}, "no gains"),
        together,
        over("over weights", together.numbers["total"], everything, deepest=DEEPEST),
    ]


@explains("BPM")
def _bpm(view: View, cutoff: int, T: float = 1.0, max_rel: float = 4.0) -> list[Step]:  # noqa: N803 - as above
    found, stop, rows = 0.0, cutoff, []
    for line in view.lines(cutoff):
        if line.judged and line.grade > 0:
            found += line.grade / max_rel
            gain = {"gain": line.grade / max_rel, "so far": found}
            rows.append({"rank": line.rank, "document": line.document, **gain})
            if found >= T * (1 - 1e-12):
                stop = line.rank
                break
    met = bool(rows) and found >= T * (1 - 1e-12)
    numbers = {"T": T, "cutoff": cutoff, "stop": stop, "found": found, "max_rel": max_rel}
    return [
        listed("reader gains", rows, numbers, "no gains"),
        Step("reader satisfied" if met else "reader gives up", numbers),
        over("per document", found, stop),
    ]
