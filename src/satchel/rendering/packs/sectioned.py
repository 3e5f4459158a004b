"""What the text formats have in common: items by section, then what is missing and what to ask next."""

from __future__ import annotations

from collections.abc import Iterator

from satchel.packing.pack import Item, Pack, Section
from satchel.rendering.packs.quoting import quoted_line
from satchel.types import Suggestion

SECTIONS = frozenset(section.value for section in Section)
_BETWEEN = " — "


def by_section(pack: Pack) -> Iterator[tuple[Section, list[Item]]]:
    """The sections that have items, in their order."""
    of_section: dict[str, list[Item]] = {}
    for item in pack.items:
        of_section.setdefault(item.section.value, []).append(item)
    for section in Section:
        if section.value in of_section:
            yield section, of_section[section.value]


def next_text(suggestion: Suggestion) -> str:
    """A next query and its reason."""
    query, reason = quoted_line(suggestion.query), quoted_line(suggestion.reason)
    return f"{query}{_BETWEEN}{reason}" if reason else query


def read_next(text: str) -> Suggestion:
    """What `next_text` wrote."""
    query, _, reason = text.partition(_BETWEEN)
    return Suggestion(query, reason)
