"""Which sections does a Markdown document consist of, and what does it link to?

A section runs from its heading to before the next one; only headings outside lists and quotes start
one. What stands before the first heading, front matter included, is the section `INTRO` of level 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from satchel.chunking.chunker import Chunker
from satchel.chunking.markdown_blocks import BlockScanner
from satchel.chunking.markdown_leaves import RawHeading
from satchel.chunking.markdown_links import find_links
from satchel.chunking.readable import readable
from satchel.chunking.section_parts import Page, section_parts
from satchel.lines import split_lines
from satchel.types import Chunk, ChunkKind, Parsed, Symbol

MAX_CHARS = 6000  # a longer section is cut into parts
INTRO = "INTRO"
_TITLE_SEPARATOR = " > "
# A first line of dashes is also a thematic break: only a block whose first entry is a key is metadata. Behind
# a blank line that entry may be prose: then every line has to be YAML, up to a closing line right below it.
_YAML_STRING = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_YAML_COMMENTS = r"(?:[ \t]*#[^\n]*\n)*+"
_YAML_ENTRY = (
    rf"(?:(?:{_YAML_STRING}[ \t]*+|[\w$][^\n:]*+):(?=[ \t\n])|\{{\s*+(?:{_YAML_STRING}|[\w$-]++)\s*+:)"
)
_YAML_LINE = rf"(?:(?:{_YAML_STRING}[ \t]*+|[\w$.-]++):(?=[ \t\n])|- |[ \t#{{}}\]]|(?=\n))[^\n]*\n"
_YAML_END = r"(?:---|\.\.\.)[ \t]*(?:\n|\Z)"
_YAML = re.compile(
    rf"---[ \t]*\n{_YAML_COMMENTS}(?:{_YAML_ENTRY}(?:[^\n]*\n)+?"
    rf"|(?:[ \t]*\n)++{_YAML_COMMENTS}(?={_YAML_ENTRY})(?:{_YAML_LINE})+?(?<!\n\n)){_YAML_END}"
)
_TOML = re.compile(
    r"\+\+\+[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*+[ \t]*(?:\[|[\w\"'.-]+[ \t]*=)[^\n]*\n"
    r"(?:[^\n]*\n)*?\+\+\+[ \t]*(?:\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at lines `line` to `end_line`, from 1 (a setext heading ends with its underline).

    `title` is the inline text as written; that of a setext heading may hold line ends.
    """

    line: int
    end_line: int
    level: int
    title: str
    title_path: tuple[str, ...]


def find_headings(text: str) -> list[Heading]:
    """The headings that start a section, in order."""
    return _with_paths(_scan(text).headings)


def front_matter_end(text: str) -> int:
    """How many lines of metadata (`---` YAML or `+++` TOML) the document starts with."""
    plain = readable(text)
    found = _YAML.match(plain) or _TOML.match(plain)
    return len(split_lines(found[0])) if found else 0


def chunk_markdown(text: str, max_chars: int = MAX_CHARS) -> Parsed:
    """A document as its sections, with one symbol per heading and its links to other files."""
    scan = _scan(text)
    headings = _with_paths(scan.headings)
    lines = split_lines(text)
    page = Page(lines, [0, *accumulate(map(len, lines))], {first + 1: after for first, after in scan.fences})
    ends = [heading.line - 1 for heading in headings] + [len(lines)]
    chunks = _intro(page, text, ends[0], max_chars)
    symbols = []
    for heading, end in zip(headings, ends[1:], strict=True):
        chunks += _section(page, text, heading, end, max_chars)
        if heading.title:  # a lone `#` is a heading that names nothing
            symbols.append(_symbol(heading, scan.lines[heading.line - 1].strip(), chunks[-1].end_line))
    return Parsed(tuple(chunks), tuple(symbols), tuple(find_links(scan.lines, scan.fences)))


def _scan(text: str) -> BlockScanner:
    plain = readable(text)
    return BlockScanner(plain, front_matter_end(plain))


def _with_paths(raw_headings: Sequence[RawHeading]) -> list[Heading]:
    """Give every heading the titles it stands under; a skipped level leaves no gap."""
    stack: list[RawHeading] = []
    headings = []
    for raw in raw_headings:
        while stack and stack[-1].level >= raw.level:
            stack.pop()
        stack.append(raw)
        path = tuple(open_heading.title for open_heading in stack)
        headings.append(Heading(raw.line + 1, raw.end, raw.level, raw.title, path))
    return headings


def _intro(page: Page, text: str, end: int, max_chars: int) -> list[Chunk]:
    first = 1
    while first <= end and page.blank(first):
        first += 1
    if first > end:
        return []
    parts = section_parts(page, first, first - 1, page.trim_end(first, end), max_chars)
    return [Chunk(ChunkKind.SECTION, (INTRO,), *part, page.text(text, *part)) for part in parts]


def _section(page: Page, text: str, heading: Heading, end: int, max_chars: int) -> Iterator[Chunk]:
    last = page.trim_end(heading.end_line, end)
    body_offset = page.size(heading.line, heading.end_line)
    for part in section_parts(page, heading.line, heading.end_line, last, max_chars):
        path, level = heading.title_path, heading.level
        yield Chunk(ChunkKind.SECTION, path, *part, page.text(text, *part), level, body_offset)
        body_offset = 0


def _symbol(heading: Heading, signature: str, end_line: int) -> Symbol:
    name = _TITLE_SEPARATOR.join(heading.title_path)
    return Symbol(heading.title, name, ChunkKind.SECTION, heading.line, end_line, signature)


def _parse(text: str, language: str) -> Parsed:
    return chunk_markdown(text)


CHUNKER = Chunker("headings", _parse)
