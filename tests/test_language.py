"""Results in another language: every sentence has its translation, data for programs stay as they are."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import string
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import exaequo
from exaequo import language
from exaequo.cli import app, run
from exaequo.cli.gate import CODES
from exaequo.errors import BadParameter
from exaequo.language import LANGUAGES, number, of_locale, say, sentences, speaking, spoken, strategy, word
from exaequo.text import on_one_line
from helpers import little

SOURCE = Path(exaequo.__file__).parent
#: What is written alike everywhere: no three small letters in a row.
SYMBOL = re.compile(r"(?!.*[a-z]{3}).*")
Sample = tuple[str, list[str]]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return the sample as files: judgments, runs."""
    qrels, *runs = exaequo.sample().save(tmp_path_factory.mktemp("sample"))
    return str(qrels), list(map(str, runs))


# ------------------------------------------------------------------------------------------------------------- the file


def texts(node: ast.expr, tables: dict[str, ast.expr]) -> set[str]:
    """Return what an argument can be: itself, either of two, or any text of a table at the top of its module."""
    if isinstance(node, ast.IfExp):
        return texts(node.body, tables) | texts(node.orelse, tables)
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        table = tables[node.id]
        assert isinstance(table, ast.Dict)
        return {text for value in table.values for each in ast.walk(value) for text in texts_of(each)}
    found = set(texts_of(node))
    assert found, f"not a text of the code: {ast.unparse(node)}"
    return found


def texts_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def said(name: str = "say") -> set[str]:
    """Return all English sentences of the code, of the templates and of the scripts of pages."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        if path.is_relative_to(SOURCE / "language"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        tops = [each for each in tree.body if isinstance(each, ast.Assign)]
        tables = {name.id: each.value for each in tops for name in each.targets if isinstance(name, ast.Name)}
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id == name:
                found |= texts(call.args[0], tables)
            if call.func.id == "titled" and name == "say":  # it says the titles of its tables
                found |= texts(call.args[1], tables)
    for file in (*SOURCE.rglob("*.html.j2"), *SOURCE.rglob("*.js")):
        page = file.read_text(encoding="utf-8")
        found |= set(re.findall(rf'\b(?:{name}|parts)\("([^"]*)"', page))
    return found


def places(text: str) -> set[str]:
    """Return the names of the values of a sentence, those alone that choose a form left aside."""
    parsed = string.Formatter().parse(text)
    return {name for _, name, form, _ in parsed if name and "|" not in (form or "")}


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_every_sentence_has_its_translation(lang: str) -> None:
    own, keys = sentences(lang), said()
    assert len(keys) > 300
    assert keys <= {*own["message"], *own["word"], *own["head"]}, "sentences without a translation"
    assert set(own["message"]) <= keys, "translations that nothing says"
    for english, other in own["message"].items():
        assert places(english) == places(other), english
        assert english.strip() != other.strip() or SYMBOL.fullmatch(re.sub("{.*?}", "", english)) or english in ALIKE


#: Words that are the same in French.
ALIKE = {
    "alpha {alpha:g}",
    "test",
    "score 0",
    "versions",
    "Sections",
    "Provenance",
    "Figures",
    "sha256",
    "Document",
    "Pages",
}


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_every_word_is_one_of_the_code(lang: str) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    for english in set(sentences(lang)["word"]) - set(sentences("en")["word"]):
        part = re.sub("^(at its|share|window|tied|per score|of all) (?=.)| 10$", "", english)
        assert part in code or part.replace(" ", "_") in code, english


# -------------------------------------------------------------------------------------------------------- the commands


#: What shows results, in many forms, as one writes it in a shell; of words apart by | each in turn.
COMMANDS = """
demo little -o PLACE
experiment little --model coordination -o PLACE
eval QRELS RUNS
eval QRELS RUNS -q --ties all --ties expected -m Compat -m NumRet
eval QRELS RUNS --depth 5 --precision single --rel-level 2 --format markdown
ties QRELS BM25 BOOLEAN -q
ties QRELS BOOLEAN
ties QRELS THREE --table reversals --splits 20
compare QRELS RUNS
compare QRELS THREE --baseline bm25 --margin 1% --ties robust --one-sided --test randomization --judges QRELS
compare QRELS RUNS --correction randomised-tukey --format latex
compare QRELS RUNS --table extremes|correlations|taus|inversions|dominance|curves|topics|contrasts|difficulty
compare QRELS THREE --test wilcoxon
compare QRELS THREE --test bootstrap --correction none
compare QRELS THREE --correction nemenyi
compare QRELS THREE --rank-by R@100,Width@100 --orderings PEOPLE
order QRELS BOOLEAN --format table --depth 2
order QRELS BOOLEAN --rename DOCUMENT=zzz --topic 401 --depth 2
filter QRELS BM25 -q --threshold 10
filter QRELS BM25 --sweep
filter QRELS BM25 --curve interpolated
filter QRELS BM25 BOOLEAN --hull 25 --docs 500
filter QRELS BM25 BOOLEAN --train BM25 --train BOOLEAN --train-qrels QRELS -q
filter QRELS BM25 --train BM25 --train-qrels QRELS --by utility
filter QRELS BM25 --stream --window 3
filter QRELS BM25 BOOLEAN --compare
explain QRELS BM25 --rows 2
explain QRELS BOOLEAN --topic 401 -m nDCG@5 --rows 2
design QRELS RUNS
design QRELS RUNS --table measures|sizes|anova|variances|mixed|asl
replicate QRELS BM25 BOOLEAN --with OTHERS -q
pool RUNS --depth 20
pool RUNS --qrels QRELS --leave-out --team A=bm25,boolean
pool THREE --qrels QRELS --leave-out --team A=bm25,boolean --table curve|runs|teams|topics|overview|left_out|frame
unjudged QRELS THREE -m AP -m Rprec
unjudged QRELS THREE -m AP -m Rprec --table scores|judged|topics
budget QRELS RUNS --baseline bm25 --judges QRELS -m 'AP Rprec P@10' --samples 100
budget QRELS BM25 --rel-level 3 --grade 3 --samples 100 -m P@10
budget QRELS THREE -m 'AP Rprec' --samples 100 --table runs|pairs|remedies|documents
gate QRELS BM25 BM25|BOOLEAN|HYBRID --floor 'AP >= 0.3'
gate QRELS BM25 BM25|BOOLEAN|HYBRID --format markdown --ties robust --equivalence --slices LABELS
gate QRELS BM25 BM25|BOOLEAN|HYBRID -m Noise@10 --test bootstrap --samples 100 --alpha 0.001
gate QRELS BM25 BM25|BOOLEAN|HYBRID -m RR --max-drop 0.95 --test randomization --ties realistic,optimistic
gate QRELS BM25 BM25|BOOLEAN|HYBRID --min-topics 40
gate QRELS HYBRID BM25 --floor 'AP >= 0.3'
report QRELS RUNS -o page.html
report QRELS RUNS --baseline bm25 -m Noise@10 -o page.html
report QRELS BM25 --documents 0 -o page.html
plot asl|at-k|budget|curve|filters|measures|reversals QRELS RUNS -o page.json
plot stream|systems|ties|topics|scatter|recall|tie-groups QRELS RUNS -o page.json
plot curve QRELS BM25 --topic 401 --f-lines -o page.json
plot recall QRELS BM25 -m MOR -o page.json
plot threshold QRELS BM25 -o page.json
plot threshold QRELS RUNS -m Utility -o page.json
plot stream QRELS BM25 --topic 401 --window 5 -o page.json
plot filters QRELS BM25 --topic 401 -o page.json
plot tie-groups QRELS BOOLEAN -o page.json
plot ties QRELS RUNS -m NumRelRet -o page.json
plot single -o page.json
""".strip().splitlines()


def written(line: str, sample: Sample, folder: Path) -> Iterator[list[str]]:
    """Yield the commands of a line, with files where it has words in capitals."""
    qrels, runs = sample
    files = {Path(path).stem.upper(): [path] for path in runs}
    topics = sorted({each.split()[0] for each in Path(qrels).read_text(encoding="utf-8").splitlines()})
    labels, people = folder / "labels.txt", folder / "people.txt"
    labels.write_text("".join(f"{topic} {'AB'[at % 9 > 6]}\n" for at, topic in enumerate(topics)), encoding="utf-8")
    people.write_text("".join(f"{each} {Path(path).stem} 1\n" for each in "abc" for path in runs), encoding="utf-8")
    files |= {"QRELS": [qrels], "RUNS": runs, "THREE": runs[:3], "OTHERS": runs[2:4]}
    files |= {"LABELS": [str(labels)], "PEOPLE": [str(people)], "PLACE": [str(folder / "experiments")]}
    files |= {name: [str(folder / name)] for name in ("page.html", "page.json")}
    document = Path(runs[1]).read_text(encoding="utf-8").split()[2]
    for words in product(*(each.split("|") for each in shlex.split(line.replace("DOCUMENT", document)))):
        yield [file for each in words for file in files.get(each, [each])]


#: What has no `--lang` and is English always.
ENGLISH_COMMANDS = {"check", "collection", "measures", "metadata", "search", "trec_eval"}

#: Words of heads and cells that no French table has; options keep their names.
ENGLISH_WORD = re.compile(
    r"\b(the|of|with|and|by|is|are|ties?|topics?|relevant|better|worse|none|neither|measures?|rank|judged|mean|low|high|"
    r"realistic|conventional|optimistic|expected|yes|no|undefined|difference|corrected|recall|precision|threshold|"
    r"same|reversed|window|chosen|win|draw|judges)\b"
)
OPTION = re.compile(r"--\w+( \w+(, \w+)*)?|exaequo plot ties")


@cache
def english() -> list[tuple[str, re.Pattern[str]]]:
    """Return what English sentences of three words or more look like, whatever their values are, and a part of each."""
    long = {key.strip() for key in said() if len(re.findall(r"[a-z]{2,}", re.sub("{.*?}", "", key))) > 2}
    form = {key: re.sub(r"\\{.*?\\}", ".{1,40}?", re.escape(key)) for key in long}
    return [(max(re.split("{.*?}", key), key=len), re.compile(form[key])) for key in sorted(long)]


def in_english(text: str) -> list[str]:
    """Return the English sentences of a text. Few of their parts are in it, and looking for these is quick."""
    return [found[0] for part, form in english() if part in text and (found := form.search(text))]


def shown(path: Path) -> str:
    """Return what people see of a file: of a page all but its scripts."""
    text = path.read_text(encoding="utf-8")
    return re.sub("<script.*?</script>|<style.*?</style>", "", text, flags=re.DOTALL)


@pytest.fixture
def unknown(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return a set that fills with what is said in another language and has no translation."""
    found: set[str] = set()
    asked = language._found

    def note(parts: tuple[str, ...], english: str) -> str:
        if spoken() != "en" and not any(english in sentences(spoken()).get(part, ()) for part in parts):
            found.add(english)
        return asked(parts, english)

    monkeypatch.setattr(language, "_found", note)
    return found


@pytest.mark.parametrize("line", COMMANDS)
def test_results_are_french(
    line: str,
    sample: Sample,
    tmp_path: Path,
    unknown: set[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("exaequo.read.collection.read_collection", lambda _: little(), raising=False)
    for arguments in written(line, sample, tmp_path):
        codes = CODES.values() if arguments[0] == "gate" else (0,)
        assert run([*arguments, "--lang", "fr"]) in codes, arguments
        text = capfd.readouterr().out
        for folder in (Path(sample[0]).parent, tmp_path):
            text = text.replace(str(folder), "")
        assert not in_english(text), (arguments, in_english(text))
        assert not ENGLISH_WORD.search(OPTION.sub("", text)), (arguments, ENGLISH_WORD.search(OPTION.sub("", text)))
        assert not re.search(r"\d\.\d{4}\b", text), arguments  # decimals have commas
        for path in tmp_path.glob("page.*"):
            assert not in_english(shown(path)), (path, in_english(shown(path)))
    assert spoken() == "en"
    assert {text for text in unknown if not SYMBOL.fullmatch(text)} == set()


def test_english_is_recognised() -> None:
    assert in_english("hybrid is better than bm25 on AP: +0.1")


def test_other_commands_are_english() -> None:
    silent = {name for name, each in app.commands.items() if "lang" not in {option.name for option in each.params}}
    assert silent == ENGLISH_COMMANDS


DATA = [
    *(["eval", "--format", form, "--ties", "all"] for form in ("csv", "json", "trec")),
    *(["compare", "--format", form, "--table", "pairs"] for form in ("csv", "json")),
    *(["ties", "--format", form, "--table", "conclusions"] for form in ("csv", "json")),
    *(["design", "--format", form, "--table", "anova"] for form in ("csv", "json")),
    *(["filter", "--format", form] for form in ("csv", "json")),
    *(["unjudged", "--format", form, "--table", "scores"] for form in ("csv", "json")),
    *(["budget", "--format", form, "--table", "runs", "--samples", "100"] for form in ("csv", "json")),
]


@pytest.mark.parametrize("arguments", DATA, ids=" ".join)
def test_data_are_the_same_in_all_languages(
    arguments: list[str], sample: Sample, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [arguments[0], sample[0], *sample[1][:3], *arguments[1:]]
    assert run(command) == 0
    usual = capfd.readouterr()
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    for more in ([], ["--lang", "fr"]):
        assert run([*command, *more]) == 0
        assert capfd.readouterr() == usual


@pytest.mark.parametrize("form", ["json", "junit", "github"])
def test_what_programs_read_of_a_gate_is_english(form: str, sample: Sample, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["gate", sample[0], *sample[1][:2], "--floor", "AP >= 0.3", "--format", form]
    found = []
    for lang in LANGUAGES:
        assert run([*command, "--lang", lang]) == CODES["undecided"]
        found.append(capfd.readouterr())
    assert "undecided: -0.2333 (-53.3 %" in found[0].out
    assert found[0] == found[1]


def test_a_gate_in_french(sample: Sample, capfd: pytest.CaptureFixture[str]) -> None:
    lacking = Path(sample[0]).parent / "lacking.txt"
    lines = Path(sample[1][0]).read_text(encoding="utf-8").splitlines(keepends=True)
    lacking.write_text("".join(line for line in lines if not line.startswith("401 ")), encoding="utf-8")
    run(["gate", sample[0], sample[1][0], str(lacking), "--format", "markdown", "--lang", "fr"])
    lacking.unlink()
    text = capfd.readouterr().out
    assert text.startswith("## Qualité de la recherche : indécis\n")
    assert "prudence : il manque au candidat 1 thème sur 25, compté comme une liste vide" in text
    assert "perte permise 5\u00a0% = 0,0280 (t, 25 thèmes)" in text
    assert "Thèmes qui ont le plus perdu :" in text


def test_the_data_in_a_page_are_english(sample: Sample, tmp_path: Path) -> None:
    found = {}
    for lang in ("en", "fr"):
        path = tmp_path / f"{lang}.html"
        assert run(["report", sample[0], *sample[1][:3], "-o", str(path), "--lang", lang]) == 0
        page = path.read_text(encoding="utf-8")
        assert f'<html lang="{lang}">' in page
        parts = dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', page, re.DOTALL))
        assert ("words" in parts) == (lang == "fr")
        found[lang] = json.loads(parts["data"])
        assert found[lang].pop("latex")
    assert found["en"] == found["fr"]
    words = json.loads(parts["words"])
    assert words["decimal"] == ","
    assert words["said"]["{low} to {high}"] == "de {low} à {high}"
    assert words["said"]["realistic"] == "réaliste"


def test_of_a_study_the_page_alone_is_french(
    sample: Sample, tmp_path: Path, unknown: set[str], capfd: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "archive"
    for name, runs in (("of/the", sample[1]), ("of/rank", sample[1][:3]), ("precision/mean", sample[1][2:])):
        (archive / name / "runs").mkdir(parents=True)
        for path in (sample[0], *runs):
            shutil.copy(path, archive / name / ("" if path == sample[0] else "runs"))
    (archive / "of" / "the" / "runs" / "broken.txt").write_text("one two\n", encoding="utf-8")
    said, files = {}, {}
    for lang, jobs in ("en", 2), ("fr", 1):
        place = tmp_path / lang
        command = ["study", str(archive), "-m", "AP", "-m", "RR", "-m", "P@5", "--jobs", str(jobs)]
        assert run([*command, "-o", str(place), "--lang", lang]) == 1  # a file is broken
        said[lang] = capfd.readouterr().out
        files[lang] = {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        assert f'<html lang="{lang}">' in files[lang].pop(Path("index.html")).decode()
    assert files["en"] == files["fr"]  # what is kept of runs, too
    page = re.sub("<section id=.broken.*?</section>", "", shown(tmp_path / "fr" / "index.html"), flags=re.DOTALL)
    assert in_english(said["en"])
    for text in (said["fr"], page):
        assert not in_english(text), in_english(text)
        assert not re.search(r">[^<]*\d\.\d", re.sub("<svg.*?</svg>|<footer.*", "", text, flags=re.DOTALL))
    assert "jusqu'à 50,0\u00a0% des conclusions" in said["fr"]
    assert "<td>of</td><td>the</td>" in page  # names stay
    assert "<td>(toutes)</td><td>(moyenne)</td>" in page
    assert "`trouvés : ${total}`" in (tmp_path / "fr" / "index.html").read_text(encoding="utf-8")
    assert {text for text in unknown if not SYMBOL.fullmatch(text)} == set()


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({"LANG": "fr_FR.UTF-8"}, "fr"),
        ({"LANG": "fr_FR.UTF-8", "LC_MESSAGES": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "fr_CA"}, "fr"),
        ({"LANG": "fr", "LC_ALL": ""}, "fr"),
        ({"LANG": "C", "LC_MESSAGES": "C.UTF-8"}, "en"),
        ({"LANG": "frr_DE.UTF-8"}, "en"),  # North Frisian
        ({}, "en"),
    ],
)
def test_the_locale_says_the_language(
    environment: dict[str, str],
    lang: str,
    sample: Sample,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert of_locale() == lang
    mark = {"en": "25 topics", "fr": "25 thèmes"}
    command = ["eval", sample[0], sample[1][0]]
    for more, spoken_ in ([], lang), (["--lang", "en"], "en"), (["--lang", "fr"], "fr"):
        assert run([*command, *more]) == 0
        assert mark[spoken_] in capfd.readouterr().out


# --------------------------------------------------------------------------------------------------------- from Python


def test_a_language_is_spoken_inside_its_context_alone() -> None:
    qrels, runs = exaequo.sample()
    with speaking("fr"):
        french = exaequo.compare(qrels, runs[:2], "AP").verdicts
        with pytest.raises(BadParameter, match=r"lang must be one of en, fr\. Got 'xx'"), speaking("xx"):
            pass
        assert spoken() == "fr"
    assert spoken() == "en"
    assert french[0].startswith("les ex aequo décident entre boolean et bm25 selon AP")
    assert exaequo.compare(qrels, runs[:2], "AP").verdicts[0].startswith("ties decide between boolean and bm25 on AP")
    with pytest.raises(ZeroDivisionError), speaking("fr"):
        raise ZeroDivisionError
    assert spoken() == "en"


def test_words_and_numbers() -> None:
    assert say("{n:,} {n:topic|topics}", n=1234) == "1,234 topics"
    assert (word("better"), strategy("realistic"), number("1,234.5")) == ("better", "realistic", "1,234.5")
    with speaking("fr"):
        assert [say("{n:,} {n:topic|topics}", n=n) for n in (0, 1, 2)] == ["0 thème", "1 thème", "2 thèmes"]
        assert say("{n:,} {n:topic|topics}", n=1234) == "1\u00a0234 thèmes"
        assert say("{old} is called {new}", old="1.5", new="{old}") == "1.5 s'appelle {old}"  # names are not numbers
        assert say(" ({gain:+.1f} %)", gain=-2.25) == " (-2,2\u00a0%)"
        assert (word("better"), strategy("realistic"), number("1,234.5")) == ("meilleur", "réaliste", "1\u00a0234,5")
        assert (word("no such word"), say("no such sentence")) == ("no such word", "no such sentence")


def test_a_blank_that_does_not_break_stands_in_numbers_alone() -> None:
    assert on_one_line("1\u00a0234 thèmes, 95\u00a0%") == "1\u00a0234 thèmes, 95\u00a0%"
    assert on_one_line("bm25\u00a0") == r"bm25\xa0"
    assert on_one_line("a\u00a0b 1\u00a02\x1b") == "a\\xa0b 1\u00a02\\x1b"


def test_a_sum_with_terms_below_zero(sample: Sample, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", sample[0], sample[1][0], "-m", "gm(AP)", "--rows", "1", "--lang", "fr"]) == 0
    text = capfd.readouterr().out.replace("\n", " ")
    total = re.search(r"Au total : (.*) = −[\d,]+", text)
    assert total
    first, *others = total[1].split(" + ")
    assert re.fullmatch(r"−\d,\d+", first)
    assert all(re.fullmatch(r"\(−\d,\d+\)|… \(\d+ autres\) …", each) for each in others)


def test_english_reads_no_file(sample: Sample) -> None:
    for lang in LANGUAGES:
        asked = ["eval", sample[0], sample[1][0], "--lang", lang]
        code = f"from exaequo.cli import run; run({asked!r}); from exaequo.language import sentences as read"
        code += "; print(read.cache_info().currsize)"
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert (out.splitlines()[-1] == "0") == (lang == "en")
