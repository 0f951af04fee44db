"""The notation of ir_measures: `P(rel=2)@10`, `nDCG(dcg='exp-log2')@10`, `gm(AP)`. In: text. Out: a `Measure`."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from exaequo.errors import BadParameter, UnknownMeasure, UsageError
from exaequo.measures.registry import READ, Measure, from_official, get
from exaequo.measures.spelling import ours

#: How many measures are remembered that were read.
_MOST = 1000


def named(name: str) -> Measure:
    """Return the measure of a name, ours or one that others use."""
    other = ours(name, complete=False)
    return get(name) if other is None else parse_measure(other, complete=False)


def parse_measure(
    text: str | Measure | object, find: Callable[[str], Measure] = named, *, complete: bool = True
) -> Measure:
    """Read one measure, in our notation or as others call it. Objects of other libraries are read as they print.

    `find` looks a name up; there are other catalogues than ours. What a measure still needs is an error, unless it
    need not be `complete`.
    """
    if isinstance(text, Measure):
        return text.complete
    kept = text if isinstance(text, str) and find is named and complete else None
    if kept in READ:
        return READ[kept]
    if find is named:
        text = ours(str(text).strip(), complete=complete) or text
    try:
        with warnings.catch_warnings():  # Python's remarks on odd strings are not for our users
            warnings.simplefilter("ignore")
            node = ast.parse(str(text).strip(), mode="eval").body
        measure = _measure(node, find)
    except UsageError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        meant = from_official(str(text).strip())
        if meant:
            raise UnknownMeasure(f"There is no measure {str(text)!r}; did you mean {meant!r}?") from None
        raise UnknownMeasure(
            f"Cannot read the measure {str(text)[:80]!r}; write NAME, NAME@K or NAME(parameter=value)@K, "
            "for example AP, P@10, nDCG(dcg='exp-log2')@10."
        ) from None
    if not complete:
        return measure
    if kept is not None and len(READ) < _MOST:
        READ[kept] = measure.complete
    return measure.complete


def parse_measures(texts: Iterable[str | Measure | object] | str | Measure) -> list[Measure]:
    """Read several measures, each once: a list, or a text with blanks or commas between them."""
    if isinstance(texts, str | Measure):
        texts = [texts]
    if not isinstance(texts, Iterable):
        raise BadParameter(f"Measures are names such as 'AP' or 'nDCG@10'. Got {texts!r} instead.")
    pieces: list[str | Measure | object] = []
    for text in texts:
        pieces.extend(split(text) if isinstance(text, str) and text not in READ else [text])
    measures = list(dict.fromkeys(parse_measure(piece) for piece in pieces))
    if not measures:
        raise BadParameter("No measure is given; for example: AP, P@10, nDCG@10.")
    return measures


def split(text: str) -> list[str]:
    """Split at blanks and commas that are not inside brackets."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "({[") - (character in ")}]")
        if depth <= 0 and (character.isspace() or character == ","):
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece for piece in pieces if piece]


def named_values(name: str, keywords: Sequence[ast.keyword]) -> dict[str, Any]:
    """Return the parameters of a call, plain values by name; what is given twice is refused."""
    values: dict[str, Any] = {}
    for keyword in keywords:
        key, value = str(keyword.arg), _literal(keyword.value)
        if isinstance(keyword.value, ast.Dict) and len(value) < len(keyword.value.keys):
            raise BadParameter(f"The {key!r} parameter of {name} gives a key twice: {ast.unparse(keyword.value)}.")
        if key in values:
            raise BadParameter(f"The {key!r} parameter of {name} is given twice: {values[key]!r} and {value!r}.")
        values[key] = value
    return values


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal; raise ValueError if it is none, or a number too long to be written."""
    value = ast.literal_eval(node)
    repr(value)
    return value


def _measure(node: ast.expr, find: Callable[[str], Measure]) -> Measure:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and not isinstance(node.left, ast.BinOp):
        at: float = _literal(node.right)
        inner = _measure(node.left, find)
        if isinstance(node.left, ast.Call) and any(each.arg == inner.definition.at for each in node.left.keywords):
            raise BadParameter(f"{ast.unparse(node)} gives {inner.definition.at!r} twice.")
        return inner @ at
    if isinstance(node, ast.Name):
        return find(node.id)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "gm" and len(node.args) == 1 and not node.keywords:
            inner = _measure(node.args[0], find)
            return Measure(inner.definition, inner.params, "gm")
        if not node.args and all(keyword.arg for keyword in node.keywords):
            return find(node.func.id)(**named_values(node.func.id, node.keywords))
        example = find(node.func.id).definition.example
        raise BadParameter(f"Parameters of {node.func.id} are named, as in {example}.")
    raise ValueError(ast.dump(node))
