"""Faults and long work: full disks, killed processes, interrupts, limits of memory, other environments."""

from __future__ import annotations

import ast
import gzip
import json
import os
import random
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import exaequo
from exaequo import ExaequoError, memory, writing
from exaequo.cli import run
from exaequo.sampledata import sample
from exaequo.study import study
from exaequo.writing import alone, write_whole
from waiting import PATIENCE, soon

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of Unix")
#: Where interrupts are ignored, programs inherit that.
COMMAND = "import signal; signal.signal(2, signal.default_int_handler); import exaequo.__main__ as m; m.main()"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    sample().save(folder)
    return folder


def left(folder: Path) -> list[Path]:
    return list(folder.rglob(".exaequo-*"))


# ---------------------------------------------------------------------------------------------------------- writing


def test_one_way_to_write() -> None:
    """No module writes files by itself, but for what programs say, a log that others own, and what goes away again."""
    allowed = {"writing.py": 2, "searching/systems.py": 1, "cli/gate.py": 1, "spark/session.py": 1}
    allowed["engine/blocks.py"] = 1
    found: dict[str, int] = {}
    source = Path(exaequo.__file__).parent
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
                opens = name == "open" and any(isinstance(mode, str) and {*mode} & {*"wax+"} for mode in modes)
                if opens or name in ("write_text", "write_bytes"):
                    place = str(path.relative_to(source))
                    found[place] = found.get(place, 0) + 1
    assert found == allowed


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    old, link, new = tmp_path / "old", tmp_path / "link", tmp_path / "new"
    old.write_bytes(b"1")
    old.chmod(0o640)
    link.symlink_to(old)
    write_whole(link, b"2")
    assert link.is_symlink()
    assert (old.read_bytes(), stat.S_IMODE(old.stat().st_mode)) == (b"2", 0o640)
    before = os.umask(0o027)
    try:
        write_whole(new, b"3")
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    write_whole(tmp_path / ("n" * 255), b"as long as names can be")
    assert not left(tmp_path)


def test_synced_before_it_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = list[str]()
    sync, replace = os.fsync, Path.replace

    def noted(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object) -> object:
            done.append(name)
            return function(*given)

        return call

    monkeypatch.setattr(os, "fsync", noted("sync", sync))
    monkeypatch.setattr(Path, "replace", noted("rename", replace))
    write_whole(tmp_path / "file", b"1")
    assert done == ["sync", "rename", "sync"]


_LIMITED = """
import resource, signal, sys
from exaequo.writing import write_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
write_whole(sys.argv[1], b"new" * 40_000)
"""


def test_a_file_that_cannot_grow(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    ended = subprocess.run([sys.executable, "-c", _LIMITED, tmp_path / "file"], capture_output=True, check=False)
    assert b"file: cannot write (File too large)" in ended.stderr
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"old")]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def test_a_full_disk(small: Path) -> None:
    (small / "file").write_bytes(b"old")
    with pytest.raises(ExaequoError, match=r"cannot write \(No space left on device\)"):
        write_whole(small / "file", b"new" * 40_000)
    assert [(path.name, path.read_bytes()) for path in small.iterdir()] == [("file", b"old")]


_WRITES = """
import sys
from exaequo.writing import write_whole
print("on", flush=True)
while True:
    for letter in b"ab":
        write_whole(sys.argv[1], bytes([letter]) * 300_000)
"""


def test_killed_while_writing(tmp_path: Path) -> None:
    source, file = random.Random(5), tmp_path / "file"
    file.write_bytes(b"a" * 300_000)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", _WRITES, file], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(source.uniform(0, 0.05))
            process.kill()
        data = file.read_bytes()
        assert len(data) == 300_000
        assert len(set(data)) == 1
    assert all(path == file or path in left(tmp_path) for path in tmp_path.iterdir())
    writing.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [file]


def test_one_study_at_a_time(tmp_path: Path, data: Path) -> None:
    place = tmp_path / "archive" / "web" / "1999"
    place.mkdir(parents=True)
    (place / "runs").symlink_to(data / "runs")
    (place / "qrels").symlink_to(data / "qrels.txt")
    study(tmp_path / "archive", tmp_path / "out")
    (tmp_path / "out" / "work" / ".exaequo-1.part").write_text("of a process that was killed")
    code = "import sys; from exaequo.writing import alone\nwith alone(sys.argv[1], 'x'): print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(ExaequoError, match="another study is at work in this folder"):
            study(tmp_path / "archive", tmp_path / "out")
        other.kill()
    study(tmp_path / "archive", tmp_path / "out")
    assert not left(tmp_path)
    with alone(tmp_path, "x"), alone(tmp_path, "x"):  # inside, it is held already
        pass


def test_results_of_another_release_are_not_used(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "archive" / "web" / "1999"
    (place / "runs").mkdir(parents=True)
    (place / "qrels").symlink_to(data / "qrels.txt")
    (place / "runs" / "bm25").symlink_to(data / "runs" / "bm25.txt")
    for version in ("1", "2", "2"):
        monkeypatch.setattr("exaequo.study.work.__version__", version)
        study(tmp_path / "archive", tmp_path / "out")
    assert len(list((tmp_path / "out" / "work").iterdir())) == 2


# --------------------------------------------------------------------------------------------------------- stopping


def test_an_interrupt_where_python_cannot_raise_it_is_quiet() -> None:
    """In the end of an object, say: Python would print a traceback, and go on until the process is ended."""
    code = """
        import os, signal, time
        from exaequo.cli import stopping

        class Odd:
            def __del__(self):
                raise ValueError("told")

        class Ends:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGTERM)
                for _ in range(100):
                    time.sleep(0.01)

        stopping.listen()
        Odd()
        Ends()
        time.sleep(20)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, timeout=PATIENCE)
    assert done.returncode == 128 + signal.SIGTERM
    assert b"told" in done.stderr
    assert b"KeyboardInterrupt" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_after_listening_before_running(number: signal.Signals) -> None:
    odd = f"import os, exaequo.cli as cli; cli.run = lambda _: os.kill(os.getpid(), {int(number)}); "
    done = subprocess.run([sys.executable, "-c", odd + COMMAND], capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (128 + number, b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_at_any_moment(data: Path, tmp_path: Path, number: signal.Signals) -> None:
    source, out = random.Random(number), tmp_path / "out.json"
    files = [data / "qrels.txt", *sorted((data / "runs").iterdir())]
    words: list[Path | str] = ["ties", *files, "--format", "json", "-o", out]
    for after in (0.15, 0.3, 0.5, source.uniform(0.5, 1.5)):
        with subprocess.Popen([sys.executable, "-c", COMMAND, *words], stderr=subprocess.PIPE) as process:
            time.sleep(after)
            process.send_signal(number)
            said = process.communicate(timeout=PATIENCE)[1]
        # It may have ended, or not begun to listen, or Python itself may not have begun.
        assert process.returncode in (0, -number, 128 + number) or b"Fatal Python error: init" in said
        if process.returncode == 128 + number:
            assert not said.strip()
        assert not left(tmp_path)
        if out.exists():
            json.loads(out.read_text())
            out.unlink()


def writing_end(pipe: Path) -> int:
    """Wait until somebody reads a pipe, and open its other end."""
    opened = list[int]()

    def read() -> bool:
        with suppress(OSError):
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    assert soon(read)
    return opened[0]


@pytest.mark.parametrize(
    "words",
    [
        "eval qrels.txt pipe -o out/scores.txt",
        "compare qrels.txt runs/bm25.txt pipe -o out/compared.txt",
        "report qrels.txt runs/bm25.txt pipe -o out/page.html",
        "plot systems qrels.txt runs/bm25.txt pipe -o out/systems.svg",
        "replicate qrels.txt runs/bm25.txt --with pipe -o out/levels.txt",
    ],
    ids=lambda words: words.split()[0],
)
def test_interrupted_while_it_reads(data: Path, tmp_path: Path, words: str) -> None:
    for name in ("qrels.txt", "runs"):
        (tmp_path / name).symlink_to(data / name)
    for name in ("out", "temporary"):
        (tmp_path / name).mkdir()
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words.split()],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        pipe = writing_end(tmp_path / "pipe")
        os.write(pipe, b"401 Q0 a 1 0.5 s\n")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=PATIENCE)
        os.close(pipe)
    assert (process.returncode, *(each.strip() for each in said)) == (130, b"", b"")
    assert not [path for name in ("out", "temporary") for path in (tmp_path / name).iterdir()]


_BUSY = """
import signal, sys, threading, os, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from exaequo.cli import stopping
from exaequo.writing import scratch
stopping.listen()
import ctypes
with scratch() as place:
    print(place, flush=True)
    ctypes.CDLL(None).usleep  # a step that no signal of Python ends
    start = time.monotonic()
    while time.monotonic() - start < 8:
        try:
            ctypes.CDLL(None).poll(None, 0, 4000)
        except KeyboardInterrupt:
            pass
"""


@pytest.mark.speed
def test_a_long_step_is_not_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", _BUSY], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        place = Path(process.stdout.readline().decode().strip())
        assert place.is_dir()
        time.sleep(0.2)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    assert time.monotonic() - start < 3
    assert not place.exists()


_WHILE_ONE_BEGINS = """
import multiprocessing.util as util, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()  # it may take a signal that others block
begin, told = util.spawnv_passfds, []
def interrupted(path, words, files):
    found = begin(path, words, files)
    if b"resource_tracker" not in b"".join(map(os.fsencode, words)) and not told:
        told.append(os.kill(os.getpid(), signal.SIGINT))
        time.sleep(0.1)
    return found
util.spawnv_passfds = interrupted
import exaequo.__main__ as m; m.main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are begun in another way")
def test_an_interrupt_comes_while_a_process_of_a_study_begins(tmp_path: Path, data: Path) -> None:
    archive = _archive(tmp_path, data, 2)
    words = [sys.executable, "-c", _WHILE_ONE_BEGINS, "study", archive, "-o", str(tmp_path / "out"), "--jobs", "2"]
    found = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    assert found.returncode == 130
    assert found.stderr.split("\n") == ["exaequo: stopped; the same command goes on from here", "", ""]


def _archive(folder: Path, data: Path, runs: int) -> str:
    place = folder / "archive" / "web" / "1999"
    (place / "runs").mkdir(parents=True)
    (place / "qrels").symlink_to(data / "qrels.txt")
    for number in range(runs):
        (place / "runs" / f"run{number}").symlink_to(data / "runs" / "bm25.txt")
    return str(folder / "archive")


def test_a_study_ends_with_its_processes(tmp_path: Path, data: Path) -> None:
    archive = _archive(tmp_path, data, 60)
    words = [sys.executable, "-c", COMMAND, "study", archive, "-o", f"{tmp_path}/out", "--jobs", "2"]
    for after in (0.8, 1.6):
        with subprocess.Popen(
            words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        ) as process:
            time.sleep(after)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            said = process.communicate(timeout=PATIENCE)[1]
        if b"Fatal Python error: init" not in said:  # Python itself had begun
            assert process.returncode in (0, 130, -2)
            assert (b"Traceback" not in said and b"leaked" not in said) or process.returncode == -2
        assert soon(lambda pid=process.pid: not _group(pid))  # type: ignore[misc]
        assert not left(tmp_path)


def _group(number: int) -> bool:
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


# ----------------------------------------------------------------------------------------------------------- memory


@pytest.mark.parametrize(("text", "size"), [("500MB", 5e8), ("1.5g", 1.5e9), ("2GiB", 2 * 1024**3), ("7", 7)])
def test_sizes(text: str, size: float) -> None:
    assert memory.size_of(text) == size


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux tells what is free")
def test_what_a_container_keeps_of_files_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    monkeypatch.setattr(memory, "used", lambda: 0)
    figures = {
        "max": "400000000",
        "current": "350000000",
        "stat": "anon 1\nactive_file 200000000\ninactive_file 50000000\n",
    }
    for name, text in figures.items():
        (tmp_path / f"memory.{name}").write_text(text)
    assert memory.available() == 300_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert (memory.available() or 0) > 400_000_000


def test_a_limit_of_memory(
    data: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_PAUSE", 600)  # a process of many tests has more in use, and would be ended
    files = [str(data / "qrels.txt"), str(data / "runs" / "bm25.txt")]
    for command in (["eval", *files], ["ties", *files], ["compare", *files, str(data / "runs" / "hybrid.txt")]):
        assert run([*command, "--memory", "150MB"]) == 1
        said = capfd.readouterr().err
        assert "which need about 200 MB of memory; expected at most 150 MB" in said
        assert "--memory SIZE" in said
    assert run(["eval", *files, "--memory", "many"]) == 2
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(bytes(200_000_000)))
    capfd.readouterr()
    assert run(["eval", files[0], str(bomb), "--memory", "400M"]) == 1
    assert "bomb.gz: 20 MB of data or more" in capfd.readouterr().err


def test_the_variable_and_what_is_free(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(memory.VARIABLE, "150MB")
    with pytest.raises(exaequo.InputError, match=f"[1-9][0-9]* kB of .* as --memory or {memory.VARIABLE} says"):
        exaequo.read_run(data / "runs" / "bm25.txt")
    monkeypatch.delenv(memory.VARIABLE)
    monkeypatch.setattr(memory, "available", lambda: 100_000_000)
    exaequo.read_run(data / "runs" / "bm25.txt")  # small: nobody asks
    monkeypatch.setattr(memory, "_SMALL", 1000)
    with pytest.raises(exaequo.InputError, match="that are free"):
        exaequo.read_run(data / "runs" / "bm25.txt")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what is in use")
def test_a_limit_that_was_not_foreseen_is_kept() -> None:
    code = """
        from exaequo import memory
        from exaequo.cli import stopping
        import time
        with memory.limited(200_000_000, stopping.out_of_memory):
            much = [bytearray(50_000_000) for _ in range(8) if time.sleep(0.1) is None]
            time.sleep(20)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=False, timeout=PATIENCE
    )
    assert ended.returncode == 1
    assert b"more memory is in use than allowed" in ended.stderr


# ------------------------------------------------------------------------------------------------------ determinism

_ALL = """
import contextlib, hashlib, io, json, pathlib, sys
from exaequo.cli import run
found = {}
for name, words in json.loads(sys.argv[1]).items():
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
        out.flush()
    found[name] = [code, hashlib.sha256(out.buffer.getvalue() + err.getvalue().encode()).hexdigest()]
    if code not in (0, 3, 4):
        found[name].append(err.getvalue())
for path in sorted(pathlib.Path("out").rglob("*")):
    if path.is_file():
        found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
print(json.dumps(found))
"""


def test_the_same_bytes_everywhere(data: Path, tmp_path: Path) -> None:
    runs = [f"runs/{name}.txt" for name in ("bm25", "hybrid", "llm-judge")]
    both = ["qrels.txt", *runs]
    commands = {
        "eval": ["eval", *both, "--ties", "all", "--ties", "expected", "-q", "--format", "csv"],
        "compare": ["compare", *both, "--full"],
        "ties": ["ties", *both, "--full"],
        "gate": ["gate", *both[:3]],
        "report": ["report", *both, "-o", "out/report.html"],
        "plot": ["plot", "systems", *both, "-o", "out/systems.svg"],
        "explain": ["explain", *both[:2]],
        "filter": ["filter", *both[:2], "--threshold", "5"],
        "budget": ["budget", *both, "--format", "json"],
        "pool": ["pool", *runs, "--depth", "5", "-o", "out/pool.tsv"],
        "search": ["search", "crossings", "-o", "out/run.txt"],
        "study": ["study", "archive", "-o", "out/study"],
    }
    found = []
    for at, (threads, seed, zone, locale) in enumerate(
        [("1", "0", "UTC", "C.UTF-8"), ("7", "4242", "Pacific/Kiritimati", "de_DE.UTF-8")]
    ):
        place = tmp_path / str(at)
        (place / "out").mkdir(parents=True)
        for name in ("qrels.txt", "runs"):
            (place / name).symlink_to(data / name)
        edition = place / "archive" / "web" / "1999"
        edition.mkdir(parents=True)
        (edition / "qrels").symlink_to(data / "qrels.txt")
        (edition / "runs").symlink_to(data / "runs")
        changed = {"POLARS_MAX_THREADS": threads, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale}
        asked = commands | {"study": [*commands["study"], "--jobs", str(at + 1)]}
        ended = subprocess.run(
            [sys.executable, "-c", _ALL, json.dumps(asked)],
            cwd=place,
            env={**os.environ, **changed, "SOURCE_DATE_EPOCH": "86400", "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(json.loads(ended.stdout))
    assert [(name, each) for name, each in found[0].items() if len(each) == 3] == []
    assert found[0] == found[1]


# ------------------------------------------------------------------------------------------------------------- soak


@pytest.mark.soak
def test_soak() -> None:
    words = [sys.executable, str(ROOT / "scripts" / "soak.py"), "--minutes", "0.33", "--seed", "1"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.endswith("all is well\n")
