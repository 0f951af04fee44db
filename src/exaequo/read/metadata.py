"""The header of a run: YAML in comments at the head of the file (ir_metadata). In: bytes. Out: its text, or a dict."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from exaequo.errors import BadParameter, ExaequoError, bad_input
from exaequo.read.source import is_packed, load
from exaequo.read.trec import quoted

START, END = "# ir_metadata.start", "# ir_metadata.end"
#: The release of the schema that these functions were written for.
SCHEMA = 0.1
#: A header has at most so many bytes.
LONGEST = 1_000_000
#: What PyYAML raises at values that are not what their tag says, such as `!!int ""`.
_STUMBLES = (LookupError, AttributeError, OverflowError)
_START = re.compile(rb"#[ \t]*ir_metadata\.start[ \t]*\r?\n")
_END = re.compile(rb"^#[ \t]*ir_metadata\.end[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_COMMENTS = re.compile(rb"(?:#[^\n]*(?:\n|\Z)|[ \t\r]*\n)*")


def header_of(data: bytes, name: str) -> tuple[str, int]:
    """Return the text of the header that a file begins with, and the place of the first byte after it; else nothing."""
    start = _START.match(data)
    if start is None:
        return "", 0
    comments = _COMMENTS.match(data, 0, LONGEST)
    last = comments.end() if comments else 0
    end = _END.search(data, start.end(), last)
    if end is None:
        if last >= LONGEST:
            raise bad_input(name, f"a header of more than {LONGEST:,} bytes", "less", "Shorten it.", line=1)
        found = "the header that begins in line 1 has no end above this line"
        raise bad_input(name, found, repr(END), "Add that line below the header.", line=data.count(b"\n", 0, last) + 1)
    text = data[start.end() : end.start()].decode(errors="replace").replace("\r", "")
    return dedent("\n".join(line.removeprefix("#").rstrip(" \t") for line in text.split("\n"))), end.end()


def parse_metadata(text: str, name: str, above: int = 1) -> dict[str, Any]:
    """Read the text of a header, which begins after so many lines; nothing but plain values is ever made of it."""
    if len(text) > LONGEST:
        raise bad_input(name, f"a header of {len(text):,} characters", f"{LONGEST:,} at most", "Shorten it.")
    yaml = _yaml()

    class Plain(yaml.SafeLoader):  # type: ignore[misc, name-defined]
        """YAML without aliases, which make small files large, and without keys that stand twice."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                where = self.peek_event().start_mark
                raise yaml.MarkedYAMLError(problem="an alias", problem_mark=where)
            return super().compose_node(parent, index)

        def compose_mapping_node(self, anchor: Any) -> Any:
            found, known = super().compose_mapping_node(anchor), set[str]()
            for key, _ in found.value:
                if isinstance(key, yaml.ScalarNode) and key.value in known:
                    raise yaml.MarkedYAMLError(
                        problem=f"{quoted(key.value)} is here twice", problem_mark=key.start_mark
                    )
                known.add(str(key.value))
            return found

    try:
        found = yaml.load(text, Plain)
        repr(found)  # a number of thousands of digits cannot be written
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = None if mark is None else mark.line + 1 + above
        found = f"the header is no plain YAML ({error.problem})"
        raise bad_input(name, found, "keys and values", "Mend the header.", line=line) from None
    except (yaml.YAMLError, RecursionError, ValueError, *_STUMBLES) as error:
        found = f"the header is no plain YAML ({quoted(str(error) or 'too deep')})"
        raise bad_input(name, found, "keys and values", "Mend the header.") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise bad_input(name, f"the header is {type(found).__name__}", "keys and values", "Mend the header.")
    return found


def read_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what the header of a run says (`-` is standard input); an empty dict if there is none."""
    data, source = load(os.fspath(path))
    text, _ = header_of(data, source.name)
    return parse_metadata(text, source.name)


def write_metadata(
    run: str | os.PathLike[str], metadata: Mapping[str, Any] | str, output: str | os.PathLike[str]
) -> None:
    """Write a run with this header, keys and values or YAML, in place of its own; its lines stay as they are."""
    data, source = load(os.fspath(run))
    refuse_packed(output)
    from exaequo.writing import write_whole

    write_whole(os.fspath(output), with_header(data, metadata, source.name))


def refuse_packed(path: str | os.PathLike[str]) -> None:
    """Refuse to write plain text under a name that says it is packed."""
    if is_packed(path):
        raise BadParameter(f"The run is written as plain text. Got {os.fspath(path)!r}; leave out the last ending.")


def with_header(data: bytes, metadata: Mapping[str, Any] | str, name: str) -> bytes:
    """Return the bytes of a run with this header in place of its own."""
    text = metadata if isinstance(metadata, str) else dump(metadata)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")
    parse_metadata("\n".join(lines), name, above=0)
    head = "\n".join([START, *(f"# {line}".rstrip(" ") for line in lines), END, ""]).encode()
    whole = head + data[header_of(data, name)[1] :]
    if header_of(whole, name)[1] != len(head):
        raise BadParameter(f"A header cannot have a line {END.removeprefix('# ')!r}.")
    return whole


def dump(metadata: Mapping[str, Any]) -> str:
    """Return keys and values as YAML, in their order."""
    yaml = _yaml()
    try:
        text: str = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=LONGEST)
    except yaml.YAMLError as error:
        raise BadParameter(f"A header holds plain values only: {error}") from None
    return text


def plain_values(value: Any) -> Any:
    """Return what a header says as JSON can hold it: dates and the like as text."""
    if isinstance(value, dict):
        return {str(key): plain_values(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain_values(inner) for inner in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise ExaequoError("The header of a run needs PyYAML: pip install 'exaequo[metadata]'") from None
    return yaml
