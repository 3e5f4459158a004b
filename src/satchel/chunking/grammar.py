"""Which parser and which query read a language; loaded once per process, only when needed."""

from __future__ import annotations

import importlib
import warnings
from functools import cache

import tree_sitter

from satchel import languages


@cache
def grammar(name: str) -> tuple[tree_sitter.Parser, tree_sitter.Query]:
    """The parser and the compiled query of a language."""
    language = languages.get(name)
    entry = getattr(importlib.import_module(language.grammar), language.grammar_entry)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # some wheels hand over a number, not a capsule
        compiled = tree_sitter.Language(entry())
    return tree_sitter.Parser(compiled), tree_sitter.Query(compiled, language.query)
