"""Chunk languages with braces for which there is no grammar.

A definition is a keyword of the language at the start of a statement, followed by a name. It ends with its
closing brace, with its `;`, or where the next definition starts. In a language of settings every other
outermost pair of braces is a definition too, named by the text before it (a CSS selector, a resource).
Comments and strings are blanked first, so that a brace inside them does not count. A line that is blank only
after that is a comment.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from satchel import languages
from satchel.chunking.chunk_layout import DefinitionLines, lay_out_chunks
from satchel.chunking.chunker import Chunker
from satchel.chunking.parsers import normalize_text
from satchel.languages.language import Language
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import ChunkKind, Label, Reference, Symbol

_SIGNATURE_LIMIT = 240  # characters
_MAX_DEPTH = 40  # nested braces; deeper ones define nothing, so that recursion stays bounded
_DOC_LIMIT = 300  # characters
_HEAD_LIMIT = 80  # characters of a selector or a resource that become its name
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_IMPORT = re.compile(
    r"^[ \t]*@?(?:import|include|use|forward)\b[^;{}\"'\r\n]{0,80}"
    r"((?:[\s,]*(?:\"[^\"\r\n]+\"|'[^'\r\n]+'))+)",
    re.MULTILINE,
)
_QUOTED = re.compile(r"\"[^\"\r\n]+\"|'[^'\r\n]+'")
_USE = re.compile(r"(?:\b(extends|implements)\s+|(@include)\s+)?(?<![\w@$.-])(?:[\w-]+\.)*([A-Za-z_][\w-]*)")
_TYPE_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")  # values of an enum are all capitals


@dataclass(slots=True)
class _OpenDefinition:
    """A definition whose end is not reached yet."""

    definition: DefinitionLines
    start: int
    line: int
    signature: str = ""


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of what is blanked, and the pattern of what is then read: keywords with names,
    braces, semicolons."""
    language = languages.get(name)
    marks = "|".join(map(re.escape, dict.fromkeys((language.line_comment or "//", "//"))))
    longest_first = sorted((keyword for keyword, _ in language.block_keywords), key=len, reverse=True)
    keywords = "|".join(map(re.escape, longest_first)) or "(?!)"
    blanked = (
        rf"(?<!:)(?:{marks})[^\r\n]*|/\*.*?(?:\*/|\Z)"  # a mark after `:` is no comment: url(https://…)
        r'|""".*?(?:"""|\Z)|"(?:[^"\\\r\n]|\\.)*"?|' + r"'(?:[^'\\\r\n]|\\.)*'?"
    )
    read = rf"(?<![\w@.$-])(?P<keyword>{keywords})[ \t]+(?P<name>[A-Za-z_][\w.-]*)|[{{}};]"
    return re.compile(blanked, re.DOTALL), re.compile(read)


class _BraceScanner:
    """One pass over the braces of a file. `code` is the text with comments and strings blanked."""

    def __init__(self, text: str, code: str, language: Language) -> None:
        self.text, self.code, self.language = text, code, language
        self.lines, self.code_lines = split_lines(text), split_lines(code)
        self.starts = [0, *accumulate(map(len, self.lines))]
        self.roots: list[DefinitionLines] = []
        self.symbols: list[tuple[int, Symbol]] = []
        self.stack: list[_OpenDefinition | None] = []  # one per open brace; None if it defines nothing
        self.pending: _OpenDefinition | None = None  # a definition whose brace has not come yet
        self.statement = 0  # where the current statement starts

    def run(self, tokens: re.Pattern[str]) -> None:
        """Collect the definitions and symbols of the file."""
        kinds = dict(self.language.block_keywords)
        for match in tokens.finditer(self.code):
            if match["keyword"] is None:
                self.handle_mark(match[0], match.start())
            elif self.starts_statement(match.start()):
                self.close(self.pending, match.start())
                self.define(kinds[match["keyword"]], match["name"], match.start())
        self.close(self.pending, len(self.code))
        for unclosed in reversed(self.stack):
            self.close(unclosed, len(self.code))

    def line(self, position: int) -> int:
        """Return the number of the line at a position."""
        return bisect_right(self.starts, position)

    def starts_statement(self, position: int) -> bool:
        """Return whether nothing but white space stands before a position in its statement and line."""
        line_start = self.starts[self.line(position) - 1]
        return not self.code[max(line_start, self.statement) : position].strip()

    def handle_mark(self, mark: str, position: int) -> None:
        """Open or close definitions at a brace or semicolon."""
        if mark == "{":
            outer = self.pending is None and not self.stack
            if outer and self.language.module_kind is ChunkKind.CONFIG:
                self.define_by_selector(position)
            if self.pending and (gap := _BLANK_LINE.search(self.text, self.pending.start, position)):
                # The brace belongs to something further down.
                self.close(self.pending, gap.start())
                self.pending = None
            if self.pending:
                self.pending.signature = " ".join(self.text[self.pending.start : position].split())
            self.stack.append(self.pending)
            self.pending = None
        else:
            self.close(self.pending, position)
            self.pending = None
            if mark == "}" and self.stack:
                self.close(self.stack.pop(), position + 1)
        self.statement = position + 1

    def define_by_selector(self, end: int) -> None:
        """Start a definition that is named by the text before its brace."""
        head = self.code[self.statement : end]
        start = self.statement + len(head) - len(head.lstrip())
        written = self.text[start:end]
        if not written.startswith("@"):
            written = written.split(",")[0]  # the first of several selectors
        if name := " ".join(written.split())[:_HEAD_LIMIT]:
            self.define(ChunkKind.CONFIG, name, start)

    def define(self, kind: ChunkKind, name: str, start: int) -> None:
        """Start a definition; its comment lines right above belong to it."""
        self.pending = None
        if len(self.stack) >= _MAX_DEPTH:
            return
        parent = next((opened.definition for opened in reversed(self.stack) if opened), None)
        line = first = self.line(start)
        while first > 1 and self.lines[first - 2].strip() and not self.code_lines[first - 2].strip():
            first -= 1
        title_path = (*(parent.title_path if parent else ()), name)
        definition = DefinitionLines(kind, title_path, first, line, always_split=kind is ChunkKind.IMPL)
        (parent.children if parent else self.roots).append(definition)
        self.pending = _OpenDefinition(definition, start, line)
        self.statement = start

    def close(self, opened: _OpenDefinition | None, end: int) -> None:
        """End a definition with the last code before `end`, and add its symbol."""
        if opened is None:
            return
        written = self.code[opened.start : end].rstrip()
        definition = opened.definition
        definition.last = self.line(opened.start + len(written) - 1)
        # An `impl` adds to a type that is defined elsewhere.
        if definition.kind is ChunkKind.IMPL:
            return
        signature = opened.signature or " ".join(
            self.text[opened.start : opened.start + len(written)].split()
        )
        doc = _first_paragraph(self.lines[definition.first - 1 : opened.line - 1])
        qualified = ".".join(definition.title_path)
        symbol = Symbol(
            definition.title_path[-1],
            qualified,
            definition.kind,
            opened.line,
            definition.last,
            signature[:_SIGNATURE_LIMIT],
            doc,
        )
        self.symbols.append((opened.start, symbol))


def parse(text: str, name: str) -> Parsed:
    """Return the chunks, symbols and references of one file."""
    language = languages.get(name)
    blanked, tokens = _patterns(name)
    lines = split_lines(text)
    read = normalize_text(text)
    code = blanked.sub(lambda match: _NOT_LINE_END.sub(" ", match[0]), read)
    scan = _BraceScanner(read, code, language)
    scan.run(tokens)
    return Parsed(
        chunks=tuple(lay_out_chunks(lines, scan.roots, language.module_kind)),
        symbols=tuple(symbol for _, symbol in sorted(scan.symbols, key=lambda pair: pair[0])),
        references=tuple(sorted(set(_references(scan)), key=lambda item: (item.line, item.label, item.name))),
        comments=tuple(_comments(scan)),
    )


def _references(scan: _BraceScanner) -> Iterator[Reference]:
    """Yield the imports, and what definitions use: types (by their capital letter), base types and mixins."""
    for match in _IMPORT.finditer(scan.text):
        # If the keyword is blanked, the import is in a comment.
        if not scan.code[match.start() : match.start(1)].isspace():
            for quoted in _QUOTED.finditer(match[1]):
                line = scan.line(match.start(1) + quoted.start())
                yield Reference(quoted[0][1:-1], Label.IMPORTS, line)
    defines_types = any(kind is ChunkKind.STRUCT for _, kind in scan.language.block_keywords)
    defined = {(symbol.name, symbol.start_line) for _, symbol in scan.symbols}
    for match in _USE.finditer(scan.code):
        base, mixin, name = match.groups()
        if (name, scan.line(match.start(3))) in defined:
            continue
        if base or mixin or (defines_types and _TYPE_NAME.fullmatch(name)):
            label = Label.EXTENDS if base else Label.CALLS if mixin else Label.USES
            yield Reference(name, label, scan.line(match.start(3)))


def _comments(scan: _BraceScanner) -> Iterator[tuple[int, int]]:
    """Yield the ranges of comment lines."""
    first = 0
    for number, (line, code) in enumerate(zip(scan.lines, scan.code_lines, strict=True), start=1):
        is_comment = bool(line.strip()) and not code.strip()
        if is_comment and not first:
            first = number
        elif first and not is_comment:
            yield first, number - 1
            first = 0
    if first:
        yield first, len(scan.lines)


def _first_paragraph(lines: Sequence[str]) -> str:
    """Return the first paragraph of a comment without its marks."""
    cleaned: list[str] = []
    for line in lines:
        stripped = line.strip().strip("/*#!\"' \t")
        if not stripped and cleaned:
            break
        cleaned += stripped.split()
    return " ".join(cleaned)[:_DOC_LIMIT]


CHUNKER = Chunker("braces", parse)
