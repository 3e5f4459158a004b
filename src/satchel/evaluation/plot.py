"""Recall against tokens as a picture: how much of the gold is in the first N tokens of results?

The picture is an SVG that is readable on light and dark pages; it needs no script and no font.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from satchel.evaluation.metrics import BUDGETS, FILES_IN_TOKENS, LINES_IN_TOKENS
from satchel.evaluation.statistics import Mean

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 56, 96  # room for the axis labels, the title and the legend
_GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEGEND_STEP = 20
# One ink per curve: the first is dark enough on white, the second light enough on black.
_INKS = (("#0a5fb4", "#6cb6ff"), ("#b3400a", "#ff9e64"), ("#1a7f37", "#56d364"), ("#8250df", "#d2a8ff"))
# Dashes tell curves apart without colour.
_DASHES = ("none", "7 4", "2 3", "9 3 2 3")


class RecallCurve(NamedTuple):
    """One curve of the picture: its label, and the mean recall by token budget."""

    label: str
    means: Sequence[tuple[int, Mean]]


def recall_curves(label: str, means: Mapping[str, Mean]) -> list[RecallCurve]:
    """Return the curves of one evaluation: recall of gold files, and of gold lines where there are any."""
    found = []
    for what, names in (("gold files", FILES_IN_TOKENS), ("gold lines", LINES_IN_TOKENS)):
        points = [(budget, means[name]) for budget, name in zip(BUDGETS, names, strict=True) if name in means]
        if points:
            found.append(RecallCurve(f"{what}, {label}" if label else what, points))
    return found


def recall_plot(title: str, lines: Sequence[RecallCurve]) -> str:
    """Return an SVG that shows some curves."""
    height = _HEIGHT + _LEGEND_STEP * max(0, len(lines) - 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
        f' height="{height}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(_description(lines))}</desc>',
        _style(len(lines)),
        f'<rect class="page" width="{_WIDTH}" height="{height}"/>',
        f'<text class="head" x="{_LEFT}" y="28">{escape(title)}</text>',
        *_axes(),
    ]
    for number, line in enumerate(lines):
        parts += _curve(number, line)
    return "\n".join([*parts, "</svg>", ""])


def _style(count: int) -> str:
    """Return the style sheet of the picture for light and dark pages."""
    light = "".join(_ink_rule(number, _INKS[number % len(_INKS)][0]) for number in range(count))
    dark = "".join(_ink_rule(number, _INKS[number % len(_INKS)][1]) for number in range(count))
    return (
        "<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.head{font-size:15px;font-weight:600}"
        ".page{fill:#fff}.grid{stroke:#d0d7de}.axis{stroke:#57606a}path{fill:none;stroke-width:2}"
        f".band{{opacity:.14;stroke:none}}{light}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.grid{stroke:#30363d}"
        f".axis{{stroke:#8b949e}}{dark}}}</style>"
    )


def _ink_rule(number: int, ink: str) -> str:
    dash = _DASHES[number % len(_DASHES)]
    return (
        f"path.line{number}{{stroke:{ink};stroke-dasharray:{dash}}}"
        f".dot{number}{{fill:{ink}}}path.band{number}{{fill:{ink}}}"
    )


def _axes() -> list[str]:
    """Return the SVG elements of the grid, the axes and their labels."""
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = []
    for share in _GRID:
        y = _y(share)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{share:g}</text>')
    for budget in BUDGETS:
        x = _x(budget)
        parts.append(f'<line class="axis" x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 5}"/>')
        parts.append(f'<text x="{x}" y="{bottom + 20}" text-anchor="middle">{budget:,}</text>')
    middle, half_way = (_LEFT + right) // 2, (_TOP + bottom) // 2
    parts += [
        f'<line class="axis" x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="{bottom}"/>',
        f'<text x="{middle}" y="{bottom + 40}" text-anchor="middle">tokens of results, in order</text>',
        f'<text transform="translate(18 {half_way}) rotate(-90)" text-anchor="middle">recall</text>',
    ]
    return parts


def _curve(number: int, curve: RecallCurve) -> list[str]:
    """Return the SVG elements of a curve: the band of its 95 % interval, the line, its points, its legend."""
    points = [(_x(budget), _y(mean.mean)) for budget, mean in curve.means]
    low = [(_x(budget), _y(mean.mean if mean.low is None else mean.low)) for budget, mean in curve.means]
    high = [(_x(budget), _y(mean.mean if mean.high is None else mean.high)) for budget, mean in curve.means]
    y = _HEIGHT - _BOTTOM + 64 + _LEGEND_STEP * number
    parts = [
        f'<path class="band band{number}" d="{_path([*high, *reversed(low)])}Z"/>',
        f'<path class="line{number}" d="{_path(points)}"/>',
        *(f'<circle class="dot{number}" cx="{x}" cy="{y}" r="3.5"/>' for x, y in points),
        f'<path class="line{number}" d="M{_LEFT} {y}H{_LEFT + 36}"/>',
        f'<text x="{_LEFT + 44}" y="{y + 4}">{escape(curve.label)}</text>',
    ]
    return parts


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _x(budget: int) -> float:
    """Return the x coordinate of a budget; each doubling of the budget is one step to the right."""
    span = math.log2(BUDGETS[-1] / BUDGETS[0])
    return round(_LEFT + 16 + (_WIDTH - _LEFT - _RIGHT - 48) * math.log2(budget / BUDGETS[0]) / span, 1)


def _y(share: float) -> float:
    """Return the y coordinate of a recall."""
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share, 1)


def _description(lines: Sequence[RecallCurve]) -> str:
    """Return the numbers in words, for readers who do not see the picture."""
    told = [
        f"{line.label}: " + ", ".join(f"{mean.mean:.3f} at {budget:,} tokens" for budget, mean in line.means)
        for line in lines
    ]
    return ". ".join(told)
