"""The house rules that a linter cannot see."""

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import novikoff as nk
from tests import tree

SOURCE = Path(nk.__file__).parent
MODULES = ["novikoff", *(found.name for found in pkgutil.walk_packages(nk.__path__, "novikoff."))]
MODULES = [name for name in MODULES if not name.endswith("__main__")]  # importing it runs it
HEAVY = "numba", "sklearn", "scipy", "pandas", "matplotlib"


def loaded_by(code):
    """Which heavy packages a fresh Python has loaded after some code."""
    tail = f"\nimport sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code + tail], capture_output=True, text=True, check=True)
    return ast.literal_eval(run.stdout.splitlines()[-1])


def test_import_is_cheap():
    assert loaded_by("import novikoff; novikoff.__version__; dir(novikoff)") == []
    assert "sklearn" in loaded_by("import novikoff; novikoff.Perceptron")  # the probe can see them


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_is_cheap(option):
    pytest.importorskip("novikoff.cli")
    assert loaded_by(f"from novikoff.cli import main\ntry: main([{option!r}])\nexcept SystemExit: pass") == []


@pytest.mark.parametrize("module", MODULES)
def test_modules(module):
    """Each says what it is for; what it exports is there, and says so too."""
    found = importlib.import_module(module)
    assert found.__doc__
    for name in getattr(found, "__all__", []):
        value = getattr(found, name)
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value):
            assert value.__doc__, f"{module}.{name}"
            assert not value.__doc__.startswith(f"{name}("), f"{module}.{name} has only the docstring of a dataclass"


@pytest.mark.parametrize("name", nk.__all__)
def test_public_names(name):
    assert getattr(nk, name) is not None
    assert name in dir(nk)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="nonsense"):
        nk.nonsense  # noqa: B018


@pytest.mark.parametrize("name", [name for name in nk.__all__ if inspect.isclass(getattr(nk, name))])
def test_public_methods_have_docstrings(name):
    found = getattr(nk, name)
    for method, value in vars(found).items():
        if not method.startswith("_") and inspect.isfunction(value):
            assert value.__doc__ or method in ("copy",), f"{name}.{method}"


def imports_of(path):
    """What a file imports, by the full names of modules; those from a parent folder start with a dot."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


LOOPS = SOURCE / "_compiled" / "loops"
HAND_WRITTEN = {"llvmlite", "novikoff._compiled.llvm"}
MORE_IMPORTS = {
    "simd.py": HAND_WRITTEN,
    "columns.py": HAND_WRITTEN | {"ctypes", "novikoff._compiled.jit", "novikoff._compiled.switches"},
    "dicts.py": {"novikoff._compiled.pyobjects"},
    "step_size.py": {"novikoff.rules"},  # whose formulas it compiles
    "stateful_formulas.py": {"collections.abc", "math", "novikoff.stateful_rules"},
}


@pytest.mark.parametrize("path", sorted(LOOPS.glob("*.py")), ids=lambda path: path.name)
def test_loops_import_only_each_other(path):
    allowed = {"__future__", "math", "numpy", "typing", "novikoff._compiled", *MORE_IMPORTS.get(path.name, ())}
    assert imports_of(path) <= allowed | {f"novikoff._compiled.loops.{other.stem}" for other in LOOPS.glob("*.py")}


def test_a_loop_is_compiled_anew_when_a_file_behind_it_changes(tmp_path):
    """numba looks at the file of the loop alone; _compiled adds those that it imports from, near and far."""
    (tmp_path / "far.py").write_text(
        "from novikoff._compiled import inlined\n@inlined\ndef far(x):\n    return x + 1\n"
    )
    (tmp_path / "near.py").write_text(
        "from far import far\nfrom novikoff._compiled import inlined\n@inlined\ndef near(x):\n    return 10 * far(x)\n"
    )
    (tmp_path / "top.py").write_text(
        "from near import near\nfrom novikoff._compiled import loop\n@loop\ndef top(x):\n    return near(x)\n"
        "print(top(1))\n"
    )

    def run():
        done = subprocess.run([sys.executable, "top.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    assert run() == "20\n"
    (tmp_path / "far.py").write_text(
        "from novikoff._compiled import inlined\n@inlined\ndef far(x):\n    return x + 20\n"
    )
    assert run() == "210\n"


def test_only_compiled_imports_numba():
    importers = {path.parent.name for path in SOURCE.rglob("*.py") if "numba" in imports_of(path)}
    assert importers == {"_compiled"}


def test_both_copies_of_a_constant_agree():
    """rules.py may not import the loops (they need numba), so it repeats one number of theirs."""
    from novikoff import rules
    from novikoff._compiled.loops import rows

    assert rules.SMALLEST_SQUARED_NORM == rows.SMALLEST_SQUARED_NORM


def test_contributing_has_the_tree():
    assert tree.tree() in tree.PAGE.read_text(), "run `python -m tests.tree`"
