"""A treemap: rectangles whose areas are sizes, as square as they can be, folders around what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

_Thing = TypeVar("_Thing")


class Box(NamedTuple):
    """A rectangle on the page."""

    x: float
    y: float
    width: float
    height: float

    def inside(self, edge: float, head: float) -> Box:
        """Return the rectangle inside of this one, below a head and within an edge."""
        return Box(
            self.x + edge,
            self.y + head,
            max(0.0, self.width - 2 * edge),
            max(0.0, self.height - head - edge),
        )


class Placed(NamedTuple, Generic[_Thing]):
    """A thing and its rectangle."""

    thing: _Thing
    box: Box


def lay_out(things: Sequence[tuple[_Thing, float]], box: Box) -> list[Placed[_Thing]]:
    """Return a rectangle for each thing, with an area in proportion to its size; the largest come first.

    Things are laid in rows along the shorter side, each row as long as its rectangles become more square by
    one thing more (the squarified layout of Bruls, Huizing and van Wijk).
    """
    left = [(thing, size) for thing, size in things if size > 0]
    total = sum(size for _, size in left)
    if not left or box.width <= 0 or box.height <= 0:
        return []
    scale = box.width * box.height / total
    areas = [(thing, size * scale) for thing, size in left]
    placed: list[Placed[_Thing]] = []
    while areas:
        row = _row(areas, min(box.width, box.height))
        box = _place(row, box, placed)
        areas = areas[len(row) :]
    return placed


def _row(areas: Sequence[tuple[_Thing, float]], side: float) -> Sequence[tuple[_Thing, float]]:
    """Return the things of the next row: as many as keep its worst rectangle from becoming worse."""
    count = 1
    while count < len(areas) and _worst(areas[: count + 1], side) <= _worst(areas[:count], side):
        count += 1
    return areas[:count]


def _worst(row: Sequence[tuple[_Thing, float]], side: float) -> float:
    """Return the largest ratio of the sides of a rectangle in a row."""
    total = sum(area for _, area in row)
    least, most = min(area for _, area in row), max(area for _, area in row)
    return max(side * side * most / (total * total), total * total / (side * side * least))


def _place(row: Sequence[tuple[_Thing, float]], box: Box, placed: list[Placed[_Thing]]) -> Box:
    """Place a row along the shorter side of a rectangle; return what is left of the rectangle."""
    total = sum(area for _, area in row)
    if box.width >= box.height:
        width, y = total / box.height, box.y
        for thing, area in row:
            placed.append(Placed(thing, Box(box.x, y, width, area / width)))
            y += area / width
        return Box(box.x + width, box.y, max(0.0, box.width - width), box.height)
    height, x = total / box.width, box.x
    for thing, area in row:
        placed.append(Placed(thing, Box(x, box.y, area / height, height)))
        x += area / height
    return Box(box.x, box.y + height, box.width, max(0.0, box.height - height))
