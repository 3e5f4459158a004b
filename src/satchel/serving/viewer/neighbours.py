"""The neighbourhood of a definition as a drawing: who uses it, what it uses, which tests reach it.

Only what was asked for is drawn: one step around the definition, and one more around each neighbour that was
opened. Never the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from satchel.serving.viewer.page import CommandRefused, PageCalls, PageLinks
from satchel.types import Label

_MOST = 12  # neighbours on one side
_MOST_OPEN = 4
_USES = 400
_WIDTH, _HEIGHT, _GAP, _COLUMN = 200, 38, 10, 290  # of a node, and between two


class Neighbour(msgspec.Struct, frozen=True):
    """A definition beside another one: its name, where it is, and whether it is a test."""

    name: str
    path: str
    line: int
    label: str
    is_test: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells the neighbour from others."""
        return self.path, self.name


def draw_neighbours(calls: PageCalls, name: str, opened: Sequence[str], links: PageLinks) -> dict[str, Any]:
    """Return the nodes and lines of the drawing around a name; an error is part of the page."""
    try:
        found = calls.ask("refs", name=name, limit=_USES)
    except CommandRefused as refused:
        return {"error": refused.error}
    if not found["definitions"]:
        return {
            "error": {
                "message": f"{name} is a file or has no definition here",
                "hint": "see its impact below",
            }
        }
    users = users_of(found)
    callers = [one for one in users if not one.is_test]
    tests = [one for one in users if one.is_test]
    used = used_by(calls.ask("refs", name=name, outgoing=True, limit=_USES))
    columns: dict[int, list[tuple[Neighbour, str]]] = {
        -1: [(one, name) for one in [*callers[:_MOST], *tests[: max(3, _MOST - len(callers))]]],
        1: [(one, name) for one in used[:_MOST]],
    }
    for other in list(dict.fromkeys(opened))[:_MOST_OPEN]:
        _open(calls, other, columns)
    drawing = _Drawing(found["definitions"][0], name, columns, links, opened)
    return {
        "error": None,
        "definition": found["definitions"][0],
        "others": found["definitions"][1:],
        "counts": {"callers": len(callers), "tests": len(tests), "used": len(used)},
        **drawing.shapes(),
    }


def users_of(found: Mapping[str, Any]) -> list[Neighbour]:
    """Return the definitions that use a name, each once, nearest file first."""
    own = {item["path"] for item in found["definitions"]}
    rows = [
        Neighbour(
            use["within"] or use["path"].rpartition("/")[2],
            use["path"],
            use["line"],
            use["label"],
            use["in_test"],
        )
        for use in found["references"]
        if use["sure"] and use["label"] != Label.IMPORTS.value
    ]
    return _once(sorted(rows, key=lambda one: (one.path not in own, one.path, one.line)))


def used_by(found: Mapping[str, Any]) -> list[Neighbour]:
    """Return what a definition uses, each once, in the order of its lines."""
    rows = []
    for use in found["references"]:
        if use["label"] == Label.IMPORTS.value:
            continue
        path, _, rest = use["target"].rpartition(":")[0].rpartition(":")
        rows.append(Neighbour(use["target_name"], path, int(rest or 1), use["label"], use["in_test"]))
    return _once(rows)


def _once(rows: Iterable[Neighbour]) -> list[Neighbour]:
    first: dict[tuple[str, str], Neighbour] = {}
    for one in rows:
        first.setdefault(one.key, one)
    return list(first.values())


def _open(calls: PageCalls, name: str, columns: dict[int, list[tuple[Neighbour, str]]]) -> None:
    """Add the neighbours of an opened node to the column beyond its own."""
    for side in (-1, 1):
        if all(one.name != name for one, _ in columns[side]):
            continue
        found = calls.try_to_ask("refs", name=name, outgoing=side == 1, limit=_USES)
        if found is not None:
            further = used_by(found) if side == 1 else users_of(found)
            if further:
                columns.setdefault(2 * side, []).extend((one, name) for one in further[: _MOST // 2])


class _Drawing:
    """Places nodes in columns: users to the left of the definition, what it uses to the right."""

    def __init__(
        self,
        definition: Mapping[str, Any],
        name: str,
        columns: Mapping[int, Sequence[tuple[Neighbour, str]]],
        links: PageLinks,
        opened: Sequence[str],
    ) -> None:
        self._columns = columns
        self._links = links
        self._opened = list(opened)
        self._name = name
        self._height = max([len(own) for own in columns.values()] + [1]) * (_HEIGHT + _GAP) + _GAP
        self._left = min([0, *(column for column, own in columns.items() if own)])
        self._placed: dict[tuple[int, str], tuple[float, float]] = {}
        center = Neighbour(
            definition["qualified_name"], definition["path"], definition["start_line"], definition["kind"]
        )
        self._nodes = [self._node(center, 0, (self._height - _HEIGHT) / 2, "center")]
        self._placed[(0, name)] = self._nodes[0]["x"], self._nodes[0]["y"]

    def shapes(self) -> dict[str, Any]:
        """Return the nodes, the lines between them and the size of the drawing."""
        lines = []
        for column in sorted(self._columns, key=abs):
            own = self._columns[column]
            top = (self._height - len(own) * (_HEIGHT + _GAP) + _GAP) / 2
            for number, (one, parent) in enumerate(own):
                node = self._node(one, column, top + number * (_HEIGHT + _GAP), "test" if one.is_test else "")
                self._nodes.append(node)
                self._placed.setdefault((column, one.name), (node["x"], node["y"]))
                inner = column - (1 if column > 0 else -1)
                start = self._placed.get((inner, parent))
                if start is not None:
                    lines.append(_line(start, (node["x"], node["y"]), column > 0))
        last = max([0, *(column for column, own in self._columns.items() if own)])
        width = (last - self._left) * _COLUMN + _WIDTH + 2
        return {"nodes": self._nodes, "lines": lines, "width": width, "height": round(self._height)}

    def _node(self, one: Neighbour, column: int, y: float, mark: str) -> dict[str, Any]:
        x = (column - self._left) * _COLUMN + 1
        can_open = abs(column) == 1 and one.name not in self._opened and len(self._opened) < _MOST_OPEN
        return {
            "x": x,
            "y": round(y, 1),
            "mark": mark,
            "name": _short(one.name, 25),
            "where": _short(f"{one.path}:{one.line}", 32),
            "title": f"{one.name} {one.label} {one.path}:{one.line}",
            "href": self._links.code(one.path, one.line),
            "center": self._links.page("map", name=one.name),
            "open": self._links.page("map", name=self._name, open=[*self._opened, one.name])
            if can_open
            else "",
            "plus": x + _WIDTH + 9 if column > 0 else x - 9,
        }


def _line(start: tuple[float, float], end: tuple[float, float], rightwards: bool) -> str:
    """Return a curve from the side of one node to the side of another."""
    (x1, y1), (x2, y2) = start, end
    x1, x2 = (x1 + _WIDTH, x2) if rightwards else (x1, x2 + _WIDTH)
    middle = (x1 + x2) / 2
    y1, y2 = y1 + _HEIGHT / 2, y2 + _HEIGHT / 2
    return f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"…{text[-most + 1 :].lstrip('.')}"
