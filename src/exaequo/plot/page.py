"""What keeps a page to itself: its policy, data inside a script element, and a picture as a page of its own.

Names come from files of strangers. Nothing in them is ever part of a script: data stand apart from code, and the policy
lets run only the scripts whose hashes it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from exaequo.language import say, spoken

#: Vega's interpreter of expressions (`ast`) needs no `eval`, which the policy forbids. Of its menu only the pictures
#: are left: its views of the source write names into a window as HTML, and its editor lies elsewhere.
_DRAW = """
const spec = JSON.parse(document.getElementById("spec").textContent);
const actions = { export: true, source: false, compiled: false, editor: false };
vegaEmbed("#chart", spec, { renderer: "svg", ast: true, actions }).catch(console.error);
"""


def page(spec: dict[str, Any], library: str) -> str:
    """Return a specification as HTML; `library` is the JavaScript that draws it and goes into the page."""
    return f"""<!DOCTYPE html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(library, _DRAW)}">
<title>{say("Chart")}</title>
</head>
<body>
<div id="chart"></div>
<script type="application/json" id="spec">{embedded(spec)}</script>
<script>{library}</script>
<script>{_DRAW}</script>
</body>
</html>
"""


def policy(*scripts: str) -> str:
    """Return a Content-Security-Policy under which only these scripts run and nothing is loaded or sent."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; object-src 'none'; base-uri 'none'; "
        "form-action 'none'"
    )


def embedded(data: Any) -> str:
    """Return JSON that can stand inside a script element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
