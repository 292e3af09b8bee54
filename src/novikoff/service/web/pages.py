"""Pages for people: the reference of the calls, and the live page. They load nothing from anywhere else."""

from __future__ import annotations

import html
import json
from typing import Any

__all__ = ["LIVE_PAGE", "SECURITY_HEADERS", "docs_page"]

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
code, pre { font-family: ui-monospace, monospace; font-size: 14px; }
pre { background: #f4f4f4; padding: .7rem; overflow-x: auto; }
summary { cursor: pointer; padding: .3rem 0; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem 1.2rem .15rem 0; }
.method { display: inline-block; width: 3.5rem; font-weight: 600; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } pre { background: #262626; } }
"""


def docs_page(document: dict[str, Any]) -> str:
    """Return an OpenAPI document as a page."""
    title = html.escape(f"{document['info']['title']} {document['info']['version']}")
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"]
    parts.append(f"<h1>{title}</h1><p>{html.escape(document['info']['description'])}</p>")
    parts.append('<p>The same as a document: <a href="/openapi.json">openapi.json</a></p>')
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(_operation(path, method, operation))
    parts.append("<h2>Types</h2>")
    for name, schema in document["components"]["schemas"].items():
        parts.append(f"<details><summary><code>{html.escape(name)}</code></summary>{_json(schema)}</details>")
    return "".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    head = f"<span class=method>{method.upper()}</span> <code>{html.escape(path)}</code>"
    text = html.escape(operation.get("description", ""))
    rows = "".join(
        f"<tr><td><code>{html.escape(status)}</code><td>{html.escape(answer['description'])}"
        for status, answer in operation["responses"].items()
    )
    body = operation.get("requestBody")
    given = "" if body is None else f"<p>Body</p>{_json(body['content'])}"
    parameters = operation.get("parameters", [])
    named = "" if not parameters else f"<p>Parameters</p>{_json(parameters)}"
    summary = html.escape(operation["summary"])
    content = f"<p>{text}</p>{named}{given}<table>{rows}</table>"
    return f"<details><summary>{head} &ndash; {summary}</summary>{content}</details>"


def _json(value: Any) -> str:
    return f"<pre>{html.escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"


LIVE_PAGE = f"""<!doctype html><html lang=en><meta charset=utf-8><title>novikoff live</title><style>{_STYLE}</style>
<h1 id=name></h1><p id=state>Connecting.</p><table id=ledger></table><h2>Last labels</h2><table id=labels></table>
<script>
const base = location.pathname.replace(/\\/live$/, "");
document.getElementById("name").textContent = base.split("/").pop();
const state = document.getElementById("state");
function fill(table, rows) {{
  table.replaceChildren(...rows.map(cells => {{
    const row = document.createElement("tr");
    row.append(...cells.map(cell => {{
      const td = document.createElement("td"); td.textContent = cell; return td;
    }}));
    return row;
  }}));
}}
const recent = [];
const source = new EventSource(base + "/events");
source.onopen = () => {{ state.textContent = "Connected."; }};
source.onerror = () => {{ state.textContent = "Disconnected; trying again."; }};
source.addEventListener("ledger", event => {{
  const ledger = JSON.parse(event.data);
  const rows = Object.entries(ledger).filter(([name]) => name !== "windows");
  for (const [size, w] of Object.entries(ledger.windows))
    rows.push(["last " + size, w.mistakes + " mistakes of " + w.served + " served, " + w.updates + " updates"]);
  fill(document.getElementById("ledger"), rows);
}});
source.addEventListener("label", event => {{
  const one = JSON.parse(event.data);
  recent.unshift([one.seq, one.id, one.label, one.mistake === null ? "" : one.mistake ? "mistake" : "right"]);
  recent.length = Math.min(recent.length, 20);
  fill(document.getElementById("labels"), recent);
}});
</script>
"""
