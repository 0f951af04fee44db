"""Golden sets and logs of retrieval: a query and its documents in one record. In: objects or JSON. Out: `Lists`.

A record may have relevant documents, retrieved ones, or both: qrels take the first, runs the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from exaequo.errors import bad_input
from exaequo.read.lists import DOCNOS, Lists, as_list, by_topic
from exaequo.read.trec import QRELS, RUN, Layout, quoted
from exaequo.text import listed

#: The names fields go by: ours, those of golden sets, ragas, LlamaIndex, LangChain, Haystack, BEIR,
#: sentence-transformers. The first one present is taken: the id of a query before its text.
QUERY_IDS = ("qid", "query_id", "query-id", "q_id", "topic_id", "question_id", "id", "_id")
QUERY_TEXTS = (
    *("query", "question", "user_input", "query_text", "query_str", "input", "text", "topic"),
    *("queries", "questions"),
)
DOCUMENTS = {
    QRELS: (
        *("relevant", "relevant_ids", "relevant_docs", "relevant_doc_ids", "relevant_documents"),
        *("reference_context_ids", "expected_ids", "expected", "ground_truth_documents", "ground_truth_ids"),
        *("gold", "gold_ids", "golden", "positives"),
    ),
    RUN: (
        *("retrieved", "retrieved_ids", "retrieved_context_ids", "retrieved_docs", "retrieved_doc_ids"),
        *("retrieved_documents", "results", "ranking", "ranked", "hits", "doc_ids", "docnos", "documents", "docs"),
        *("source_documents", "source_nodes", "nodes", "context", "ids"),
    ),
}
NUMBERS = {
    QRELS: ("grades", "relevant_grades", "relevance", "relevances", "labels"),
    RUN: ("scores", "retrieved_scores", "similarities", "sims"),
}
#: What may hold all records.
_HOLDERS = ("samples", "examples", "records", "rows", "data", "results")
#: A dict without any of these names is one of topics, or of runs.
_KNOWN = {*_HOLDERS, *QUERY_IDS, *QUERY_TEXTS, *DOCUMENTS[QRELS], *DOCUMENTS[RUN]}
_NAME = "Rename the field, or name it: columns={{{0!r}: ...}}, --columns {0}=NAME."
_SWAPPED = "The qrels come first, then the runs."


def found_in(
    data: object, layout: Layout, name: str, given: Mapping[str, str], lines: Sequence[int] = ()
) -> Lists | None:
    """Return the lists that an object holds, by topic or in records; None if it is a table, or none of these."""
    if isinstance(data, Mapping):
        return _in_mapping(data, layout, name, given, lines)
    if isinstance(data, list | tuple) and data and (record := fields_of(data[0])) is not None:
        return _in_records(data, layout, name, given, lines) if _is_golden(record, given) else None
    judged = getattr(data, "relevant_docs", None)  # sentence-transformers' evaluator, LlamaIndex's dataset
    return by_topic(judged) if layout is QRELS and isinstance(judged, Mapping) else None


def fields_of(record: Any) -> Mapping[str, Any] | None:
    """Return the fields of a record: a dict, or an object with attributes; None if it is neither."""
    if isinstance(record, Mapping):
        return record
    return None if hasattr(record, "_fields") or not hasattr(record, "__dict__") else vars(record)


def is_record(data: Any) -> bool:
    """Tell a record, golden or a row, from a dict of topics, which has but documents, and other objects."""
    plain = isinstance(data, Mapping) and any(isinstance(each, str | int | float) for each in data.values())
    return plain or is_golden(data)


def is_golden(data: Any, given: Mapping[str, str] | None = None) -> bool:
    """Tell whether this is a record that has documents in lists."""
    record = fields_of(data)
    return record is not None and _is_golden(record, given or {})


def is_one(data: Mapping[Any, Any]) -> bool:
    """Tell a dict that is one run, by topic or by field, from one of runs by name."""
    if not data.keys().isdisjoint(_KNOWN) and (is_columns(data) or _held_records(data, {})):
        return True
    first = next((each for each in data.values() if not isinstance(each, Mapping | list | tuple) or each), None)
    if isinstance(first, Mapping):
        return as_list(next(iter(first.values()))) is None
    if isinstance(first, list | tuple):
        return not (hasattr(first[0], "_fields") or is_golden(first[0]) or _is_row(first[0]))
    empty = first is None and any(isinstance(each, list | tuple) for each in data.values())
    return empty or isinstance(first, Set) or hasattr(first, "tolist") or hasattr(first, "to_list")


def _is_row(data: Any) -> bool:
    """Tell a row, which names its query, from a document."""
    return isinstance(data, Mapping) and any(field in data for field in (*QUERY_IDS[:-2], *QUERY_TEXTS[:2]))


def _held_records(data: Mapping[Any, Any], given: Mapping[str, str]) -> Sequence[Any]:
    """Return the records that a dict holds under a known name; none if it holds no golden ones."""
    held = (data.get(holder) for holder in _HOLDERS)
    lists = (each for each in held if isinstance(each, list | tuple) and each)
    return next((each for each in lists if is_golden(each[0], given)), ())


def is_columns(data: Mapping[Any, Any]) -> bool:
    """Tell whether a dict has the fields of all records side by side: queries, and lists of their documents."""
    queries = (isinstance(data.get(field), list | tuple) for field in (*QUERY_IDS, *QUERY_TEXTS) if field in data)
    lists = (_first_list(data.get(field)) is not None for field in (*DOCUMENTS[QRELS], *DOCUMENTS[RUN]))
    return any(queries) and any(lists)


def _first_list(column: Any) -> Any:
    first = column[0] if isinstance(column, list | tuple) and column else None
    return None if isinstance(first, str) else first and as_list(first)


def _is_golden(record: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    if any(isinstance(record.get(field), str | int) for field in DOCNOS):  # one document a row
        return False
    known = (given.get("docno", ""), *DOCUMENTS[QRELS], *DOCUMENTS[RUN])
    values = [record[field] for field in known if field in record]
    return any(isinstance(each, list | tuple | Set | Mapping) or hasattr(each, "tolist") for each in values)


def _in_mapping(
    data: Mapping[Any, Any], layout: Layout, name: str, given: Mapping[str, str], lines: Sequence[int]
) -> Lists | None:
    """Return the lists of a dict: by topic, of columns, or those of what it holds under a known name."""
    if data.keys().isdisjoint(_KNOWN):
        return by_topic(data, lines)
    if records := _held_records(data, given):
        return _in_records(records, layout, name, given, ())
    for field in DOCUMENTS[layout]:
        held = data.get(field)
        if isinstance(held, Mapping) and all(isinstance(each, list | tuple | Set | Mapping) for each in held.values()):
            return by_topic(held)
    if is_columns(data):
        return _in_records(_rows(data, name), layout, name, given, ())
    return by_topic(data, lines)


def _rows(data: Mapping[Any, Any], name: str) -> list[dict[str, Any]]:
    """Return the records whose fields stand side by side."""
    sizes = {field: len(column) for field, column in data.items() if isinstance(column, list | tuple)}
    if len({*sizes.values()}) > 1:
        found = f"columns of different lengths: {', '.join(f'{field} {size}' for field, size in sizes.items())}"
        raise bad_input(name, found, "as many entries in all", "Give every query an entry in each.")
    return [dict(zip(sizes, row, strict=True)) for row in zip(*(data[field] for field in sizes), strict=True)]


def queries_of(data: Any, name: str) -> tuple[list[Any], list[Any]]:
    """Return ids and texts of the queries of `{qid: text}`, of texts, or of records."""
    if isinstance(data, Mapping):
        by_id = next((data[field] for field in QUERY_TEXTS if isinstance(data.get(field), Mapping)), data)
        held = _held_records(data, {}) or (_rows(data, name) if is_columns(data) else ())
        if not held:
            return list(by_id), list(by_id.values())
        data = held
    elif isinstance(getattr(data, "queries", None), Mapping):
        return queries_of(data.queries, name)
    items = list(data) if isinstance(data, Iterable) else [data]
    texts = [{"query": each} if isinstance(each, str) else fields_of(each) for each in items]
    where = _Records([each or {} for each in texts], name, ())
    present = [str(field) for field, value in where.records[0].items() if value is not None] if items else []
    text, key = (_field(present, "", names, {}) for names in (QUERY_TEXTS, (*QUERY_IDS, *QUERY_TEXTS)))
    if items and (text is None or key is None):
        found = f"no text of a query among {listed(present, 12) or repr(items[0])}"
        raise where.error(0, found, listed(list(QUERY_TEXTS), 12), "Rename the field.")
    if text is None or key is None:
        return [], []
    return _topics(where, key, by_text=key in QUERY_TEXTS)[0], where.column(text)


def _in_records(
    data: Sequence[Any], layout: Layout, name: str, given: Mapping[str, str], lines: Sequence[int]
) -> Lists:
    """Return the lists of records, all with the fields that the first has."""
    records = [fields_of(each) or {} for each in data]
    present = [str(field) for field, value in records[0].items() if value is not None]
    where = _Records(records, name, lines)
    documents = _field(present, "docno", DOCUMENTS[layout], given)
    if documents is None:
        other = RUN if layout is QRELS else QRELS
        what = "relevant" if layout is QRELS else "retrieved"
        mend = _SWAPPED if _field(present, "", DOCUMENTS[other], {}) else _NAME.format("docno")
        found = f"no field for {what} documents among {listed(present, 12)}"
        raise where.error(0, found, listed(list(DOCUMENTS[layout]), 5), mend)
    numbers = _field(present, layout.number, NUMBERS[layout], given)
    key = _field(present, "qid", (*QUERY_IDS, *QUERY_TEXTS), given)
    if key is None:
        found = f"no field for the query among {listed(present, 12)}"
        raise where.error(0, found, listed([*QUERY_IDS, *QUERY_TEXTS], 12), _NAME.format("qid"))
    topics, remarks = _topics(where, key, by_text=key in QUERY_TEXTS)
    lists = where.column(documents)
    beside = None if numbers is None else where.column(numbers)
    return Lists(topics, lists, beside, where.label, lines, documents, numbers or "", remarks)


def _field(present: Sequence[str], ours: str, names: Iterable[str], given: Mapping[str, str]) -> str | None:
    """Return the first of these fields that is there, one that the user named before all."""
    return next((field for field in (given.get(ours), *names) if field in present), None)


class _Records:
    """Records, and how they are called: by line, or by number, from 1."""

    def __init__(self, records: Sequence[Mapping[str, Any]], name: str, lines: Sequence[int]) -> None:
        self.records, self.name, self.lines = records, name, lines

    def label(self, at: int) -> str:
        """Return what to call a record."""
        return f"record {at + 1}"

    def error(self, at: int, found: str, expected: str, mend: str) -> Exception:
        """Return the error of a record, to be raised."""
        line = self.lines[at] if self.lines else None
        return bad_input(self.name, f"{self.label(at)}: {found}", expected, mend, line=line)

    def column(self, field: str) -> list[Any]:
        """Return a field of all records; refuse one that lacks it."""
        try:
            return [record[field] for record in self.records]
        except KeyError:
            at = next(at for at, record in enumerate(self.records) if field not in record)
            has = listed([str(each) for each in self.records[at]], 12) or "no fields"
            raise self.error(at, f"no {field}, but {has}", f"{field}, as in {self.label(0)}", "Add it.") from None


def _topics(where: _Records, key: str, *, by_text: bool) -> tuple[list[Any], tuple[str, ...]]:
    """Return the id of each query; a text that is there again gets its number, which is a remark, an id is refused."""
    found = where.column(key)
    if by_text:
        found = [" ".join(each.split()) if isinstance(each, str) else each for each in found]
    for at, each in enumerate(found):
        if not isinstance(each, str | int) and not hasattr(each, "__index__"):
            what = "null" if each is None else f"{type(each).__name__} {each!r:.40}"
            raise where.error(at, f"{key} is {what}", "text or a whole number", "Give each query its own.")
    names = list(map(str, found))
    if len({*names}) == len(names):
        return names, ()
    repeated, _ = Counter(names).most_common(1)[0]
    if not by_text:
        first, again = [at for at, each in enumerate(names) if each == repeated][:2]
        what = f"query {quoted(repeated)} is here and in {where.label(first)}"
        raise where.error(again, what, "each query once", "Give each its own id, or put its documents into one list.")
    what = f"the query {quoted(repeated)} is there {names.count(repeated)} times, without ids"
    return numbered(names), (f"{where.name}: {what}; told apart by order, as {quoted(f'{repeated} #2')}",)


def numbered(texts: Sequence[str]) -> list[str]:
    """Return texts, each with its number from the second time it is there."""
    taken = {*texts}
    seen: Counter[str] = Counter()
    names = []
    for each in texts:
        seen[each] += 1
        name = each if seen[each] == 1 else f"{each} #{seen[each]}"
        while seen[each] > 1 and name in taken:
            seen[each] += 1
            name = f"{each} #{seen[each]}"
        taken.add(name)
        names.append(name)
    return names
