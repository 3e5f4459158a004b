"""What the text formats have in common: items by section, then what is missing and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator

from satchel.packing.pack import Item, Pack, Section
from satchel.rendering.packs.quoting import quoted_line
from satchel.types import Suggestion

SECTIONS = frozenset(section.value for section in Section)
_BETWEEN = " — "


def by_section(pack: Pack) -> Iterator[tuple[Section, tuple[Item, ...]]]:
    """The sections that have items, in their order."""
    for section in Section:
        items = pack.of_section(section)
        if items:
            yield section, items


def next_text(suggestion: Suggestion) -> str:
    """A next query and its reason."""
    query, reason = quoted_line(suggestion.query), quoted_line(suggestion.reason)
    return f"{query}{_BETWEEN}{reason}" if reason else query


def read_next(text: str) -> Suggestion:
    """What `next_text` wrote."""
    query, _, reason = text.partition(_BETWEEN)
    return Suggestion(query, reason)
