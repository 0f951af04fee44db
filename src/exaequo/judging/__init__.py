"""Judging: a pool and a collection in, a record of who gave which grade out, and qrels that say where they come from.

`pool` says what there is to judge, `record` keeps decisions, `server` is the page for people and `guard` its door,
`programs` asks programs, `agreement` and `effects` compare assessors, `exporting` writes qrels.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

from exaequo.errors import ExaequoError
from exaequo.judging.exporting import Judgment, judgments, write_qrels
from exaequo.judging.pool import Work, work_of
from exaequo.judging.programs import Asked, ask
from exaequo.judging.record import Record

__all__ = ["Asked", "Judgment", "Record", "Work", "ask", "judgments", "serve", "work_of", "write_qrels"]


def serve(
    work: Work,
    record: Record,
    *,
    port: int = 0,
    seed: int = 0,
    name: str = "",
    ready: Callable[[str], None],
) -> None:
    """Serve the judging page on this machine alone until interrupted; `ready` gets its link."""
    try:
        import uvicorn

        from exaequo.judging.server import application
    except ImportError:
        raise ExaequoError("The judging page needs a web server: pip install 'exaequo[judge]'") from None
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        why = error.strerror or error
        raise ExaequoError(f"--port {port}: cannot be used ({why}); expected a free one. Leave it out.") from None
    with listening:
        at, token = listening.getsockname()[1], secrets.token_urlsafe(32)
        app = application(work, record, token=token, port=at, seed=seed, name=name)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            proxy_headers=False,
            timeout_graceful_shutdown=2,
        )
        ready(f"http://127.0.0.1:{at}/?token={token}")
        try:
            uvicorn.Server(config).run(sockets=[listening])
        except KeyboardInterrupt:  # the way to end it
            return
