"""The log of queries: what was asked and what became of it, beside the index, if the user wants one.

It never leaves the machine. Secrets and paths are taken out of a question before it is written.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from satchel.plugins import late
from satchel.tokenizers import CharsPerToken

if TYPE_CHECKING:
    from satchel.engine import Engine
    from satchel.walking import redaction
else:
    redaction = late("satchel.walking.redaction")  # only a question that is written down needs it

FILE = "queries.jsonl"
MOST_BYTES = 1024 * 1024  # then the older half goes
_LONGEST_QUERY = 400  # characters: an issue report is not kept whole
_MOST_SHOWN = 10
_PATH = re.compile(
    r"(?:[A-Za-z]:[\\/]|[~.]{0,2}[\\/])?(?:[^\s\"'`()<>\[\],;:\\/]+[\\/])+[^\s\"'`()<>\[\],;:\\/]*"
)


class Asked(msgspec.Struct, frozen=True):
    """One question: what of it may be kept, how many pieces answered it, and what that took and saved."""

    at: int
    action: str
    query: str
    found: int
    ms: float
    tokens_saved: int


class QueryStats(msgspec.Struct, frozen=True):
    """The log in numbers. `tokens_saved` is what the cited files have beyond the answers, by 4 characters."""

    asked: int
    without_answer: int
    p50_ms: float
    p95_ms: float
    tokens_saved: int
    unanswered: list[str]


def record(engine: Engine, action: str, query: Any, response: Any, started: float) -> None:
    """Append a query to the log, if the user wants one and there is a query."""
    path = _file(engine)
    if path is None or not engine.options.query_log or not isinstance(query, str) or not query.strip():
        return
    data = msgspec.to_builtins(response)
    cited = set(_cited(data))
    asked = Asked(
        at=int(time.time()),
        action=action,
        query=scrubbed(query),
        found=len(cited),
        ms=round((time.perf_counter() - started) * 1000, 1),
        tokens_saved=_saved(engine, {file for file, _ in cited}, data),
    )
    _append(path, msgspec.json.encode(asked) + b"\n")


def summary(engine: Engine) -> QueryStats | None:
    """Return the log of the index of an engine in numbers; None if there is none."""
    path = _file(engine)
    asked = list(_read(path)) if path is not None else []
    if not asked:
        return None
    times = sorted(one.ms for one in asked)
    unanswered = [one.query for one in reversed(asked) if not one.found]
    return QueryStats(
        asked=len(asked),
        without_answer=len(unanswered),
        p50_ms=_quantile(times, 0.5),
        p95_ms=_quantile(times, 0.95),
        tokens_saved=sum(one.tokens_saved for one in asked),
        unanswered=list(dict.fromkeys(unanswered))[:_MOST_SHOWN],
    )


def scrubbed(query: str) -> str:
    """Return a query without secrets and paths, on one line."""
    text = _PATH.sub("«path»", redaction.redact(query).text)
    return " ".join(text.split())[:_LONGEST_QUERY]


def _cited(data: Any) -> Iterator[tuple[str, int]]:
    """Yield every citation in an answer: file and first line."""
    if isinstance(data, dict):
        file, line = data.get("path", data.get("file")), data.get("start_line", data.get("line_start"))
        if isinstance(file, str) and isinstance(line, int):
            yield file, line
        data = data.values()
    elif not isinstance(data, (list, tuple)):
        return
    for item in data:
        yield from _cited(item)


def _saved(engine: Engine, files: set[str], data: Any) -> int:
    """Return how many tokens the cited files have beyond the answer."""
    snapshot = engine.snapshot()
    whole = sum(record.size for file in files if (record := snapshot.file(file)) is not None)
    return max(0, (whole - len(msgspec.json.encode(data))) // CharsPerToken.USUAL)


def _file(engine: Engine) -> Path | None:
    """Return the file of the log, beside the index; None where a link there could lead elsewhere."""
    folder = engine.store.scratch
    if folder is None or folder.is_symlink() or (folder / FILE).is_symlink():
        return None
    return folder / FILE


def _append(path: Path, line: bytes) -> None:
    """Append a line in one write, so that lines of several processes do not mix."""
    try:
        if path.exists() and path.stat().st_size > MOST_BYTES:
            _halve(path)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
    except OSError:  # a log that cannot be written must not cost an answer
        return


def _halve(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    partial.write_bytes(b"".join(lines[len(lines) // 2 :]))
    os.replace(partial, path)


def _read(path: Path) -> Iterator[Asked]:
    """Yield the lines of the log that can be read: one that a crash cut short is left out."""
    try:
        data = path.read_bytes()
    except OSError:
        return
    for line in data.splitlines():
        try:
            yield msgspec.json.decode(line, type=Asked)
        except msgspec.DecodeError:
            continue


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
