"""The judging page: `Work` and a `Record` in, a small web application out, for the people at this machine alone."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from exaequo.errors import BadParameter
from exaequo.judging import agreement
from exaequo.judging.guard import Guard, body
from exaequo.judging.pool import Pair, Work
from exaequo.judging.record import Record
from exaequo.language import marks, number, say, speaking, spoken, template
from exaequo.plot.page import embedded
from exaequo.tabular import plain

_LONGEST_NAME, _LONGEST_NOTE, _DAY = 60, 4000, 86_400.0
#: Disagreements sent at once.
_SHOWN = 200
#: Words that mean nothing by themselves are not marked in documents.
_COMMON = frozenset(
    "a an and are as at be by for from how in is it of on or that the this to was what when where which who why will "
    "with au aux ce ces dans de des du elle en est et il ils la le les leur ne ou par pas pour qu que qui se son sur "
    "un une".split()
)


def application(work: Work, record: Record, *, token: str, port: int, seed: int = 0, name: str = "") -> ASGIApp:
    """Return the application; `name` is what an assessor is called unless another name is given."""
    pages = _Pages(work, record, seed, name)
    routes = [
        *(Route(path, pages.page) for path in ("/", "/judge", "/agreement")),
        Route("/page.{kind:str}", pages.asset),
        Route("/item", pages.item),
        Route("/decide", pages.decide, methods=["POST"]),
        Route("/undo", pages.undo, methods=["POST"]),
        Route("/agreed", pages.agreed),
        Route("/settle", pages.settle, methods=["POST"]),
    ]
    handlers: Mapping[Any, Any] = {HTTPException: _told, BadParameter: _refused, sqlite3.Error: _failed}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token=token, port=port)


async def _told(_: Request, error: Any) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


async def _refused(_: Request, error: Any) -> Response:
    return JSONResponse({"error": str(error)}, 409)


async def _failed(_: Request, error: Any) -> Response:
    return JSONResponse({"error": f"the record cannot be written ({error})"}, 500)


class _Pages:
    """What the routes answer. All run on one thread, one after the other; a decision is on disk when it is answered."""

    def __init__(self, work: Work, record: Record, seed: int, name: str) -> None:
        self.work, self.record, self.name, self.lang = work, record, name, spoken()
        self.order = lru_cache(64)(lambda assessor: work.order(assessor, seed))
        folder = files(__package__)
        self.parts = {kind: folder.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html.j2", "css", "js")}
        environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
        self.template = environment.from_string(self.parts["html.j2"])

    # ------------------------------------------------------------------------------------------------------------ pages

    def _page(self, view: str, name: str, status: int = 200, **more: Any) -> Response:
        with speaking(self.lang):
            said = {text: template(text) for text in re.findall(r'\bsay\("([^"]*)"', self.parts["js"])}
            words = embedded({"said": said, "decimal": marks()[0], "grades": self.record.grades})
            return HTMLResponse(
                self.template.render(
                    view=view,
                    name=name,
                    lang=self.lang,
                    say=say,
                    words=words,
                    grades=self.record.grades,
                    size=number(f"{self.work.size:,}"),
                    **more,
                ),
                status,
            )

    async def page(self, request: Request) -> Response:
        """Show a topic beside a document, or how far assessors agree; ask who it is, if that is not known."""
        view = request.url.path.removeprefix("/")
        problem, status = "", 200
        if view:
            try:
                return self._page(view, self._assessor(request.query_params))
            except HTTPException as error:
                problem, status = error.detail, error.status_code
        known = self.record.work().filter(kind="person").select("assessor", "judged").rows()
        return self._page("entrance", self.name, status, known=known, problem=problem)

    async def asset(self, request: Request) -> Response:
        """Give the style or the script."""
        kinds = {"css": "text/css", "js": "text/javascript"}
        kind = request.path_params["kind"]
        if kind not in kinds:
            raise HTTPException(404, "there is no such page")
        return Response(self.parts[kind], media_type=kinds[kind])

    # ------------------------------------------------------------------------------------------------------------- data

    def _assessor(self, given: Mapping[str, Any]) -> str:
        """Return the name of an assessor."""
        name = given.get("as")
        name = name.strip(" ") if isinstance(name, str) else ""
        if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
            raise HTTPException(400, f"expected a name of 1 to {_LONGEST_NAME} letters")
        if self.record.kinds().get(name) == "program":
            raise HTTPException(409, "a program has this name; choose another")
        return name

    def _pair(self, given: Mapping[str, Any]) -> Pair:
        pair = (given.get("qid"), given.get("docno"))
        if not all(isinstance(each, str) for each in pair) or pair not in self.work:
            raise HTTPException(404, "this document is not in the pool")
        return str(pair[0]), str(pair[1])

    def _grade(self, given: Mapping[str, Any]) -> int | None:
        grade = given.get("grade")
        if grade is not None and (type(grade) is not int or grade not in self.record.grades):
            raise HTTPException(422, f"the grade must be one of {', '.join(map(str, self.record.grades))}")
        return grade

    async def item(self, request: Request) -> Response:
        """Give the document at a place in the order of an assessor, or the first that is left."""
        name, at = self._assessor(request.query_params), request.query_params.get("at")
        if at is not None and not (at.isascii() and at.isdecimal() and len(at) < 10 and int(at) < self.work.size):
            raise HTTPException(404, "there is no such document")
        return JSONResponse(self._item(name, None if at is None else int(at)))

    def _item(self, name: str, at: int | None = None, after: int = -1) -> dict[str, Any]:
        order, states = self.order(name), self.record.states(name)
        graded = {pair for pair, state in states.items() if state.grade is not None}
        if at is None:
            at = _next(
                [pair in graded for pair in order], [pair in states and states[pair].skipped for pair in order], after
            )
        qid, docno = order[at]
        state = self.record.state(name, (qid, docno))
        return {
            "at": at,
            "of": len(order),
            "done": sum(pair in graded for pair in order),
            "pace": self.record.pace(name),
            "topic": self.work.topics[qid],
            "words": _words(self.work.topics[qid]["title"]),
            "document": self.work.documents[docno],
            "grade": state.grade,
            "note": state.note,
            "skipped": state.skipped,
        }

    async def decide(self, request: Request) -> Response:
        """Keep a grade, a note or that a document is put off, and give the next one."""
        given = await body(request)
        name, pair, grade = self._assessor(given), self._pair(given), self._grade(given)
        skip, note, seconds = given.get("skip", False), given.get("note"), given.get("seconds", 0)
        if type(skip) is not bool or (note is not None and (type(note) is not str or len(note) > _LONGEST_NOTE)):
            raise HTTPException(422, f"skip is true or false, a note has at most {_LONGEST_NOTE} letters")
        if type(seconds) not in (int, float) or not 0 <= seconds <= _DAY:
            raise HTTPException(422, "seconds must be a number from 0 to those of a day")
        if grade is None and note is None and not skip:
            raise HTTPException(422, "expected a grade, a note, or skip")
        self.record.decide(name, pair, grade=grade, note=note, skip=skip, seconds=seconds)
        at = self.order(name).index(pair)
        return JSONResponse(self._item(name, after=at) if grade is not None or skip else self._item(name, at))

    async def undo(self, request: Request) -> Response:
        """Take the last decision back, and give its document."""
        name = self._assessor(await body(request))
        pair = self.record.undo(name)
        if pair is None:
            raise HTTPException(409, "there is nothing to undo")
        return JSONResponse(self._item(name, self.order(name).index(pair) if pair in self.work else None))

    async def agreed(self, request: Request) -> Response:
        """Give progress, agreement, and the disagreements about documents this assessor has judged."""
        name = self._assessor(request.query_params)
        judged = self.record.judged()
        every = agreement.disagreements(judged, self.record.settled())
        shown = agreement.seen_by(every, set(judged.filter(assessor=name).select("qid", "docno").iter_rows()))
        places = {pair: at for at, pair in enumerate(self.order(name))}
        for each in shown:
            each["at"] = places.get((each["qid"], each["docno"]))
        content = {
            "work": self.record.work().to_dicts(),
            "agreement": agreement.agreement(judged, list(self.record.kinds())).to_dicts(),
            "disagreements": shown[:_SHOWN],
            "more": len(shown) - len(shown[:_SHOWN]),
            "hidden": len(every) - len(shown),
            "of": self.work.size,
        }
        return JSONResponse(plain(content))

    async def settle(self, request: Request) -> Response:
        """Keep what assessors have settled on, or open it again."""
        given = await body(request)
        name, pair, grade = self._assessor(given), self._pair(given), self._grade(given)
        self.record.settle(name, pair, grade)
        return JSONResponse({"settled": grade})


def _next(graded: list[bool], skipped: list[bool], after: int) -> int:
    """Return the next place without a grade, from `after` on and around; what was put off comes last."""
    size = len(graded)
    turn = [(after + 1 + step) % size for step in range(size)]
    left = [at for at in turn if not graded[at]]
    return next((at for at in left if not skipped[at]), left[0] if left else max(after, 0))


def _words(title: str) -> list[str]:
    return sorted({word for word in re.findall(r"\w+", title.casefold()) if len(word) > 1 and word not in _COMMON})
