"""Chunk a reStructuredText document by sections, and find its links.

A heading is a line of text with a line of one punctuation mark below it, and possibly the same line above it.
The marks have no fixed rank: the first style in a document is level 1, the next new one level 2, and so on. A
heading starts a block at the left margin; paragraphs, tables, lists and everything indented (directives,
literal blocks, quotes) contain none. Sections are cut as those of Markdown are. Links are roles (`:doc:`,
`:ref:`, `:download:`), included files, the entries of a table of contents, and named addresses inside the
repository, all outside of code samples.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice, pairwise

from satchel.chunking.chunker import Chunker
from satchel.chunking.section_splitting import (
    INTRO,
    MAX_CHARS,
    TITLE_SEPARATOR,
    DocumentLines,
    Heading,
    split_section,
)
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import Chunk, ChunkKind, Label, Reference, Symbol

_SURE_LENGTH = 4  # a shorter line of marks is a heading only if it is as wide as its title
_MARKS = re.compile(r"([!-/:-@\[-`{-~])\1*")
_NO_TEXT = re.compile(  # list items, fields, line blocks, explicit markup, grid tables: no titles
    r"(?:[-+*|\u2022\u2023\u2043]|\.\.|__|:[^:\s][^:]*(?<! ):)(?: |$)|\+-[-+]+-\+$"
    r"|(?:--?|[+/])[A-Za-z0-9][\w-]*(?:[ =][\w<][\w>-]*)?  "
)
_DOCTEST = re.compile(r">>>(?: |$)")
_TABLE_TOP = re.compile(r"=+(?: +=+)+$")
_TABLE_RULE = re.compile(r"=[ =]*$")
_TARGET = re.compile(r"\.\. _[^:]+:\s*$")
_CODE_DIRECTIVES = "code|code-block|sourcecode|parsed-literal|raw|math|prompt|doctest|testcode|productionlist"
_LITERAL = re.compile(rf"\s*\.\. (?:{_CODE_DIRECTIVES})::|(?!\s*\.\. ).*::\s*$")
_TOCTREE = re.compile(r"\s*\.\. toctree::")
_ENTRY = re.compile(r"\s+(?!:)(?:[^<]*<([^<>]+)>|(\S+))\s*$")
_LINK = re.compile(
    r"^\s*\.\. (?:include|literalinclude)::\s+(?P<file>\S+)"
    r"|:(?:doc|ref|download):`(?:[^`<]*<(?P<named>[^<>`]+)>|!?(?P<plain>[^`<>]+))`"
    r"|(?<!:)`[^`<]*<(?P<address>[^<>`\s]*[^<>`\s_])>`__?"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")  # another site, a mail address, an anchor


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the headings of a document, in order."""
    headings: list[Heading] = []
    styles: list[str] = []
    open_titles: list[tuple[int, str]] = []
    for first, last, style, title in _titles([line.lstrip("\ufeff").expandtabs().rstrip() for line in lines]):
        if style not in styles:
            styles.append(style)
        level = styles.index(style) + 1
        while open_titles and open_titles[-1][0] >= level:
            open_titles.pop()
        open_titles.append((level, title))
        headings.append(Heading(first, last, level, title, tuple(text for _, text in open_titles)))
    return headings


def _titles(lines: Sequence[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield (first line, last line, style, title) of each heading, block by block."""
    index = 0
    quoting = -1  # where a literal block may start that is quoted by a mark on each line, not indented
    while index < len(lines):
        line = lines[index]
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if not line or line[0] == " ":
            index += 1
            quoting += not line and index - 1 == quoting
        elif index == quoting and _MARKS.match(line):
            index = next((end for end in range(index, len(lines)) if lines[end][:1] != line[0]), len(lines))
        elif _TABLE_TOP.match(line):
            index = _table_end(lines, index)
        elif _NO_TEXT.match(line):
            index += 1  # everything that belongs to the item is indented
        elif _DOCTEST.match(line):
            index = next((end for end in range(index, len(lines)) if not lines[end]), len(lines))
        elif _overlined(lines, index):
            yield index + 1, index + 3, line[0] * 2, below.strip()
            index += 3
        elif len(line) >= _SURE_LENGTH and below and _MARKS.fullmatch(line):
            index += 2 if _MARKS.fullmatch(below) else 3  # an unfinished overlined title is no heading
        elif _MARKS.fullmatch(below) and _reaches(below, line):
            yield index + 1, index + 2, below[0], line
            index += 2
        else:
            index = _paragraph_end(lines, index)
            quoting = index if lines[index - 1].endswith("::") else -1


def _overlined(lines: Sequence[str], index: int) -> bool:
    """Return whether a heading with a line of marks above and below starts here."""
    over, title, under = lines[index : index + 3] if index + 2 < len(lines) else ("", "", "")
    is_title = bool(title) and not _MARKS.fullmatch(title) and over == under
    return is_title and bool(_MARKS.fullmatch(over)) and _reaches(over, title)


def _reaches(marks: str, title: str) -> bool:
    """Return whether a line of marks is long enough for a title."""
    return len(marks) >= _SURE_LENGTH or len(marks) >= _width(title)


def _width(title: str) -> int:
    """Return the number of columns that a title takes."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in title)
    return len(title) + wide - sum(map(bool, map(unicodedata.combining, title)))


def _paragraph_end(lines: Sequence[str], index: int) -> int:
    """Return the index after a paragraph."""
    while index < len(lines) and lines[index] and lines[index][0] != " ":
        index += 1
    return index


def _table_end(lines: Sequence[str], top: int) -> int:
    """Return the index after a simple table. It ends at its second rule, or at a rule with a blank line
    below."""
    end = len(lines)  # a table without a second rule runs to the end
    rules = (index for index in range(top + 1, len(lines)) if _TABLE_RULE.match(lines[index]))
    for index in islice(rules, 2):
        end = index + 1
        if end == len(lines) or not lines[end] or len(lines[index]) != len(lines[top]):
            break
    return end


def parse(text: str, name: str) -> Parsed:
    """Return the sections of one document, with one symbol per heading and its links."""
    lines = split_lines(text)
    literals = literal_blocks(lines)
    document = DocumentLines(lines, [0, *accumulate(map(len, lines))], literals)
    headings = find_headings(lines)
    borders = [*(_with_targets(lines, heading.line) for heading in headings), len(lines) + 1]
    chunks = list(_section(document, text, (1, borders[0] - 1), None))
    symbols = []
    for heading, (start, end) in zip(headings, pairwise(borders), strict=True):
        chunks += _section(document, text, (start, end - 1), heading)
        qualified_name = TITLE_SEPARATOR.join(heading.title_path)
        last = chunks[-1].end_line
        symbols.append(
            Symbol(heading.title, qualified_name, ChunkKind.SECTION, heading.line, last, heading.title)
        )
    return Parsed(tuple(chunks), tuple(symbols), tuple(find_links(lines, literals)))


def _with_targets(lines: Sequence[str], line: int) -> int:
    """Return the first line of a section: the link targets right above a heading belong to it."""
    first = above = line
    while above > 1 and (not lines[above - 2].strip() or _TARGET.match(lines[above - 2])):
        above -= 1
        if lines[above - 1].strip():
            first = above
    return first


def _section(
    document: DocumentLines, text: str, span: tuple[int, int], heading: Heading | None
) -> Iterator[Chunk]:
    """Yield the chunks of one section. The heading is not part of the body of the first one."""
    first, end = span
    while first <= end and document.blank(first):
        first += 1
    if first > end:
        return
    heading_end = heading.end_line if heading else first - 1
    title_path = heading.title_path if heading else (INTRO,)
    level = heading.level if heading else 0
    body_offset = document.size(first, heading_end)
    for part in split_section(document, first, heading_end, document.trim_end(first, end), MAX_CHARS):
        yield Chunk(ChunkKind.SECTION, title_path, *part, document.text(text, *part), level, body_offset)
        body_offset = 0


def literal_blocks(lines: Sequence[str]) -> dict[int, int]:
    """Return the first and the last line of each code sample, counted from 1: what is indented below `::`."""
    blocks: dict[int, int] = {}
    margin = -1  # the indent of the line that opened a sample
    first = 0
    for number, line in enumerate(lines, start=1):
        # Most lines neither open a sample nor stand in one.
        if (margin < 0 and "::" not in line) or not line.strip():
            continue
        indent = _indent(line)
        if indent > margin >= 0:
            first = first or number
            blocks[first] = number
            continue
        margin = indent if "::" in line and _LITERAL.match(line) else -1
        first = 0
    return blocks


def find_links(lines: Sequence[str], literals: Mapping[int, int]) -> Iterator[Reference]:
    """Yield the links of a document by line. `literals` are its code samples."""
    skipped_to = 0
    entries_margin = -1  # the indent of the table of contents whose entries are being read
    for number, line in enumerate(lines, start=1):
        skipped_to = literals.get(number, skipped_to)
        has_link = "`" in line or "::" in line
        if number <= skipped_to or (entries_margin < 0 and not has_link) or not line.strip():
            continue
        if _indent(line) > entries_margin >= 0:
            entry = _ENTRY.match(line)
            targets = [entry[1] or entry[2]] if entry else []
        elif not has_link:
            entries_margin = -1
            continue
        else:
            entries_margin = _indent(line) if _TOCTREE.match(line) else -1
            targets = [match[match.lastgroup or 0] for match in _LINK.finditer(line)]
        for target in dict.fromkeys(targets):
            if target.strip() not in ("", "self") and not _SCHEME.match(target):
                yield Reference(target.strip(), Label.LINKS_TO, number)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


CHUNKER = Chunker("rst", parse)
