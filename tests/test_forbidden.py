"""What the source never does: run text, load objects, ask a shell, expand entities, unpack archives onto the disk."""

from __future__ import annotations

import ast
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

import exaequo
from exaequo.cli import run as call

SOURCE = Path(exaequo.__file__).parent
#: Modules whose loaders make objects, or run what they read; and those that fetch from elsewhere.
MODULES = (
    *("pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle", "imp"),
    *("xml.sax", "xml.dom", "xmlrpc", "lxml", "pty", "telnetlib", "ftplib", "urllib.request", "requests", "httpx"),
)
CALLS = {
    *("eval", "exec", "compile", "__import__", "os.system", "os.popen", "subprocess.getoutput", "tempfile.mktemp"),
    *("subprocess.getstatusoutput", "asyncio.create_subprocess_shell", "commands.getoutput", "pl.read_database"),
    *("np.load", "np.fromregex", "numpy.load", "yaml.unsafe_load", "yaml.full_load", "yaml.load_all"),
    *("pl.DataFrame.deserialize", "pl.LazyFrame.deserialize", "pl.Expr.deserialize", "shutil.unpack_archive"),
    *("Xml.parse", "Xml.fromstring", "Xml.XML", "Xml.iterparse", "Xml.XMLParser", "Markup", "jinja2.Template"),
}
#: Methods, whatever they are called on.
METHODS = {"extractall", "deserialize"}
#: Keywords that make a call one of those.
KEYWORDS = {"shell": True, "allow_pickle": True, "resolve_entities": True, "autoescape": False}
#: The one loader of YAML: a SafeLoader without aliases.
LOADERS = {("read/metadata.py", "Plain")}
#: What one file may import: processes of our own tell each other, through pipes between them, what to do.
ALLOWED = {("hands.py", "pickle")}


def wrong(path: Path, name: str) -> Iterator[str]:
    """Yield what a file does and must not, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            base = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            named = [f"{base[0]}.{alias.name}" if base else alias.name for alias in node.names]
            for each in (*base, *named):
                if (name, each) in ALLOWED:
                    continue
                if any(each == module or each.startswith(f"{module}.") for module in MODULES):
                    yield f"{name}:{node.lineno}: imports {each}"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in CALLS or (isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
            yield f"{name}:{node.lineno}: calls {called}"
        if called.endswith(".extract") and "tar" in called.lower():
            yield f"{name}:{node.lineno}: calls {called}"
        if called == "yaml.load" and (name, ast.unparse(node.args[1])) not in LOADERS:
            yield f"{name}:{node.lineno}: loads YAML with {ast.unparse(node.args[1])}"
        for keyword in node.keywords:
            value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
            if keyword.arg in KEYWORDS and value is KEYWORDS[keyword.arg]:
                yield f"{name}:{node.lineno}: {called}({keyword.arg}={value})"


def test_the_source_does_nothing_of_the_kind() -> None:
    files = sorted(SOURCE.rglob("*.py"))
    assert len(files) > 200
    assert [each for path in files for each in wrong(path, path.relative_to(SOURCE).as_posix())] == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "eval('1')",
            "exec(x)",
            "import pickle",
            "from pickle import loads",
            "import urllib.request",
            "os.system('x')",
        ),
        *("subprocess.run(x, shell=True)", "np.load(x, allow_pickle=True)", "np.load(x)", "yaml.load(x, yaml.Loader)"),
        *("os.system(x)", "tar.extractall()", "tar.extract('x')", "Xml.fromstring(x)", "yaml.unsafe_load(x)"),
        *("asyncio.create_subprocess_shell('x')", "jinja2.Environment(autoescape=False)", "from xml.sax import parse"),
    ],
)
def test_what_is_looked_for_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    assert list(wrong(tmp_path / "module.py", "module.py"))


def test_templates_mark_only_our_own_as_safe() -> None:
    """What is not escaped is made by us: policy, style, scripts, pictures, and JSON that cannot end its element."""
    import re

    ours = {"policy", "style", "script", "data", "steps", "words", "each.svg"}
    ours |= {'say("{run}, topic {topic}", run=isolated(each.run), topic=isolated(topic))'}
    found = set()
    for path in SOURCE.rglob("*.j2"):
        text = path.read_text(encoding="utf-8")
        found |= {each.strip() for each in re.findall(r"\{\{((?:[^}]|\}(?!\}))*?)\|\s*safe\s*\}\}", text)}
        assert "autoescape" not in text
    assert found == ours
    scripts = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|RegExp\(", scripts
    )


@pytest.mark.parametrize("command", ["eval", "compare", "ties", "report", "plot ties", "check", "budget", "pool"])
def test_no_command_asks_the_network(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def refuse(*what: object, **_: object) -> None:
        asked.append(what)
        raise OSError("there is no network here")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    exaequo.sample().save(tmp_path)
    runs = [str(tmp_path / "runs" / f"{name}.txt") for name in ("bm25", "boolean")]
    files = runs if command == "pool" else [str(tmp_path / "qrels.txt"), *runs]
    assert call([*command.split(), *files, "-o", str(tmp_path / "out.html")]) == 0
    assert not asked
    with pytest.raises(OSError, match="no network"):
        socket.create_connection(("example.org", 80))
