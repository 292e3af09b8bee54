"""Try a wheel as its users do: install it in a clean environment, and run the README's examples against it.

    python -m tests.packaging.try_wheel dist/novikoff-0.1.0-py3-none-any.whl

The environment is in a new folder outside the clone, with a blank and letters that are not ASCII in its name; it has
only the dependencies that the wheel asks for, in the versions of constraints.txt. `make test-wheel` runs this.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_TRACKED = ["git", "-C", str(ROOT), "ls-files", "-z", "src/novikoff"]


def check_content(wheel: Path) -> int:
    """Check that a wheel has the files of src/novikoff that git knows, its metadata, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        content = {name for name in archive.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(_TRACKED, capture_output=True, text=True, check=True).stdout
    expected = {name.removeprefix("src/") for name in listed.split("\0") if name}
    if content != expected:
        missing, unknown = sorted(expected - content), sorted(content - expected)
        raise SystemExit(f"{wheel.name} lacks {missing} and has {unknown}, which git does not know")
    return len(content)


def check_rebuild(wheel: Path) -> None:
    """Check that the same files give the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder]
        subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
        if (Path(folder) / wheel.name).read_bytes() != wheel.read_bytes():
            raise SystemExit(f"{wheel.name}: built again, it is another file")


class Environment:
    """A virtual environment in which commands run with nothing of the clone on their paths."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "env" / "bin"
        ours = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "NOVIKOFF"))
        }
        search = os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)])
        self.variables = {
            **ours,
            "PATH": search,
            "PIP_CONSTRAINT": (ROOT / "constraints.txt").as_uri(),  # pip splits this variable at blanks
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)

    def run(self, *command: str | Path, code: int = 0) -> str:
        """Run a command in the folder and return what it prints; end with that if its exit code is another."""
        arguments = [str(part) for part in command]
        run = subprocess.run(arguments, capture_output=True, text=True, cwd=self.folder, env=self.variables)
        if run.returncode != code:
            raise SystemExit(f"{' '.join(arguments)}\nends with exit code {run.returncode}:\n{run.stdout}{run.stderr}")
        return run.stdout + run.stderr

    def check_import(self) -> None:
        """Check that novikoff comes from this environment."""
        home = self.run("python", "-c", "import novikoff; print(novikoff.__file__)").strip()
        if not Path(home).is_relative_to(self.folder):
            raise SystemExit(f"novikoff was imported from {home}, and not from the wheel")

    def install_extra_as_printed(self) -> str:
        """Have a command name the extra that it lacks, type what it says, and have it work; return what was typed."""
        plot = ("novikoff", "certify", "mail.csv", "--target", "is_spam", "--plot", "mail.png")
        message = self.run(*plot, code=1)
        found = re.search(r'Install the extra "plot": (.*)', message)
        if found is None:
            raise SystemExit(f"{' '.join(plot)}\nnames no command that installs the extra:\n{message}")
        self.run("sh", "-c", found[1])
        self.run(*plot)
        return found[1]


def try_wheel(wheel: Path) -> None:
    """Try a wheel; print what was tried, or end with what differs."""
    begin = time.monotonic()
    print(f"{wheel.name}: {check_content(wheel)} files, all of src/novikoff that git knows")
    check_rebuild(wheel)
    with tempfile.TemporaryDirectory(prefix="novikoff Übung ") as folder:
        environment = Environment(Path(folder).resolve())
        environment.run("python", "-m", "pip", "install", "--quiet", wheel.resolve())
        environment.check_import()
        for command in (["novikoff"], ["python", "-m", "novikoff"]):
            environment.run(*command, "--version")
        # -P: the folder of the script is not on the path of imports
        print(environment.run("python", "-P", ROOT / "tests" / "docs" / "examples.py", ROOT / "README.md"), end="")
        print(f"extra installed as printed: {environment.install_extra_as_printed()}")
    print(f"wheel: all well, in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    try_wheel(Path(sys.argv[1]))
