"""The page Code: a folder, or a file at any commit with its outline, and who uses a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from satchel.serving.viewer.code_lines import code_lines
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery
from satchel.types import LineRange

LINES_AT_ONCE = 2_000
_MOST_ENTRIES = 2_000  # of a folder
_USES = 200


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return what the page shows of a path: a folder, or a file around the asked lines."""
    path, ref = query.text("path"), query.text("ref")
    at = {"ref": ref} if ref else {}
    shown: dict[str, Any] = {
        "path": path,
        "ref": ref,
        "parts": _parts(path),
        "name": query.text("name"),
        "uses": None,
    }
    if shown["name"]:
        shown["uses"] = _uses(calls, shown["name"], at)
    if not path or path.endswith("/"):
        return {**shown, "folder": _folder(calls, path, at), "head": ""}
    known = calls.ask("files", path_prefix=path, limit=1, fast=True, **at)["files"]
    if not known or known[0]["path"] != path:
        if known:  # a folder without its slash
            return {**shown, "path": f"{path}/", "folder": _folder(calls, path, at), "head": ""}
        raise CommandRefused({"message": f"{path} is not in the index", "hint": ""})
    return {**shown, **_file(calls, known[0], query, at), "folder": None, "head": _head(calls)}


def _parts(path: str) -> list[tuple[str, str]]:
    """Return the folders of a path and the path itself, each with its name."""
    names = [name for name in path.split("/") if name]
    return [
        (name, "/".join(names[: number + 1]) + ("/" if number + 1 < len(names) or path.endswith("/") else ""))
        for number, name in enumerate(names)
    ]


def _folder(calls: PageCalls, path: str, at: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries of a folder, folders first."""
    found = calls.ask("files", path_prefix=path, depth=1, limit=_MOST_ENTRIES, fast=True, **at)
    entries = sorted(found["files"], key=lambda item: (not item["path"].endswith("/"), item["path"]))
    prefix = path.rstrip("/") + "/" if path else ""
    rows = [{"files": 1, **entry, "name": entry["path"].removeprefix(prefix)} for entry in entries]
    return {"entries": rows, "total": found["total"]}


def _file(
    calls: PageCalls, known: Mapping[str, Any], query: PageQuery, at: Mapping[str, str]
) -> dict[str, Any]:
    """Return the lines of a file around those that are asked for, and its outline."""
    path, count = known["path"], known["lines"]
    marked = _asked_lines(query.text("lines"))
    start = max(1, query.number("from", _window_start(marked, count)))
    end = min(count, start + LINES_AT_ONCE - 1)
    got = calls.ask("get", ids=[f"{path}:{start}:{end}"], **at) if count else {"chunks": []}
    chunk: dict[str, Any] = got["chunks"][0] if got["chunks"] else {"text": "", "start_line": 1}
    outline = calls.try_to_ask("symbols", name=path, limit=2_000, **at)
    return {
        "file": known,
        "chunk": chunk,
        "lines": code_lines(path, chunk["text"], chunk["start_line"], marked),
        "marked": marked[0] if marked else None,
        "before": start > 1 and max(1, start - LINES_AT_ONCE),
        "after": end < count and end + 1,
        "outline": _nested(outline["symbols"]) if outline else [],
    }


def _asked_lines(written: str) -> list[LineRange]:
    """Return the lines that an address asks for, as `12` or `12-20`; none if it says something else."""
    first, _, last = written.partition("-")
    if not first.isdecimal() or len(first) > 8 or (last and not (last.isdecimal() and len(last) <= 8)):
        return []
    return [(int(first), max(int(first), int(last or first)))]


def _window_start(marked: Sequence[LineRange], count: int) -> int:
    if not marked or count <= LINES_AT_ONCE:
        return 1
    return max(1, min(marked[0][0] - LINES_AT_ONCE // 4, count - LINES_AT_ONCE + 1))


def _nested(symbols: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the symbols of a file with how deep each is nested."""
    rows: list[dict[str, Any]] = []
    open_ends: list[int] = []
    for symbol in sorted(symbols, key=lambda one: (one["start_line"], -one["end_line"])):
        while open_ends and open_ends[-1] < symbol["start_line"]:
            open_ends.pop()
        rows.append({**symbol, "depth": min(len(open_ends), 4)})
        open_ends.append(symbol["end_line"])
    return rows


def _uses(calls: PageCalls, name: str, at: Mapping[str, str]) -> dict[str, Any]:
    """Return the definitions and sure uses of a name, by file; or why there are none."""
    try:
        found = calls.ask("refs", name=name, limit=_USES, **at)
    except CommandRefused as refused:
        return {"name": name, "error": refused.error}
    by_file: dict[str, list[Mapping[str, Any]]] = {}
    for use in found["references"]:
        by_file.setdefault(use["path"], []).append(use)
    return {**found, "by_file": by_file, "error": None}


def _head(calls: PageCalls) -> str:
    """Return the commit of the work tree, for a link that stays true; empty without git."""
    found = calls.try_to_ask("status")
    return str(found["project_watermark"].get("git_head") or "") if found else ""


PAGE = Page("code", "Code", "code.html", view)
