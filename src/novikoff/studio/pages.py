"""Pages of one file: the player with its records inside, which needs no server and asks nobody for anything.

The page is index.html with its style sheet, its modules and its records written into it. The modules are joined in the
order of their imports; their names at top level are all different, so that no import is needed any more.
"""

from __future__ import annotations

import base64
import re
from functools import cache
from importlib import resources
from typing import Any

from novikoff.studio.records import to_bytes

__all__ = ["FIRST_MODULE", "join_modules", "make_page", "read_static"]

FIRST_MODULE = "main.js"
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(?P<name>[a-z_]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class)\b)", re.MULTILINE)


@cache
def read_static(name: str) -> bytes:
    """Return a file of the page."""
    return resources.files("novikoff.studio").joinpath("static", name).read_bytes()


@cache
def join_modules() -> str:
    """Return all modules of the page as one, each after those that it imports."""
    parts: dict[str, str] = {}

    def add(name: str) -> None:
        if name in parts:
            return
        source = read_static(name).decode()
        parts[name] = ""  # modules may import one another
        for imported in _IMPORT.finditer(source):
            add(imported["name"])
        del parts[name]
        parts[name] = f"// {name}\n" + _EXPORT.sub("", _IMPORT.sub("", source))

    add(FIRST_MODULE)
    return "\n".join(parts.values())


def make_page(bundle: dict[str, Any]) -> bytes:
    """Return an HTML page that plays the records of a bundle; see `scenes.make_bundle`."""
    page = read_static("index.html").decode()
    icon = base64.b64encode(read_static("icon.svg")).decode()
    script = join_modules().replace("</script", "<\\/script")
    data = f'<script type="application/json" id="bundle">{to_bytes(bundle).decode()}</script>\n'
    changes = {
        '<link rel="stylesheet" href="static/studio.css">': f"<style>\n{read_static('studio.css').decode()}</style>",
        f'<script type="module" src="static/{FIRST_MODULE}"></script>': data
        + f'<script type="module">\n{script}</script>',
        'href="static/icon.svg"': f'href="data:image/svg+xml;base64,{icon}"',
    }
    for old, new in changes.items():
        assert old in page
        page = page.replace(old, new)
    return page.encode()
