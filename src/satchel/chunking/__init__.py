"""From a source to its chunks, symbols and references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from satchel import languages, plugins
from satchel.chunking import parse_limits
from satchel.chunking.parsers import load_grammar
from satchel.parsed import Parsed
from satchel.types import FileEntry

_MANY = 20  # files of one language; with so many, every worker will meet some


def prepare(entries: Iterable[FileEntry]) -> None:
    """Load the grammars of the languages that many of these files are in."""
    counts = Counter(languages.detect(entry.path) for entry in entries)
    for name, count in sorted(counts.items()):
        language = languages.get(name)
        if count >= _MANY and language.grammar:
            load_grammar(name).compile_whole()


def prepare_worker() -> None:
    """Allow files to end this process when they reach a limit. The pool that it works for must then replace
    it."""
    parse_limits.become_expendable()


def parse_source(text: str, language: str) -> Parsed:
    """Return the chunks, symbols and references of one file. The result depends on the text and the language
    alone."""
    chunker = plugins.load("chunker", languages.get(language).chunker)
    parsed: Parsed = chunker.parse(text, language)
    return parsed
