"""How a value comes about: what explainers are made of. In: a `View`. Out: `Step`s, said in the language files.

An explainer stands below its measure. It computes every number from the list and calls no measure, so that an
explanation checks the value it explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from exaequo.measures.registry import Function, Measure, attach
from exaequo.measures.view import View

Row = dict[str, Any]


class Word(str):
    """A word that stands in the language files."""

    __slots__ = ()


class Plain(str):
    """Text of ours that is the same in all languages."""

    __slots__ = ()


class Figure(str):
    """A value as `eval` prints it."""

    __slots__ = ()


class Terms(Plain):
    """A sum written out, which languages write with marks of their own, and shorten if it is long."""

    __slots__ = ()


class Fine(float):
    """A number written with more digits, because little is left of it in the next step."""

    __slots__ = ()


class Given(float):
    """A number that was asked for, written with all its digits."""

    __slots__ = ()


@dataclass(frozen=True)
class Step:
    """One line of an explanation: the key of its sentence, or the sentence itself, its numbers, and perhaps a table.

    The heads of the table are keys too. The last step of an explanation has a `result`, unless there is no value.
    """

    key: str
    numbers: dict[str, Any] = field(default_factory=dict)
    table: list[Row] = field(default_factory=list)

    @property
    def result(self) -> float | None:
        """The number this step comes to, if it comes to one."""
        return self.numbers.get("result")


#: Sentences that have another form, about the first documents.
CUT = (
    *(
        "precision at each",
        "none found",
        "none relevant",
        "gains",
        "plain gains",
        "no gains",
        "subtopics",
        "no subtopics",
    ),
)
Explainer = Callable[..., list[Step]]


def explains(*measures: Measure | Function) -> Callable[[Explainer], Explainer]:
    """Attach an explainer to measures; it takes the view and the parameters of the measure."""

    def decorate(function: Explainer) -> Explainer:
        for measure in measures:
            attach(measure, explain=function)
        return function

    return decorate


def hits(view: View, cutoff: int | None, rel: float | None) -> list[Row]:
    """Return the relevant documents up to a rank, with precision and recall at each."""
    n = view.n_rel(rel)
    found = (line for line in view.lines(cutoff, rel) if line.relevant)
    return [line.row(found=nth, precision=nth / line.rank, recall=nth / n) for nth, line in enumerate(found, 1)]


def listed(key: str, rows: list[Row], numbers: Mapping[str, Any], otherwise: str = "none found") -> Step:
    """Return a step with a table, or another one where there is nothing to put in it.

    Where only the first documents count, under `cutoff`, the sentences say so.
    """
    chosen = key if rows else otherwise
    return Step(cut(chosen, numbers.get("cutoff")), dict(numbers), rows)


def cut(key: str, cutoff: int | None) -> str:
    """Return the key of a sentence that speaks of the first documents, where only these count."""
    return f"{key} at" if cutoff is not None and key in CUT else key


def precision_at_each(view: View, rows: list[Row], rel: float | None, cutoff: int | None = None) -> Step:
    """Return the table of the relevant documents that were found, among the first if there is a cutoff."""
    return listed("precision at each", rows, {"found": len(rows), "n": view.n_rel(rel), "cutoff": cutoff})


def fractions(rows: Iterable[Row]) -> list[str]:
    """Return the precision at each relevant document as it is computed."""
    return [f"{row['found']}/{row['rank']}" for row in rows]


def written(terms: Sequence[str] | Sequence[float]) -> Terms:
    """Write a sum out."""
    return Terms(" + ".join(term if isinstance(term, str) else _number(term) for term in terms))


def _number(term: float) -> str:
    return f"{term:.0f}" if float(term).is_integer() else f"{term:.6g}".replace("-", "−")


def summed(values: Sequence[float], terms: Sequence[str] | None = None, *, last: bool = False) -> Step:
    """Return a sum with its terms; as the last step it is the result."""
    total = float(sum(values))
    numbers = {"terms": written(terms or values), "total": total, **({"result": total} if last else {})}
    if not values:
        return Step("sum of nothing", numbers)
    return Step("sum of one" if len(values) == 1 and terms is None else "sum", numbers)


def column(rows: Iterable[Row], name: str) -> list[float]:
    """Return the numbers of a column."""
    return [row[name] for row in rows]


def over(key: str, above: float, below: float, **more: Any) -> Step:
    """Return a division; where there is nothing to divide by, measures are 0."""
    result = above / below if below else 0.0
    return Step(key if below else "over nothing", {"above": above, "below": below, **more, "result": result})


def summed_over(key: str, values: Sequence[float], below: float, terms: Sequence[str] | None = None) -> list[Step]:
    """Return a sum with its terms, and its division."""
    together = summed(values, terms)
    return [together, over(key, together.numbers["total"], below)]


def over_ideal(key: str, own: Step, ideal: Step, name: str) -> list[Step]:
    """Return two steps, each with the sum of a column of its table, and the one sum over the other."""
    sums = [summed(column(step.table, name)) for step in (own, ideal)]
    return [own, sums[0], ideal, sums[1], over(key, *(each.numbers["total"] for each in sums))]


def f_step(precision: Step, recall: Step, beta: float, key: str = "f") -> Step:
    """Return F(β) of the results of two steps."""
    p, r = precision.numbers["result"], recall.numbers["result"]
    above, below = (1 + beta**2) * p * r, beta**2 * p + r
    result = above / below if below else 0.0
    return Step(key if below else "f of nothing", {"p": p, "r": r, "beta": beta, "result": result})


def least(recall: float, n: int) -> int:
    """Return how many of n relevant documents make a recall, taken as the decimal fraction that is written."""
    from fractions import Fraction

    return ceil(Fraction(str(recall)) * n)


def crosstab(a: int, b: int, c: int, d: int | None, sides: tuple[str, str] = ("returned", "not returned")) -> list[Row]:
    """Return the table of two by two with its totals; what is not known stays empty."""

    def row(name: str, relevant: int, other: int | None) -> Row:
        total = None if other is None else relevant + other
        return {"part": Word(name), "relevant": relevant, "not relevant": other, "total": total}

    return [row(sides[0], a, b), row(sides[1], c, d), row("total", a + c, None if d is None else b + d)]


def contingency(view: View, cutoff: int | None, rel: float | None) -> Step:
    """Return relevant against returned documents, those beyond the cut counting as not returned."""
    lines = view.lines(cutoff, rel)
    found = sum(line.relevant for line in lines)
    other, missed = len(lines) - found, view.n_rel(rel) - found
    rest = None if view.docs is None else view.docs - found - other - missed
    return Step(
        "contingency" if cutoff is None else "contingency at",
        {"cutoff": cutoff, "returned": len(lines), "found": found, "n": view.n_rel(rel)},
        crosstab(found, other, missed, rest),
    )
