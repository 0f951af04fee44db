"""Requests to the judging page that are none of its own: refused, and nothing is changed."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from serving import Served
from waiting import PATIENCE


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    one = Served(tmp_path_factory.mktemp("judging"))
    yield one
    assert one.end() == 0  # Ctrl-C is the way to end it


GOOD = {"as": "eve", "qid": "1", "docno": "d1", "grade": 2, "seconds": 1.5}


def ask(
    served: Served, path: str, content: Any = None, method: str | None = None, **changes: str | None
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Send a request like those of the page, but with some headers changed, or left out (None)."""
    headers: dict[str, str | None] = {
        "Host": served.origin.removeprefix("http://"),
        "Cookie": f"exaequo_judge_{served.port}={served.token}",
        "Origin": served.origin,
        "Content-Type": "application/json",
    }
    headers |= {name.replace("_", "-"): value for name, value in changes.items()}
    data = content if isinstance(content, bytes) else None if content is None else json.dumps(content).encode()
    for _ in range(20):  # a server that refuses before it has read all may reset the connection
        with suppress(ConnectionError):
            return _answer(served, method or ("GET" if data is None else "POST"), path, data, headers)
    raise AssertionError(f"{path}: no answer")


def _answer(
    served: Served, method: str, path: str, data: bytes | None, headers: dict[str, str | None]
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path, skip_host=True)
        for name, value in ({"Content-Length": str(len(data or b""))} | headers).items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(data)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def rows(served: Served) -> list[Any]:
    with sqlite3.connect(served.db) as db:
        found = db.execute("SELECT * FROM decision").fetchall()
    db.close()
    return found


WRONG_WRITES: dict[str, tuple[int, dict[str, Any]]] = {
    "no token": (403, {"Cookie": None}),
    "wrong token": (403, {"Cookie": "exaequo_judge_1=x"}),
    "token of another port": (403, {"Cookie": "exaequo_judge=x"}),
    "wrong host": (403, {"Host": "evil.example"}),
    "wrong host, own origin": (403, {"Host": "evil.example", "Origin": "http://evil.example"}),
    "no host": (400, {"Host": None}),
    "wrong origin": (403, {"Origin": "http://evil.example"}),
    "another port": (403, {"Origin": "http://127.0.0.1:1"}),
    "null origin": (403, {"Origin": "null"}),
    "no origin": (403, {"Origin": None}),
    "cross-site": (403, {"Sec_Fetch_Site": "cross-site"}),
    "same site, not origin": (403, {"Sec_Fetch_Site": "same-site"}),
    "a form": (415, {"Content_Type": "application/x-www-form-urlencoded"}),
    "plain text": (415, {"Content_Type": "text/plain"}),
    "no type": (415, {"Content_Type": None}),
}


@pytest.mark.parametrize("name", WRONG_WRITES)
@pytest.mark.parametrize("path", ["/decide", "/undo", "/settle"])
def test_writes_of_others(served: Served, name: str, path: str) -> None:
    status, changes = WRONG_WRITES[name]
    assert ask(served, path, GOOD, **changes)[0] == status
    assert rows(served) == []


BAD: list[tuple[int, Any]] = [
    (400, b"{"),
    (400, b""),
    (400, b"\xff\xfe"),
    (400, b"[" * 60_000),
    (400, [1]),
    (413, b'{"note": "' + b"x" * 70_000 + b'"}'),
    *((422, {**GOOD, "grade": grade}) for grade in (4, -1, 1.0, "1", True, [1], 10**30)),
    *((404, {**GOOD, "docno": docno}) for docno in ("d9", "", None, 1, ["d1"], "../../etc/passwd", "d6")),
    *((404, {**GOOD, "qid": qid}) for qid in ("9", None, 1)),
    *((400, {**GOOD, "as": name}) for name in ("", "  ", "eve\n", "x" * 61, None, 3, "a\u202eb")),
    *((422, {**GOOD, "seconds": value}) for value in (-1, 1e9, "1", None, True)),
    *((422, {**GOOD, "note": note}) for note in (1, "x" * 5000)),
    (422, {**GOOD, "skip": "yes"}),
    (422, {"as": "eve", "qid": "1", "docno": "d1"}),
]


@pytest.mark.parametrize(("status", "content"), BAD)
def test_bad_decisions(served: Served, status: int, content: Any) -> None:
    found, _, body = ask(served, "/decide", content)
    assert (found, rows(served)) == (status, [])
    assert json.loads(body)["error"]
    if status != 422 or content.get("grade") not in (2, None):  # settling has no seconds, notes or skips
        assert (ask(served, "/settle", content)[0], rows(served)) == (status, [])


def test_not_a_number_is_no_number_of_seconds(served: Served) -> None:
    assert ask(served, "/decide", b'{"as":"eve","qid":"1","docno":"d1","grade":1,"seconds":NaN}')[0] == 422
    assert rows(served) == []


def test_a_size_that_is_not_true(served: Served) -> None:
    """A body in chunks has no size in its head; it is read up to the limit."""
    chunk = b"%x\r\n" % 70_000 + b" " * 70_000 + b"\r\n0\r\n\r\n"
    assert ask(served, "/decide", chunk, Content_Length=None, Transfer_Encoding="chunked")[0] == 413
    assert ask(served, "/decide", b"{}", Content_Length="x")[0] in (400, 413)
    assert rows(served) == []


@pytest.mark.parametrize(
    "path",
    ["/../../etc/passwd", "/page.html.j2", "/page.py", "/page.../record.py", "/%2e%2e/record.py", "/page.", "/x"],
)
def test_there_are_no_other_files(served: Served, path: str) -> None:
    assert ask(served, path)[0] == 404


@pytest.mark.parametrize(
    "path", ["/", "/judge?as=eve", "/agreement?as=eve", "/item?as=eve", "/agreed?as=eve", "/page.js"]
)
def test_reading_needs_the_token_too(served: Served, path: str) -> None:
    assert ask(served, path)[0] == 200
    assert ask(served, path, Cookie=None)[0] == 403
    assert ask(served, path, Host="evil.example")[0] == 403
    assert ask(served, path, method="POST", content={})[0] == 405
    assert ask(served, path, method="DELETE")[0] == 405
    assert ask(served, path.replace("eve", "%20"))[0] == (400 if "eve" in path else 200)
    for at in ("7", "-1", "x", "1e3", "%D9%A3", "99999999999999999999"):
        assert ask(served, f"/item?as=eve&at={at}")[0] == 404


def test_the_headers_keep_the_page_to_itself(served: Served) -> None:
    for path in ("/", "/page.js", "/item?as=eve", "/nothing"):
        headers = ask(served, path)[1]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "server" not in headers
    status, headers, body = ask(served, f"/?token={served.token}", Cookie=None)
    assert status == 200
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(headers["Set-Cookie"].split("; "))
    assert served.token.encode() not in body
    assert ask(served, "/?token=wrong", Cookie=None)[0] == 403
    assert ask(served, "/?token=%ff%00", Cookie=None)[0] == 403


def test_nobody_else_on_the_network_can_ask(served: Served) -> None:
    with socket.socket() as other, pytest.raises(OSError):
        other.settimeout(2)
        other.connect(("127.0.0.2", served.port))


def raw(served: Served, sent: bytes) -> bytes:
    """Send bytes as they are; return what comes back."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as line:
        line.sendall(sent)
        return line.recv(65_536)


def head(served: Served, line: str, **changes: str) -> bytes:
    """Return a head with the token, as a hand would write it."""
    headers = {
        "Host": f"127.0.0.1:{served.port}",
        "Cookie": f"exaequo_judge_{served.port}={served.token}",
        "Origin": served.origin,
        "Content-Type": "application/json",
    } | {name.replace("_", "-"): value for name, value in changes.items()}
    return "".join(f"{each}\r\n" for each in (line, *(f"{k}: {v}" for k, v in headers.items()), "")).encode()


HAND_WRITTEN: dict[str, tuple[str, dict[str, str], tuple[int, ...]]] = {
    "a rebound name": ("GET / HTTP/1.1", {"Host": "rebind.example"}, (403,)),
    "a name with our port": ("GET / HTTP/1.1", {"Host": "rebind.example:{port}"}, (403,)),
    "a name that begins like ours": ("GET / HTTP/1.1", {"Host": "127.0.0.1.evil.example:{port}"}, (403,)),
    "a name that ends like ours": ("GET / HTTP/1.1", {"Host": "evil.example@127.0.0.1:{port}"}, (400, 403)),
    "our address without a port": ("GET / HTTP/1.1", {"Host": "127.0.0.1"}, (403,)),
    "our address, written otherwise": ("GET / HTTP/1.1", {"Host": "2130706433:{port}"}, (403,)),
    "a whole address": ("GET http://evil.example/ HTTP/1.1", {"Host": "evil.example"}, (400, 403)),
    "forwarded": ("GET / HTTP/1.1", {"Host": "evil.example", "X_Forwarded_Host": "127.0.0.1:{port}"}, (403,)),
    "another way to say POST": ("GET /decide HTTP/1.1", {"X_HTTP_Method_Override": "POST"}, (405,)),
    "tracing": ("TRACE / HTTP/1.1", {}, (405,)),
    "a tunnel": ("CONNECT evil.example:443 HTTP/1.1", {}, (400, 404, 405)),
    "putting": ("PUT /decide HTTP/1.1", {}, (405,)),
    "asking what others may": ("OPTIONS /decide HTTP/1.1", {"Access_Control_Request_Method": "POST"}, (405,)),
    "up and away": ("GET /../../../../etc/passwd HTTP/1.1", {}, (404,)),
    "up and away, twice encoded": ("GET /%252e%252e/%252e%252e/etc/passwd HTTP/1.1", {}, (404,)),
    "up from a page": ("GET /page.css/../server.py HTTP/1.1", {}, (404,)),
    "backslashes": ("GET /..\\..\\server.py HTTP/1.1", {}, (400, 404)),
    "an end of text": ("GET /page.css%00.html HTTP/1.1", {}, (404,)),
    "a very long path": ("GET /" + "x" * 70_000 + " HTTP/1.1", {}, (400, 404, 414, 431)),
    "a very long header": ("GET / HTTP/1.1", {"X_Long": "x" * 140_000}, (200, 400, 431)),
    "two lengths": ("POST /decide HTTP/1.1", {"Content_Length": "5\r\nContent-Length: 6"}, (400,)),
    "a length below nothing": ("POST /decide HTTP/1.1", {"Content_Length": "-1"}, (400, 413)),
    "an endless length": ("POST /decide HTTP/1.1", {"Content_Length": "9" * 18}, (413,)),
    "no HTTP": ("hello", {}, (400,)),
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_requests_written_by_hand(served: Served, name: str) -> None:
    line, changes, statuses = HAND_WRITTEN[name]
    given = {key: value.replace("{port}", str(served.port)) for key, value in changes.items()}
    answer = raw(served, head(served, line, **given) + b"\r\n")
    assert int(answer[9:12]) in statuses, answer[:200]
    assert b"access-control-allow" not in answer.lower()
    assert b"root:" not in answer
    assert rows(served) == []
    assert ask(served, "/")[0] == 200  # and it goes on


def test_a_socket_for_the_web_is_not_opened(served: Served) -> None:
    wanted = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Key": "x" * 22 + "==", "Origin": "null"}
    answer = raw(served, head(served, "GET /item?as=eve HTTP/1.1", Sec_WebSocket_Version="13", **wanted) + b"\r\n")
    assert not answer.startswith(b"HTTP/1.1 101")


def test_slow_requests_hold_nobody_up(served: Served) -> None:
    """Heads and bodies that never end: the page answers meanwhile, and a body is waited for a short while only."""
    begun = head(served, "POST /decide HTTP/1.1", Content_Length="50") + b"\r\n{"
    with contextlib.ExitStack() as lines:
        for at in range(60):
            line = lines.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE))
            line.sendall(begun if at % 2 else begun[:40])
        assert ask(served, "/item?as=eve")[0] == 200
        assert line.recv(65_536).startswith(b"HTTP/1.1 408 ")
    assert rows(served) == []


def test_good_requests_are_kept(served: Served) -> None:
    """The last of these: what the ones above changed only a little is fine as it is."""
    status, _, body = ask(served, "/decide", GOOD)
    assert (status, json.loads(body)["done"]) == (200, 1)
    (row,) = rows(served)
    assert row[2:13] == ("eve", "person", "grade", "1", "d1", 2, None, "", 0, 1.5, None)
    assert ask(served, "/undo", {"as": "eve"})[0] == 200
    assert ask(served, "/undo", {"as": "eve"})[0] == 409
    assert len(rows(served)) == 2
