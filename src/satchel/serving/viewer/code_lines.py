"""Lines of repository text as HTML: escaped, coloured, and none so long that it breaks a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from satchel import languages
from satchel.rendering.highlighting import CodeToken, TokenKind, highlight
from satchel.rendering.visible import visible
from satchel.types import LineRange

_LONGEST = 1_000  # characters of a line that are shown


class CodeLine(NamedTuple):
    """A line of code: its number, its HTML, and the class that marks it (`hit`, `added`, `removed`)."""

    number: int
    html: Markup
    mark: str = ""


def code_lines(
    path: str,
    text: str,
    first: int,
    marked: Sequence[LineRange] = (),
    mark: str = "hit",
    emphasis: Callable[[str], Markup] = escape,
) -> list[CodeLine]:
    """Return the lines of a text that starts at line `first` of a file. Lines in `marked` ranges get the
    class `mark`; `emphasis` turns plain text into HTML, and may mark words of it."""
    shown = visible(text.replace("\r\n", "\n").replace("\r", "\n")).removesuffix("\n")
    rows = highlight(shown, languages.detect(path, shown[:500]))
    return [
        CodeLine(number, _html(tokens, emphasis), mark if _is_in(number, marked) else "")
        for number, tokens in enumerate(rows, first)
    ]


def _is_in(number: int, ranges: Sequence[LineRange]) -> bool:
    return any(first <= number <= last for first, last in ranges)


def _html(tokens: Sequence[CodeToken], emphasis: Callable[[str], Markup]) -> Markup:
    parts: list[Markup] = []
    left = _LONGEST
    for kind, text in tokens:
        html = emphasis(text[:left])
        parts.append(
            html if kind is TokenKind.PLAIN else Markup('<i class="{}">{}</i>').format(kind.value, html)
        )
        left -= len(text)
        if left <= 0:
            break
    rest = sum(len(token.text) for token in tokens) - _LONGEST
    if rest > 0:
        parts.append(Markup('<b class="cut">… {:,} more characters</b>').format(rest))
    return Markup("").join(parts)
