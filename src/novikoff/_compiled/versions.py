"""nk.show_versions: versions, processor, threads, cache folder, and which fast paths are on."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

import numba

from novikoff._compiled.switches import fast_paths

__all__ = ["show_versions", "versions"]

_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "python-flint", "scikit-learn", "pyarrow", "safetensors")


def versions() -> dict[str, str]:
    """Return facts about this installation for bug reports, by name."""
    from llvmlite.binding import get_host_cpu_name

    import novikoff
    from novikoff._compiled import llvm, pyobjects  # noqa: F401 - they note which fast paths are on
    from novikoff._compiled.loops import additive  # noqa: F401 - likewise, for the parts of numba that it uses
    from novikoff.system.threads import n_processors

    facts = {"novikoff": novikoff.__version__, "python": sys.version.split()[0], "system": platform.platform()}
    for package in _PACKAGES:
        try:
            facts[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            facts[package] = "not installed"
    facts["processor"] = f"{get_host_cpu_name()}, {os.cpu_count()} cores"
    facts["threads"] = str(n_processors())
    facts["compiled code"] = numba.config.CACHE_DIR or "beside the source, or in the cache folder of the user"  # type: ignore[attr-defined]
    facts["NOVIKOFF_PLAIN"] = os.environ.get("NOVIKOFF_PLAIN", "not set")
    return facts | fast_paths()


def show_versions() -> None:
    """Print versions, processor, threads, cache folder, and which fast paths are on: for reports of bugs.

    Set the environment variable NOVIKOFF_PLAIN=1 to turn all hand-written code off: results stay the same, and if a
    crash goes away with it, say so in the report.

    Examples
    --------
    >>> import novikoff as nk
    >>> nk.show_versions()  # doctest: +ELLIPSIS
    novikoff ...
    """
    facts = versions()
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")
