"""What to type to install an extra, for messages about a package that is missing.

novikoff is installed from a clone, a wheel or an address of git, so `pip install 'novikoff[plot]'` would find nothing,
or something else. pip notes where a package came from (PEP 610, direct_url.json); the message names that place if it
still exists.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from novikoff import __version__

__all__ = ["explain_missing", "suggest_install"]


def explain_missing(needs: str, package: str, extra: str) -> str:
    """Return the message for a package that is missing: what needs it, and how to install the extra that has it.

    >>> explain_missing("--plot", "matplotlib", "plot")  # doctest: +ELLIPSIS
    '--plot needs matplotlib. Install the extra "plot"...pip install ...[plot]...'
    """
    return f'{needs} needs {package}. Install the extra "{extra}"{suggest_install(extra)}'


def suggest_install(extra: str) -> str:
    """Return the command that installs an extra from where novikoff came from, after ": "; or, if that is not known,
    what to type in a clone and with a wheel.
    """
    target = _origin(extra)
    if target is not None:
        return f": {_pip()} install {target}"
    wheel = f"novikoff-{__version__}-py3-none-any.whl"
    return f'. From a clone: pip install ".[{extra}]"; from a wheel: pip install "{wheel}[{extra}]"'


def _origin(extra: str) -> str | None:
    """Return what to install, as an argument for the shell; None if novikoff came from an index, or from files that are
    gone."""
    try:
        noted = metadata.distribution("novikoff").read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # run from a folder of sources
        return None
    if noted is None:
        return None
    origin: dict[str, Any] = json.loads(noted)
    address = origin["url"]
    if urlsplit(address).scheme != "file":
        vcs = origin.get("vcs_info")
        return _quote(f"novikoff[{extra}] @ {vcs['vcs']}+{address}" if vcs else f"novikoff[{extra}] @ {address}")
    path = Path(url2pathname(urlsplit(address).path))
    if not path.exists():
        return None
    return ("--editable " if origin.get("dir_info", {}).get("editable") else "") + _quote(f"{path}[{extra}]")


def _pip() -> str:
    """Return the command that starts the pip of this Python: `pip` itself where the shell would find that one."""
    here = Path(sys.executable).parent
    found = shutil.which("pip")
    if find_spec("pip") is None or (found is not None and Path(found).parent == here):
        return "pip"
    near = os.path.relpath(sys.executable)
    return f"{shlex.quote(sys.executable if near.startswith(os.pardir) else near)} -m pip"


def _quote(argument: str) -> str:
    """Quote for the shell: by double quotes, which all shells know, where these protect every character."""
    return shlex.quote(argument) if set(argument) & set('"$`\\!') else f'"{argument}"'
