"""Lines: pieces of a source that end where a line ends, and threads that read ahead; what readers of text share."""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from novikoff.errors import DataError
from novikoff.kernels.text import powers_of_five
from novikoff.streams.sources import Source

__all__ = [
    "LONGEST_LINE",
    "Piece",
    "count",
    "in_parallel",
    "is_text",
    "line_at",
    "pieces_of",
    "powers",
    "read_ahead",
    "require_text",
]

LONGEST_LINE = 1 << 26  # bytes
_BOM = b"\xef\xbb\xbf"

S = TypeVar("S")
T = TypeVar("T")


@functools.cache
def powers() -> np.ndarray:
    """The table that kernels read numbers with, made once, in milliseconds."""
    return powers_of_five()


@dataclass(frozen=True)
class Piece:
    """Whole lines: their text, in memory that kernels take for writable, and the number of the first, from 1."""

    text: bytearray
    line: int


def pieces_of(source: Source) -> Iterator[Piece]:
    """Cut a source where lines end, as soon as a line has ended; only the last line of all may lack its end.

    Examples
    --------
    >>> from novikoff.streams.lines import pieces_of
    >>> from novikoff.streams.sources import Source
    >>> chunks = iter([b"a", b"b\\nc\\nd", b"e", b""])
    >>> for piece in pieces_of(Source("letters", lambda n: next(chunks))):
    ...     print(piece.line, bytes(piece.text))
    1 b'ab\\nc\\n'
    3 b'de'
    """
    pending, line = bytearray(), 1
    is_first = True
    while chunk := source.read():
        end = chunk.rfind(b"\n") + 1
        if end:
            text, pending = bytearray().join((pending, memoryview(chunk)[:end])), bytearray(chunk[end:])
            if is_first:
                text = text.removeprefix(_BOM)
            is_first = False
            if text:
                yield Piece(text, line)
            line += count(text, b"\n")
            del text  # at most two pieces live at a time
            continue
        pending += chunk
        if len(pending) > LONGEST_LINE:
            raise DataError(f"{source.name}:{line}: this line is longer than {LONGEST_LINE >> 20} MB. If it is a "
                            "table, its rows must end in line feeds.")  # fmt: skip
    if is_first:
        pending = pending.removeprefix(_BOM)
    if pending:
        yield Piece(pending, line)
    elif line == 1:
        raise DataError(f"{source.name}: the file is empty.")


def count(text: bytearray, byte: bytes, at: int = 0) -> int:
    """text.count(byte, at), four times as fast, and other threads may run meanwhile."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8)[at:] == ord(byte)))


def line_at(text: bytearray, at: int) -> bytes:
    """The line that begins at a place, with its end."""
    return bytes(text[at : text.find(b"\n", at) + 1 or len(text)])


def is_text(text: bytearray) -> bool:
    """Whether all of it is UTF-8."""
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def require_text(text: bytes, place: str) -> str:
    """A line as a string, or an error that names the byte that is not text."""
    if b"\0" in text:
        raise DataError(f"{place}:{text.index(0) + 1}: not a text file, it contains zero bytes. Export it as text in "
                        "UTF-8.")  # fmt: skip
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{place}:{error.start + 1}: byte 0x{text[error.start]:02x} is not UTF-8. If the file is in "
                        "Latin-1, convert it: iconv -f latin1 -t utf-8.") from error  # fmt: skip


def in_parallel(work: Callable[[S], T], items: Iterator[S], workers: int) -> Generator[T, None, None]:
    """work(item) for every item, in order, several at a time in threads; for work that lets other threads run.

    An exception of `items` reaches the caller after all that came before it. Without workers nothing is asked for
    before it is needed.
    """
    if not workers:
        yield from map(work, items)
        return
    waiting: deque[Future[T]] = deque()
    error: BaseException | None = None
    with ThreadPoolExecutor(workers, "novikoff-parser") as pool:
        while error is None or waiting:
            while error is None and len(waiting) <= workers:
                try:
                    waiting.append(pool.submit(work, next(items)))
                except BaseException as found:
                    error = found
            if waiting:
                yield waiting.popleft().result()
    if not isinstance(error, StopIteration):
        raise error


@dataclass(frozen=True)
class _End:
    error: BaseException | None


def read_ahead(items: Generator[T, None, None], depth: int = 1) -> Generator[T, None, None]:
    """The same items, each made in a thread while the caller is busy with those before it.

    At most `depth` items wait. The thread starts with the first item asked for and ends with the last, or when this
    generator is closed or forgotten; then `items` is closed too. An exception of `items` reaches the caller.
    """
    ready: SimpleQueue[T | _End] = SimpleQueue()
    room = threading.Semaphore(depth)
    stop = threading.Event()
    threading.Thread(target=_fill, args=(items, ready, room, stop), name="novikoff-reader", daemon=True).start()
    try:
        while not isinstance(item := ready.get(), _End):
            room.release()
            yield item
            del item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        room.release()


def _fill(
    items: Generator[T, None, None], ready: SimpleQueue[T | _End], room: threading.Semaphore, stop: threading.Event
) -> None:
    error = None
    try:
        while room.acquire() and not stop.is_set():
            ready.put(next(items))
    except StopIteration:
        pass
    except BaseException as found:
        error = found
    finally:
        items.close()
        ready.put(_End(error))
