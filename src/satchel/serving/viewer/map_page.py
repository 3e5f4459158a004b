"""The page Map: the repository as a treemap, the neighbours of a definition, and what a change may break."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from satchel.serving.viewer.neighbours import draw_neighbours
from satchel.serving.viewer.page import CommandRefused, Page, PageCalls, PageLinks, PageQuery
from satchel.serving.viewer.treemap import Box, Placed, lay_out
from satchel.wording import counted

_WHOLE = Box(0, 0, 1200, 620)
_HEAD, _EDGE = 17.0, 2.0  # of a folder: the line with its name, and the frame
_MOST_BOXES = 160  # of one folder; the smaller ones are drawn as one
_LEAST_LABEL = (46.0, 13.0)  # of a box that has room for a name
_CHAR = 6.4  # units that a letter of a label takes
_BOLD_CHAR = 7.4  # of the label of a folder
_CAPITAL = 1.25  # of other letters
_CENTRAL = "used_by"
_COLORS = ("language", _CENTRAL, "changes")
_LANGUAGES = 9  # that have a colour of their own
_STEPS = 5
_DIGITS = 6  # to which a logarithm that should be whole is
_MOST_FILES = 100_000


def view(calls: PageCalls, query: PageQuery, links: PageLinks) -> dict[str, Any]:
    """Return the treemap of a folder; with a name or a change, its neighbours and its impact instead."""
    name, diff = query.text("name"), query.text("diff")
    color = query.text("color", _COLORS[0])
    path = query.text("path")
    shown: dict[str, Any] = {
        "name": name,
        "diff": diff,
        "path": path,
        "color": color if color in _COLORS else _COLORS[0],
        "colors": _COLORS,
        "graph": None,
        "impact": None,
        "map": None,
    }
    if name or diff:
        if name and not diff:
            shown["graph"] = draw_neighbours(calls, name, query.many("open"), links)
        shown["impact"] = _impact(calls, name, diff)
        return shown
    return {**shown, "map": _treemap(calls, path, shown["color"], links)}


def _impact(calls: PageCalls, name: str, diff: str) -> dict[str, Any]:
    """Return what may break, by distance; an error is part of the page."""
    try:
        found = calls.ask("impact", diff=diff) if diff else calls.ask("impact", name=name)
    except CommandRefused as refused:
        return {"error": refused.error}
    by_distance: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for item in found["items"]:
        by_distance[item["distance"]].append(item)
    return {**found, "by_distance": dict(by_distance), "error": None}


def _treemap(calls: PageCalls, path: str, color: str, links: PageLinks) -> dict[str, Any]:
    """Return the boxes of a folder: what is in it, and inside each folder what is in that one."""
    prefix = path.strip("/") + "/" if path.strip("/") else ""
    found = calls.ask("files", path_prefix=path, depth=2, limit=_MOST_FILES, fast=color != _CENTRAL)["files"]
    outer: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in found:
        first, _, rest = entry["path"].removeprefix(prefix).partition("/")
        outer[f"{prefix}{first}/" if rest or entry["path"].endswith("/") else entry["path"]].append(entry)
    paint = _Paint(found, color)
    boxes: list[dict[str, Any]] = []
    for placed in _placed(outer.items(), _WHOLE):
        folder, entries = placed.thing
        boxes += _drawn(folder, entries, placed.box, prefix, paint, links)
    return {
        "boxes": boxes,
        "legend": paint.legend,
        "files": sum(entry.get("files", 1) for entry in found),
        "bytes": sum(entry["bytes"] for entry in found),
        "rows": sorted(found, key=lambda entry: (-entry["bytes"], entry["path"]))[:200],
        "parts": _parts(path),
    }


_Group = tuple[str, list[dict[str, Any]]]


def _placed(groups: Iterable[_Group], box: Box) -> list[Placed[_Group]]:
    """Return the boxes of folders and files, the largest first; many small ones share one box."""
    sized = [(group, float(sum(entry["bytes"] for entry in group[1]))) for group in groups]
    sized.sort(key=lambda pair: (-pair[1], pair[0][0]))
    rest = sized[_MOST_BOXES:]
    if rest:
        inside = [entry for (_, entries), _ in rest for entry in entries]
        sized = [*sized[:_MOST_BOXES], (("", inside), sum(size for _, size in rest))]
    return lay_out(sized, box)


def _drawn(
    path: str, entries: Sequence[dict[str, Any]], box: Box, prefix: str, paint: _Paint, links: PageLinks
) -> list[dict[str, Any]]:
    """Return the boxes of one entry of a folder, with what is inside of it."""
    if len(entries) == 1 and (entries[0]["path"] == path or not path):
        return [_box(entries[0], box, prefix, paint, links)]
    if not path:
        return [_rest_box(entries, box, paint)]
    frame = {
        **_geometry(box),
        "class": "frame",
        "label": _label(path.removeprefix(prefix).rstrip("/"), box, is_folder=True, is_head=True),
        "title": f"{path}: {counted(sum(entry.get('files', 1) for entry in entries), 'file')}",
        "href": links.page("map", path=path, color=paint.color),
        "is_folder": True,
    }
    inner = box.inside(_EDGE, _HEAD if frame["label"] else _EDGE)
    groups = [(entry["path"], [entry]) for entry in entries]
    return [
        frame,
        *(
            part
            for placed in _placed(groups, inner)
            for part in _drawn(placed.thing[0], placed.thing[1], placed.box, path, paint, links)
        ),
    ]


def _box(entry: Mapping[str, Any], box: Box, prefix: str, paint: _Paint, links: PageLinks) -> dict[str, Any]:
    path = entry["path"]
    is_folder = path.endswith("/")
    figures = f"{entry['bytes']:,} bytes, {counted(entry['lines'], 'line')}, {entry['language']}"
    used = f", used by {counted(entry['used_by'], 'file')}" if entry.get("used_by") else ""
    changed = f", {counted(entry['changes'], 'change')}" if entry["changes"] else ""
    color, is_deep = paint.of(entry)
    return {
        **_geometry(box),
        "class": color,
        "deep": is_deep,
        "label": _label(path.removeprefix(prefix).rstrip("/"), box, is_folder=is_folder),
        "title": f"{path}: {figures}{used}{changed}",
        "href": links.page("map", path=path, color=paint.color) if is_folder else links.code(path),
        "is_folder": is_folder,
    }


def _rest_box(entries: Sequence[Mapping[str, Any]], box: Box, paint: _Paint) -> dict[str, Any]:
    return {
        **_geometry(box),
        "class": "l0",
        "deep": False,
        "label": "",
        "title": f"{len(entries):,} smaller entries",
        "href": "",
        "is_folder": False,
    }


def _geometry(box: Box) -> dict[str, float]:
    return {name: round(value, 1) for name, value in box._asdict().items()}


def _label(name: str, box: Box, *, is_folder: bool, is_head: bool = False) -> str:
    """Return as much of a name as a box has room for; empty if that is too little."""
    if box.width < _LEAST_LABEL[0] or box.height < (_HEAD + 8 if is_head else _LEAST_LABEL[1]):
        return ""
    room = (box.width - 8) / (_BOLD_CHAR if is_folder else _CHAR)
    ends = list(accumulate(_CAPITAL if char.isupper() else 1.0 for char in name))
    if not ends or ends[-1] <= room:
        return name
    return f"{name[: bisect_right(ends, room - 1)].rstrip('._-')}…"


class _Paint:
    """The colours of a treemap: one for each common language, or steps of a figure."""

    def __init__(self, entries: Sequence[Mapping[str, Any]], color: str) -> None:
        self.color = color
        sizes: Counter[str] = Counter()
        for entry in entries:
            sizes[entry["language"]] += entry["bytes"]
        ranked = sorted(sizes, key=lambda name: (-sizes[name], name))
        self._languages = {name: f"l{number}" for number, name in enumerate(ranked[:_LANGUAGES], 1)}
        self._most = max((entry.get(color, 0) for entry in entries), default=0) if color != "language" else 0

    def of(self, entry: Mapping[str, Any]) -> tuple[str, bool]:
        """Return the class of an entry, and whether it is so dark that its label must be light."""
        if self.color == "language":
            return self._languages.get(entry["language"], "l0"), False
        step = self._step(entry[self.color])
        return f"m{step}", step == _STEPS

    def _step(self, value: int) -> int:
        """Return the step of a value, from 1 on, on a scale of logarithms."""
        if not value or not self._most:
            return 1
        part = math.log1p(value) / math.log1p(self._most)
        return 1 + math.ceil(round((_STEPS - 1) * part, _DIGITS))

    @property
    def legend(self) -> list[tuple[str, str]]:
        """Return the classes and what they mean."""
        if self.color == "language":
            return [(kind, name) for name, kind in self._languages.items()]
        if not self._most:
            return [("m1", "none")]
        bounds = [
            math.floor(round(math.expm1(math.log1p(self._most) * step / (_STEPS - 1)), _DIGITS))
            for step in range(_STEPS)
        ]
        # Where even the largest value is small, no whole number is in some of the steps.
        return [("m1", "none")] + [
            (f"m{step}", f"up to {bound:,}")
            for step, (before, bound) in enumerate(pairwise(bounds), 2)
            if bound > before
        ]


def _parts(path: str) -> list[tuple[str, str]]:
    names = [name for name in path.split("/") if name]
    return [(name, "/".join(names[: number + 1]) + "/") for number, name in enumerate(names)]


PAGE = Page("map", "Map", "map.html", view)
