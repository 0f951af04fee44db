"""Whatever the bytes: every reader and every notation gives a result or an error of ours, in linear time."""

from __future__ import annotations

import bz2
import io
from datetime import date, datetime, timedelta

import polars as pl
import pytest
from fuzzing import TARGETS, check, stretched
from hypothesis import given, settings
from hypothesis import strategies as st

from exaequo import BadParameter, InputError, read_qrels, read_run
from exaequo.read.decisions import read_decisions

RECORD = TARGETS["record"].seeds[0]
_HEX = b"0x" + b"f" * 5000
_LONG = 100_000


def header(line: bytes) -> bytes:
    return b"# ir_metadata.start\n# " + line + b"\n# ir_metadata.end\n"


#: What broke a promise once, the smallest of its kind.
BROKE: list[tuple[str, bytes]] = [
    ("run", b"x\x01\n"),
    ("run", b"1 Q0 d 1 " + b"1" * _LONG + b"x a\n"),
    ("topics", b"<top><" + b"a" * _LONG + b"<title>x</top>"),
    ("topics", b"<topic number=" + b" " * _LONG + b'""><query>a</query></topic>'),
    *(("manifest", b"a=" + value) for value in (b"[" * 2000, b"9" * 5000, _HEX)),
    *(("manifest", b"[[edition]]\ntrack=1\nedition=1\nruns='a'\nqrels='" + each + b"'") for each in (b"", b"a" * 300)),
    *(("gate", b"[gate]\nseed=" + value) for value in (b"[" * 2000, b"9" * 5000, _HEX)),
    ("gate", b"\n" * _LONG + b"[gate]\nseed='a'"),
    *(("metadata", header(b"a: " + line)) for line in (b"!!int ''", b"!!bool x", b"!!timestamp x", _HEX)),
    *(("metadata", header(b"a: " + line)) for line in (b"1:" * 3000 + b"1", b'"\\UFFFFFFFF"')),
    *(("measures", b"P(rel=" + value + b")@5") for value in (_HEX, b"9" * 400)),
    ("measures", b"nDCG(gains={1:" + _HEX + b"})"),
    ("systems", b"bm25(k1=" + _HEX + b")"),
    ("systems", b"b" + b" " * (_LONG // 2) + b"m25"),
    ("official-measures", b"P." + b"9" * 5000),
    ("slices-csv", b'topic,label\n"' + b"a" * 200_000),
    ("record", RECORD.replace(b"grades", b"gredes")),
    *(("record", RECORD.replace(b"[0, 1, 2]", scale)) for scale in (b"[0, 1, 2[", b"        7", b"['', 1,2]")),
    *(("record", RECORD.replace(view, view[:-1] + b"x")) for view in (b"settled", b"standing")),
    ("packed", bz2.compress(b"") * (_LONG // 14)),
    ("options", b"ties=7"),
]


@pytest.mark.parametrize(("name", "data"), BROKE, ids=[f"{name}-{at}" for at, (name, _) in enumerate(BROKE)])
def test_what_broke_once(name: str, data: bytes) -> None:
    check(name, data)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name: str) -> None:
    assert any(check(name, seed) is not None for seed in TARGETS[name].seeds)


@st.composite
def mutated(draw: st.DrawFn, names: list[str]) -> tuple[str, bytes]:
    """Draw a target and one of its seeds with pieces of it, or of another, put in, left out or written over."""
    name = draw(st.sampled_from(names))
    data = draw(st.sampled_from(TARGETS[name].seeds))
    other = draw(st.sampled_from(TARGETS[name].seeds))
    for _ in range(draw(st.integers(1, 4))):
        start, stop = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        begin = draw(st.integers(0, len(other)))
        odd = st.sampled_from([b"", b"\0", b"\xff", b"\n", b"\t", b" ", b'"', b"-1", b"1e999", b"[", b"\xc2\xa0"])
        piece = draw(odd | st.binary(max_size=4) | st.just(other[begin : begin + 9]))
        data = data[:start] + piece + (data[stop:] if draw(st.booleans()) else data[start:])
    return name, data


#: A page of a damaged Parquet file may ask for more memory than there is, which ends the process; see `test_types`.
SAFE = [name for name in TARGETS if "parquet" not in name]


@settings(max_examples=300)
@given(mutated(SAFE))
def test_any_bytes(case: tuple[str, bytes]) -> None:
    check(*case)


@pytest.mark.soak
@settings(max_examples=3000)
@given(mutated(SAFE))
def test_many_bytes(case: tuple[str, bytes]) -> None:
    check(*case)


@pytest.mark.search
@settings(max_examples=300)
@given(mutated([name for name in SAFE if name not in ("archive", "record", "manifest")]), st.data())
def test_linear_time(case: tuple[str, bytes], draws: st.DataObject) -> None:
    name, data = case
    start = draws.draw(st.integers(0, len(data)))
    check(name, stretched(data, start, start + draws.draw(st.integers(1, 8)), 30_000))


#: A column of every type there is in Parquet files.
COLUMNS = [
    pl.Series([1, 2, None]),
    pl.Series([0.5, float("nan"), float("inf")]),
    pl.Series(["a", "", None]),
    pl.Series([True, False, None]),
    pl.Series([None, None, None]),
    pl.Series([b"a", b"\xff", b""]),
    pl.Series([date(2026, 1, 31)] * 3),
    pl.Series([datetime(2026, 1, 31, 5)] * 3),
    pl.Series([timedelta(1), timedelta(0), None]),
    pl.Series([["a"], [], None]),
    pl.Series([{"a": 1}, {"a": None}, None]),
    pl.Series(["a", "b", "c"], dtype=pl.Categorical),
    pl.Series(["1.5", "2", "3"]).cast(pl.Decimal(10, 2)),
    pl.Series([1, 2, 3], dtype=pl.UInt64) + (2**63),
]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(COLUMNS), min_size=4, max_size=4), st.booleans())
def test_types(tmp_path_factory: pytest.TempPathFactory, columns: list[pl.Series], packed: bool) -> None:
    for reader, names in (
        (read_run, ("qid", "docno", "sim", "rank")),
        (read_qrels, ("qid", "docno", "rel", "iter")),
        (read_decisions, ("theme", "y_true", "y_score", "time")),
    ):
        table = pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
        data: object = table
        if packed:
            buffer = io.BytesIO()
            table.write_parquet(buffer)
            path = tmp_path_factory.getbasetemp() / "types.parquet"
            path.write_bytes(buffer.getvalue())
            data = path
        try:
            reader(data)
        except (InputError, BadParameter) as error:
            assert str(error)
