"""Load the parser of a language, prepare the text that it is given, and refuse text that would take it
minutes.

The prepared text has the same lines as the file, so that whatever is found in it is cited with the file's own
text. The time of a parser grows slowly with nesting, but that of a query grows with the square of the depth,
and so does that of nested comments and long runs of comments. No real file comes near the limits; a file
beyond them is cut into windows of lines.
"""

from __future__ import annotations

import importlib
import re
import warnings
from functools import cache
from typing import NamedTuple

import numpy as np
import tree_sitter

from satchel import languages
from satchel.chunking.query_pruning import QueryPattern, can_match, kinds_in, parse_query
from satchel.languages.language import Language

_QUERY_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_CAPTURE = re.compile(r"@([\w.]+)")
_MOST_PARTS = 4  # queries of some patterns; a process that parses more files compiles the whole query
# Nodes of a tree that is looked through for kinds of nodes. On a busy machine it took 27 ms for 44,000 nodes
# of C++ and saved 210 ms of compiling, 51 ms for 90,000 nodes of Python and saved 13.
_MOST_NODES = 100_000
_ROLES = frozenset({"use", "member", "bind", "comment"})
_NOT_LINE_END = re.compile(rb"[^\n]")
_BYTE_ORDER_MARK = "\ufeff"
MAX_BRACKETS = 1_000
MAX_OPEN_COMMENTS = 100
MAX_OPEN_TAGS = 2_000
MAX_COMMENT_RUN = 1_500  # lines; the Python grammar looks ahead over the rest of a run at each of them
_COMMENT_RUN = re.compile(rb"(?:^[ \t]*#[^\n]*\n){%d}" % MAX_COMMENT_RUN, re.MULTILINE)
# Tags that open or close an element; `<br>` and `<img />` do neither.
_TAG = re.compile(
    rb"<(?:(/)|(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b))[a-z][^<>]*(?<!/)>",
    re.IGNORECASE,
)
_DELTA = [0] * 256
for _opening, _closing in zip(b"([{", b")]}", strict=True):
    _DELTA[_opening], _DELTA[_closing] = 1, -1
_DELTAS = np.array(_DELTA, np.int32)
_NO_BRACKET = bytes(byte for byte in range(256) if not _DELTA[byte])


class CompiledQuery(NamedTuple):
    """A query that is ready to run, and the role of each of its patterns: `use`, `member`, `bind` or
    `comment` for a pattern with no other captures, empty for all others. `numbers` are those of its patterns
    in the whole query of the language."""

    query: tree_sitter.Query
    roles: tuple[str, ...]
    numbers: tuple[int, ...]


class Grammar:
    """The parser of a language and its query."""

    def __init__(self, language: tree_sitter.Language, source: str) -> None:
        self.parser = tree_sitter.Parser(language)
        self._language = language
        self._source = source
        self._patterns = parse_query(source)
        self._roles = tuple(map(_pattern_role, self._patterns))
        self._whole: CompiledQuery | None = None
        self._parts: list[CompiledQuery] = []

    def compile_whole(self) -> CompiledQuery:
        """Return the whole query, compiled once. Many files will use it."""
        if self._whole is None:
            query = tree_sitter.Query(self._language, self._source)
            self._whole = CompiledQuery(query, self._roles, tuple(range(len(self._roles))))
        return self._whole

    def query_for(self, tree: tree_sitter.Tree) -> CompiledQuery:
        """Return a query that finds in a tree what the whole query finds. For the first few trees only the
        patterns are compiled that can match in them."""
        if self._whole is not None:
            return self._whole
        if len(self._parts) == _MOST_PARTS or tree.root_node.descendant_count > _MOST_NODES:
            return self.compile_whole()
        kinds = kinds_in(tree, self._language)
        numbers = [number for number, pattern in enumerate(self._patterns) if can_match(pattern, kinds)]
        for part in self._parts:
            if set(numbers) <= set(part.numbers):
                return part
        source = "\n".join(self._patterns[number].source for number in numbers)
        query = tree_sitter.Query(self._language, source)
        part = CompiledQuery(query, tuple(self._roles[number] for number in numbers), tuple(numbers))
        self._parts = [*self._parts, part]
        return part


@cache
def load_grammar(name: str) -> Grammar:
    """Return the parser and the query of a language. They are loaded once per process, when first needed."""
    language = languages.get(name)
    entry = getattr(importlib.import_module(language.grammar), language.grammar_entry)
    with warnings.catch_warnings():
        # Some wheels return a number instead of a capsule.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Grammar(tree_sitter.Language(entry()), language.query)


def _pattern_role(pattern: QueryPattern) -> str:
    """Return the role of a pattern, by the captures that its source names."""
    captures = set(_CAPTURE.findall(_QUERY_STRING.sub("", pattern.source)))
    kinds = {capture.partition(".")[0] if capture.startswith("bind") else capture for capture in captures}
    return kinds.pop() if len(kinds) == 1 and kinds <= _ROLES else ""


def normalize_text(text: str) -> str:
    """Return the text with \\n for every line end and without a byte order mark. Some grammars read on behind
    a lone \\r, some stop at \\r\\n; and a byte order mark is not white space to them, so a first line would
    not start with its statement."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.removeprefix(_BYTE_ORDER_MARK)


def blank_out(data: bytes, language: Language) -> bytes:
    """Return the same bytes with spaces in place of what the grammar cannot read. Every position stays the
    same."""
    if not language.blanked:
        return data
    # Patterns for a line start with its preceding line end, which the first line lacks.
    padded = b"\n" + data
    for pattern in language.blanked:
        padded = _compiled(pattern).sub(_with_spaces, padded)
    return padded[1:]


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _with_spaces(found: re.Match[bytes]) -> bytes:
    """Return a match with the characters of its first group replaced by spaces."""
    start, end = (place - found.start() for place in found.span(1))
    whole = found[0]
    return whole[:start] + _NOT_LINE_END.sub(b" ", whole[start:end]) + whole[end:]


def is_too_deep(data: bytes) -> bool:
    """Return whether brackets, tags or unclosed comments are nested beyond the limits. Strings are counted as
    code."""
    if data.count(b"<") > MAX_OPEN_TAGS and data.lstrip()[:1] == b"<" and _open_tags(data) > MAX_OPEN_TAGS:
        return True
    if data.count(b"/*") - data.count(b"*/") > MAX_OPEN_COMMENTS:
        return True
    if data.count(b"#") > MAX_COMMENT_RUN and _COMMENT_RUN.search(data):
        return True
    brackets = data.translate(None, _NO_BRACKET)
    if len(brackets) <= MAX_BRACKETS:
        return False
    depths = np.cumsum(_DELTAS[np.frombuffer(brackets, np.uint8)])
    return int(depths.max()) > MAX_BRACKETS


def _open_tags(data: bytes) -> int:
    """Return the largest number of tags that are open at once."""
    deltas = [-1 if match[1] else 1 for match in _TAG.finditer(data)]
    return int(np.cumsum(deltas).max()) if deltas else 0
