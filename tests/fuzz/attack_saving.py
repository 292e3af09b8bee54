"""Faults while a model is saved: errors, interrupts, kills and corrupted writes at every call.

After every fault the file is the old one or the new one to the last byte, it loads, and no temporary file remains
(except after a kill, when no code can remove it). A save that ends without an error has written the new file.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import novikoff as nk
from novikoff.errors import ModelFileError
from novikoff.system import atomic_files
from tests.support.forks import call_in_fork

_CALLS = ("open", "stat", "fstat", "fsync", "fchmod", "fchown", "listxattr", "access", "replace", "dup")
_ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EINTR, errno.EPERM, errno.ELOOP)
_MAX_CALLS = 24  # of a save, and a few more


def attack(rng: np.random.Generator) -> int:
    """Save each model over another with a random fault at a random call."""
    cases = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for make in _MODELS:
            path = _make_path(folder, rng)
            make(rng).save(path)
            path.chmod(int(rng.choice([0o600, 0o640, 0o644])))
            new = make(rng)
            expected = _content_of(new, folder)
            for _ in range(6):
                _check_one_fault(path, new, expected, rng)
                cases += 1
            _empty(folder)
    return cases


def _check_one_fault(path: Path, model: Any, expected: bytes, rng: np.random.Generator) -> None:
    before, mode = path.read_bytes(), stat.S_IMODE(path.stat().st_mode)
    kind = rng.choice(["error", "interrupt", "memory", "short", "corrupt", "kill"])
    at = int(rng.integers(_MAX_CALLS))
    if kind == "kill":
        is_done = _call_in_child(lambda: _faulty_save(path, model, kind, at, rng))
        for temporary in path.resolve().parent.glob(".*"):
            temporary.unlink()
    else:
        is_done = _faulty_save(path, model, kind, at, rng)
    found, case = path.read_bytes(), f"{kind} at call {at}"
    assert found in (before, expected), f"{case}: the file is neither the old nor the new one"
    assert found == expected or not is_done, f"{case}: saved without an error, but the old file is there"
    assert stat.S_IMODE(path.stat().st_mode) == mode, f"{case}: the permissions have changed"
    assert not list(path.resolve().parent.glob(".*")), f"{case}: a temporary file is left"
    nk.load(path)


def _faulty_save(path: Path, model: Any, kind: str, at: int, rng: np.random.Generator) -> bool:
    """Save with a fault; return whether it ended without an error. An error must name the path, no temporary file."""
    fault = _Fault(kind, at, int(rng.choice(_ERRORS)), rng)
    try:
        with fault.patched():
            model.save(path)
    except ModelFileError as error:
        message = str(error)
    except (KeyboardInterrupt, MemoryError):
        return False
    else:
        return True
    assert str(path) in message, message
    assert f".{path.resolve().name}." not in message, message
    return False


class _Fault:
    """A fault at one of the calls of a save."""

    def __init__(self, kind: str, at: int, number: int, rng: np.random.Generator) -> None:
        self.kind, self.left, self.number, self.rng = kind, at, number, rng

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Patch the functions that a save calls."""
        write = io.FileIO.write
        names = [name for name in _CALLS if hasattr(os, name)]
        patches = [mock.patch.object(os, name, self._wrap(getattr(os, name))) for name in names]
        patches.append(
            mock.patch.object(atomic_files._PathNamingFile, "write", lambda file, data: self._write(file, data, write))
        )
        for patch in patches:
            patch.start()
        try:
            yield
        finally:
            for patch in patches:
                patch.stop()

    def _wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*arguments: Any, **options: Any) -> Any:
            if self.kind not in ("short", "corrupt") and self._is_due():
                self._raise()
            return call(*arguments, **options)

        return faulty

    def _write(self, file: Any, data: Any, write: Callable[..., int]) -> int:
        with atomic_files.name_path_in_errors(file._path):
            content = bytearray(data)
            if self.kind == "corrupt":  # by a faulty disk
                content[int(self.rng.integers(len(content)))] ^= 1 << int(self.rng.integers(8))
            elif self.kind == "short":  # the system may write less than it was given, and returns how much
                content = content[: 1 + int(self.rng.integers(len(content)))]
            elif self._is_due():
                write(file, content[: int(self.rng.integers(len(content)))])
                self._raise()
            return write(file, content)

    def _is_due(self) -> bool:
        self.left -= 1
        return self.left == -1

    def _raise(self) -> None:
        if self.kind == "interrupt":
            raise KeyboardInterrupt
        if self.kind == "memory":
            raise MemoryError
        if self.kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(self.number, os.strerror(self.number))


def _call_in_child(work: Callable[[], bool]) -> bool:
    """Call a function in another process, which may be killed by it; return whether it was not."""
    ending = call_in_fork(lambda: _require(work()))
    assert ending in (0, -signal.SIGKILL), f"the child ended with {ending}"
    return ending == 0


def _require(is_done: bool) -> None:
    assert is_done


def _make_path(folder: Path, rng: np.random.Generator) -> Path:
    """Return a path to save to: a file, or a link to one in another folder."""
    path = folder / "m.nk"
    if rng.random() < 0.5:
        (folder / "other").mkdir()
        path.symlink_to(Path("other", "target.nk"))
    return path


def _empty(folder: Path) -> None:
    (folder / "m.nk").unlink()
    if (folder / "other").exists():
        (folder / "other" / "target.nk").unlink()
        (folder / "other").rmdir()


def _content_of(model: Any, folder: Path) -> bytes:
    path = folder / "expected.nk"
    model.save(path)
    content = path.read_bytes()
    path.unlink()
    return content


# -- models


def _data(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n = int(rng.integers(4, 30))
    return rng.normal(size=(n, int(rng.integers(1, 5)))), np.arange(n) % 2


def _stream(rng: np.random.Generator) -> Any:
    X, y = _data(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        rows = (",".join([*map(repr, row), f"class {label}"]) for row, label in zip(X.tolist(), y, strict=True))
        path.write_text("\n".join([",".join([*(f"c{k}" for k in range(X.shape[1])), "y"]), *rows, ""]))
        return nk.learn(path)


def _tagger(rng: np.random.Generator) -> Any:
    sentences = [[f"w{k}" for k in rng.integers(0, 9, 4)] for _ in range(5)]
    return nk.SequenceTagger(max_iter=1).fit(sentences, [[f"t{word[-1] > '4'}" for word in each] for each in sentences])


_MODELS: tuple[Callable[[np.random.Generator], Any], ...] = (
    lambda rng: nk.Perceptron(hypothesis="voted", max_iter=3).partial_fit(*_data(rng)),
    lambda rng: nk.KernelPerceptron().partial_fit(*_data(rng)),
    lambda rng: nk.LinearRegressor().fit(*_data(rng)),
    _stream,
    _tagger,
)
