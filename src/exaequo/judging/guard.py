"""Who may talk to the judging page: requests in, those of its own pages let through, all others refused.

The page is for this machine. A stranger's page in the same browser can send requests here too; it knows neither the
token, nor can it name another origin than its own, nor read an answer.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Bytes of a request; a note fits, a document does not.
LARGEST = 65_536
#: Seconds that the body of a request may take; that of a page comes at once.
PATIENCE = 10.0
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
#: Shown once, when the link is opened: a page of ours that leads on brings the cookie along, a redirection may not.
_OPENED = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>…</title>'
)


class Guard:
    """Lets through what comes from the page itself, with the token, in good form; adds the headers that protect it."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.cookie = f"exaequo_judge_{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
            await send(message)

        await (self._answer(Request(scope)) or self.app)(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """Return the answer to what is not let through, and to the link that brings the token."""
        if request.headers.get("host") not in self.hosts:  # a stranger's name that was made to lead here
            return _refused(403, "this is not the host of the page")
        if request.method == "POST" and (why := self._foreign(request.headers)):
            return _refused(*why)
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and self._is_token(given):
            opened = HTMLResponse(_OPENED)
            opened.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
            return opened
        if not self._is_token(request.cookies.get(self.cookie, "")):
            return _refused(403, "open the link that the command printed")
        return None

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())

    def _foreign(self, headers: Headers) -> tuple[int, str] | None:
        """Say why a write is none of our own pages': its origin, its form, its size."""
        if headers.get("origin") != f"http://{headers['host']}":
            return 403, "only the page itself may write"
        if headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403, "only the page itself may write"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "expected JSON"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST:
            return 413, f"expected at most {LARGEST:,} bytes"
        return None


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status)


async def body(request: Request) -> Mapping[str, Any]:
    """Return the JSON object of a request, of limited size whatever its head says, if it comes in time."""
    data = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                data += part
                if len(data) > LARGEST:
                    raise HTTPException(413, f"expected at most {LARGEST:,} bytes")
    except TimeoutError:
        raise HTTPException(408, f"expected the whole request within {PATIENCE:g} seconds") from None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is no JSON") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "expected a JSON object")
    return found
