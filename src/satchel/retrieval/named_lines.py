"""Which lines does a query mean by a name: those whose literals say a flag, a key or a route, and those that
give a variable its value?

`--report-width`, `journal.time` and `/adapt` are no identifiers. Their words are in many files, and they
themselves on the few lines that read or declare them. The words of "where is `max_age` set" are in every file
that reads the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from satchel.retrieval.corpus import Corpus
from satchel.retrieval.passage_spans import is_comment, is_inner_test
from satchel.retrieval.query import Query
from satchel.retrieval.references import definition_targets
from satchel.retrieval.string_literals import LONGEST_LINE, aside, files_with, lines_with, literals

FLAG = re.compile(r"(?<![\w-])--([^\W\d_][\w-]*\w)")
_SHORT = 200  # characters of a query that is no report
_MOST_FLAGS = 3  # of a query that are looked for
_MOST_FILES = 100  # of code with the words of a name, that are read for it
_MOST_LINES = 8  # with a name; where more lines have it, it says nothing about where it is handled
_SETTING_FILES = 200  # of code with a name, that are read for the lines that set it
_ASKS_WHERE_SET = re.compile(
    r"\bwhere\b.*\b(?:set|assigned|initiali[sz]ed|default)\b|\bdefault (?:value )?(?:of|for)\b", re.IGNORECASE
)
_LISTED = 0.7  # how much a line of a list, or of a longer text, tells of a name
# Words with separators between them, or one behind a slash. `a::b` and `a\b` are names of code.
_NAME = re.compile(r"/?[^\W\d]\w*(?:[-./]\{?\w+\}?)*", re.ASCII)
_SEPARATORS = frozenset("-./")
_AROUND = " \t=:,"  # what a literal may have around a name
_PLACEHOLDER = re.compile(r"[$#]\{([^{}]*)\}")  # `${journal.time:0}`
_END = re.compile(r"[\s=:,\[<]")  # of a name in a literal that goes on: `--safe-mode MODE`, `journal.time=0`
_WORD = re.compile(r"\w")


class NamedLine(msgspec.Struct, frozen=True):
    """A line of code with a name: the position of its file, its number, and how much it tells (0 to 1)."""

    at: int
    line: int
    worth: float


def lines_meant(corpus: Corpus, query: Query) -> list[NamedLine]:
    """Return the lines that a query means by a name; none for most queries."""
    return [*names_in_literals(corpus, query), *lines_that_set(corpus, query)]


def names_in_literals(corpus: Corpus, query: Query) -> list[NamedLine]:
    """Return the lines of code with a literal that is a name of the query, or starts with it."""
    names = [written for name in _names(corpus, query) for written in _written(name)]
    return [found for name in names for found in _lines_of(corpus, name)]


def _names(corpus: Corpus, query: Query) -> list[str]:
    """Return the flags of a short query, or all of a query that is one such name."""
    text = query.text.strip().strip("`\"'")
    if len(text) > _SHORT:
        return []
    if flags := list(dict.fromkeys(FLAG.findall(text))):
        return flags[:_MOST_FLAGS]
    is_name = _NAME.fullmatch(text) is not None and not _SEPARATORS.isdisjoint(text)
    is_path = any(corpus.files_named(mention.path.rpartition("/")[2]) for mention in query.mentions)
    return [text] if is_name and not is_path and not definition_targets(corpus, text) else []


def _written(name: str) -> Iterator[str]:
    """Yield a name, and a route as routers write it that have the first steps of it elsewhere."""
    yield name
    steps = name.split("/")[2:] if name.startswith("/") else []
    for start in range(len(steps) - 1):
        yield "/" + "/".join(steps[start:])


def _lines_of(corpus: Corpus, name: str) -> list[NamedLine]:
    """Return the lines of code whose literals say a name; none if they are many."""
    files = [at for at in files_with(corpus, name) if aside(corpus, at) == 0]
    if len(files) > _MOST_FILES:
        return []
    worths = (
        NamedLine(at, number, _worth(line, {name, f"--{name}"}))
        for at in files
        for number, line in lines_with(corpus, at, name)
        if len(line) <= LONGEST_LINE
    )
    found = [item for item in worths if item.worth]
    found = [item for item in found if not _is_tested(corpus, item)] or found
    return found if len(found) <= _MOST_LINES else []


def _is_tested(corpus: Corpus, found: NamedLine) -> bool:
    """Return whether a line is in a test beside the code that it tests."""
    path = corpus.files[found.at].path
    return any(is_inner_test(chunk) for chunk in corpus.chunks(path, found.line, found.line))


def _worth(line: str, wanted: set[str]) -> float:
    """Return how much a line tells of a name: most if code gives the name to something, less if a list or a
    longer literal has it, nothing if a literal only holds it."""
    worth = 0.0
    for literal in literals(line):
        said = literal.strip(_AROUND)
        said = match[1] if (match := _PLACEHOLDER.fullmatch(said)) else said
        start = _END.split(said, maxsplit=1)[0]
        if said in wanted:
            worth = max(worth, 1.0 if _WORD.search(line.replace(literal, "")) else _LISTED)
        elif start in wanted and not _SEPARATORS.isdisjoint(start):
            worth = max(worth, _LISTED)
    return worth


def lines_that_set(corpus: Corpus, query: Query) -> list[NamedLine]:
    """Return the lines of code that give a value to the name that a short question asks about."""
    if len(query.text) > _SHORT or len(query.title_names) != 1 or not _ASKS_WHERE_SET.search(query.title):
        return []
    name = query.title_names[0]
    files = [at for at in files_with(corpus, name) if aside(corpus, at) == 0]
    if len(files) > _SETTING_FILES:
        return []
    sets = _assignment(name)
    lines = (
        NamedLine(at, number, 1.0)
        for at in files
        for number, line in lines_with(corpus, at, name)
        if len(line) <= LONGEST_LINE and sets.search(line) and not is_comment(line)
    )
    found = list(islice(lines, _MOST_LINES + 1))
    return found if len(found) <= _MOST_LINES else []


def _assignment(name: str) -> re.Pattern[str]:
    """Return the expression of an assignment to a name: `x = 1`, `x: int = 1`, `x[0] += 1`, `x := 1`. A
    comparison is none."""
    written = rf"(?<!\w){re.escape(name)}\s*(?:\[[^\]]*\]\s*)?(?::[^=;(){{}}]{{1,60}})?"
    return re.compile(rf"{written}(?:[-+*/|&^:]|\?\?|\|\||<<|>>)?=(?![=>~])")
