"""Source → chunks, symbols, references."""

from __future__ import annotations

from satchel import languages, plugins
from satchel.types import Parsed


def parse_source(text: str, language: str) -> Parsed:
    """What one file holds. The same text in the same language always gives the same answer."""
    chunker = plugins.load("chunker", languages.get(language).chunker)
    parsed: Parsed = chunker.parse(text, language)
    return parsed
