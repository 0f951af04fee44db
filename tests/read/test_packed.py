"""Packed files: whole ones of several streams, padded ones, and every damage that can be told."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest

from exaequo import InputError, evaluate, read_run
from exaequo.read import trec
from exaequo.read.source import load, packing, unpacked

zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

PARTS = (
    b"301 Q0 FT8 1 0.8 sys\n301 Q0 LA12 2 0.5 sys\n",
    b"302 Q0 FT9 1 0.8 sys\n",
    b"303 Q0 X 1 0.8 sys\n",
)


def _zst(data: bytes) -> bytes:
    """As the zstd program does: with a checksum, which Python's function leaves out."""
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "xz, crc32": lambda data: lzma.compress(data, check=lzma.CHECK_CRC32),
    "zst": _zst,
}
SKIPPED = b"\x5a\x2a\x4d\x18\x03\x00\x00\x00abc"  # a frame of zstd that holds no data


def outcome(data: bytes, path: Path) -> bytes | None:
    """What a file is read as; None if it is refused."""
    path.write_bytes(data)
    try:
        return load(str(path))[0]
    except InputError:
        return None


#: What a byte is changed by: each of its bits, and all of them.
BITS = [*(1 << bit for bit in range(8)), 255]


def damaged(raw: bytes, ends: set[int], changes: Sequence[int]) -> Iterator[bytes]:
    """Every byte changed, in these ways, and every cut that does not fall between two streams."""
    for at in range(len(raw)):
        if at not in ends:
            yield raw[:at]
        for change in changes:
            yield raw[:at] + bytes((raw[at] ^ change,)) + raw[at + 1 :]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", PACKS)
def test_a_damaged_archive_is_refused_or_gives_the_same_bytes(
    kind: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_damaged(kind, count, BITS, tmp_path / "f", monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", PACKS)
def test_archives_damaged_in_every_way(kind: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_damaged(kind, count, range(1, 256), tmp_path / "f", monkeypatch)


def check_damaged(kind: str, count: int, changes: Sequence[int], path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = [PACKS[kind](part) for part in PARTS[:count]]
    raw, whole = b"".join(packed), b"".join(PARTS[:count])
    assert outcome(raw, path) == whole
    now = b""
    monkeypatch.setattr(Path, "read_bytes", lambda _: now)  # tens of thousands of files
    refused = 0
    for now in damaged(raw, {len(b"".join(packed[:at])) for at in range(1, count)}, changes):
        try:
            found = load(str(path))[0]
        except InputError:
            refused += 1
            continue
        if found == now:  # the first bytes no longer say that it is packed
            with pytest.raises(InputError):
                trec.parse(found, trec.RUN, "f")
        else:
            assert found == whole
    assert refused > 0.4 * len(changes) * len(raw)


def test_what_follows_the_first_stream_is_not_lost(tmp_path: Path) -> None:
    one, two = b"1 Q0 a 1 0.9 s\n1 Q0 b 2 0.8 s\n", b"2 Q0 a 1 0.9 s\n"
    qrels = {"1": {"b": 1}, "2": {"a": 1}}
    for ending, pack in (("bz2", bz2.compress), ("xz", lzma.compress)):
        path = tmp_path / f"run.{ending}"
        path.write_bytes(pack(one) + pack(two))
        assert evaluate(qrels, path, "AP").mean("AP") == 0.75
        second = pack(two)
        at = len(pack(one))
        path.write_bytes(pack(one) + bytes((second[0] ^ 1,)) + second[1:])
        with pytest.raises(
            InputError, match=rf"run.{ending}: the \w+ archive is damaged .*stream 2 begins at byte {at} "
        ):
            read_run(path)
        path.write_bytes(pack(one) + second[:-1])
        with pytest.raises(InputError, match=r"it has no end\); expected a whole archive. Copy or download it again."):
            read_run(path)


WHOLE = b"".join(PARTS[:2])
ONE, TWO = PARTS[:2]


#: What files hold, and what is read; None where they are refused.
FOLLOWED: tuple[tuple[bytes, bytes | None], ...] = (
    (gzip.compress(ONE) + gzip.compress(TWO), WHOLE),
    (gzip.compress(ONE) + bytes(7) + gzip.compress(TWO) + bytes(512), WHOLE),  # tapes are padded
    (gzip.compress(ONE) + b"junk", None),
    (gzip.compress(ONE) + b"\x1f", None),
    (gzip.compress(ONE) + bytes(3) + b"\n", None),
    (bz2.compress(ONE) + bz2.compress(TWO), WHOLE),
    (bz2.compress(ONE) + bz2.compress(b"") + bz2.compress(TWO), WHOLE),
    (bz2.compress(ONE) + b"junk", None),
    (bz2.compress(ONE) + b"\n", None),
    (bz2.compress(ONE) + bytes(4), None),
    (lzma.compress(ONE) + lzma.compress(TWO), WHOLE),
    (lzma.compress(ONE) + bytes(4) + lzma.compress(TWO) + bytes(8), WHOLE),
    (lzma.compress(ONE) + bytes(3), None),
    (lzma.compress(ONE) + bytes(5) + lzma.compress(TWO), None),
    (lzma.compress(ONE) + b"junk", None),
    (lzma.compress(ONE) + lzma.compress(TWO, format=lzma.FORMAT_ALONE), None),
    (_zst(ONE) + zstd.compress(TWO), WHOLE),
    (_zst(ONE) + SKIPPED + _zst(TWO) + SKIPPED, WHOLE),
    (SKIPPED + _zst(WHOLE), WHOLE),
    (_zst(ONE) + SKIPPED[:-1], None),
    (_zst(ONE) + b"junk", None),
    (_zst(ONE) + bytes(4), None),
    (_zst(ONE) + b"(", None),
)


@pytest.mark.parametrize("at", range(len(FOLLOWED)))  # packed bytes are no names: gzip writes the time into them
def test_what_may_follow_a_stream(at: int, tmp_path: Path) -> None:
    data, expected = FOLLOWED[at]
    assert outcome(data, tmp_path / "f") == expected


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_streams_longer_than_what_is_unpacked_at_a_time(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    source = random_bytes(3 << 20)
    raw = pack(source) + pack(b"x") + pack(source[:-1])
    assert outcome(raw, tmp_path / "f") == source + b"x" + source[:-1]
    assert outcome(raw[:-1], tmp_path / "f") is None
    assert outcome(raw + b"y", tmp_path / "f") is None


@pytest.mark.parametrize("kind", PACKS)
def test_what_is_unpacked_at_a_time_is_bounded(kind: str) -> None:
    """However little it is packed in: who reads piece by piece needs no more memory than a piece takes."""
    raw = PACKS[kind](b"\n" * 20_000_001) + PACKS[kind](b"1")
    found = packing(raw)
    assert found is not None
    parts = [*unpacked(io.BytesIO(raw).read, found)]
    assert max(map(len, parts)) <= 1 << 20
    assert b"".join(parts) == b"\n" * 20_000_001 + b"1"


def random_bytes(size: int) -> bytes:
    import random

    return b"1" + random.Random(1).randbytes(size)


def test_the_command_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.bz2"
    path.write_bytes(bz2.compress(ONE) + b"junk")
    (tmp_path / "qrels.txt").write_text("301 0 FT8 1\n")
    done = subprocess.run(
        [sys.executable, "-m", "exaequo", "eval", tmp_path / "qrels.txt", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "run.bz2: the bzip2 archive is damaged or cut short (stream 2 begins at byte" in done.stderr
    assert "Traceback" not in done.stderr
