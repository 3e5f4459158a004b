"""What is known of each language, and how the language of a file is detected."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from satchel import plugins

if TYPE_CHECKING:
    from satchel.languages.language import Language

UNKNOWN = "unknown"
_MODE_LINE = r"-\*-\s*(?:mode:\s*)?([\w+-]+?)[\s;]*-\*-"  # as in Emacs
_SHEBANG = r"#!\s*(?:\S*/)?([\w.+-]+)(?:\s+(?:-\S+\s+)*([\w.+-]+))?"


@cache
def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the languages by suffix, by file name and by interpreter."""
    by_suffix: dict[str, str] = {}
    by_filename: dict[str, str] = {}
    by_interpreter: dict[str, str] = {}
    for name in plugins.names("language"):
        language: Language = plugins.load("language", name)
        by_suffix.update(dict.fromkeys(language.suffixes, name))
        by_filename.update(dict.fromkeys(language.filenames, name))
        by_interpreter.update(dict.fromkeys(language.interpreters, name))
    return by_suffix, by_filename, by_interpreter


@cache
def _claims() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """Return the patterns by which a language claims files with a suffix of another one, by suffix."""
    found: dict[str, list[tuple[re.Pattern[str], str]]] = {}
    for name in plugins.names("language"):
        for suffix, expression in get(name).claims:
            found.setdefault(suffix, []).append((re.compile(expression, re.MULTILINE), name))
    return found


def detect(path: str, head: str = "") -> str:
    """Return the language of a file: by its name, its suffixes (longest first) or its `#!` line, otherwise
    unknown.

    `head` is the beginning of its text. It decides where two languages share a suffix.
    """
    by_suffix, by_filename, by_interpreter = _tables()
    name = path.rpartition("/")[2]
    if name in by_filename:
        return by_filename[name]
    parts = name.lower().split(".")
    for start in range(1, len(parts)):
        suffix = "." + ".".join(parts[start:])
        if suffix in by_suffix:
            claimed = (name for found, name in _claims().get(suffix, ()) if found.search(head))
            return next(claimed, by_suffix[suffix])
    if (stem := name.partition(".")[0]) in by_filename:  # Dockerfile.dev, Makefile.am
        return by_filename[stem]
    if match := re.search(_MODE_LINE, head[:200]):
        return by_interpreter.get(match.group(1).lower(), UNKNOWN)
    if head.startswith("#!") and (match := re.match(_SHEBANG, head)):
        program = match.group(2) if match.group(1) == "env" and match.group(2) else match.group(1)
        return by_interpreter.get(program.rstrip("0123456789."), UNKNOWN)
    return UNKNOWN


@cache
def index_stems() -> frozenset[str]:
    """Return the stems of files that stand for their folder, in any language."""
    return frozenset(stem for name in plugins.names("language") for stem in get(name).index_stems)


def get(name: str) -> Language:
    """Return the language of that name."""
    language: Language = plugins.load("language", name)
    return language
