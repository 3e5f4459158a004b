"""Chunk a Markdown document by sections, and find its links to other files.

A section runs from its heading to the line before the next heading; only headings outside lists and quotes
start one. The text before the first heading, front matter included, is the section `INTRO` of level 0. Links
are inline links and reference definitions outside fences and code spans. An image is not a link, but a link
around an image is. Addresses with a scheme and bare anchors are left out: they lead to no file of the
repository.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from satchel.chunking.chunker import Chunker
from satchel.chunking.markdown_scanner import BlockScanner, RawHeading
from satchel.chunking.parsers import normalize_text
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

# A first line of dashes may also be a thematic break: only a block whose first entry is a key is metadata.
# After a blank line that entry may be prose: then every line has to be YAML, up to a closing line right
# below.
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
_STARTS_BLOCK = re.compile(r"[ \t]*(?:[-*+][ \t]|[0-9]+[.)][ \t]|#|\|)")
_TOKEN = re.compile(
    r"(?P<escaped>\\?)(?P<ticks>`++)"  # inside a code span a backslash is text
    r"|\\."
    r"|(?P<opening>!?\[)"
    r"|\](?:\([ \t\n]*+"
    r"(?:<(?P<angle>[^<>\n]*+)>|(?P<plain>[^\s<>()]*+(?:\([^\s()]*+\)[^\s()]*+)*+))(?=[\s)]))?",
    re.DOTALL,
)
_CANDIDATE = re.compile(
    r"\]\((?!https?:|#)"
)  # most links lead out of the repository, so most lines are skipped
_DEFINITION = re.compile(
    r"[ \t>*+-]*+\[(?!\^)(?:[^\[\]\\]|\\.)++\]:[ \t]*+(?:<([^<>]*)>|([^\s<]\S*))[ \t]*(?:[ \t][\"'(].*)?$"
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def find_headings(text: str) -> list[Heading]:
    """Return the headings that start a section, in order."""
    return _with_title_paths(_scan(text).headings)


def front_matter_end(text: str) -> int:
    """Return the number of lines of metadata (`---` YAML or `+++` TOML) at the start of a document."""
    normal = normalize_text(text)
    found = _YAML.match(normal) or _TOML.match(normal)
    return len(split_lines(found[0])) if found else 0


def chunk_markdown(text: str, max_chars: int = MAX_CHARS) -> Parsed:
    """Return the sections of a document, with one symbol per heading and its links to other files."""
    scan = _scan(text)
    headings = _with_title_paths(scan.headings)
    lines = split_lines(text)
    document = DocumentLines(
        lines, [0, *accumulate(map(len, lines))], {first + 1: after for first, after in scan.fences}
    )
    ends = [heading.line - 1 for heading in headings] + [len(lines)]
    chunks = _intro(document, text, ends[0], max_chars)
    symbols = []
    for heading, end in zip(headings, ends[1:], strict=True):
        chunks += _section(document, text, heading, end, max_chars)
        # A lone `#` is a heading without a name.
        if heading.title:
            symbols.append(_symbol(heading, scan.lines[heading.line - 1].strip(), chunks[-1].end_line))
    return Parsed(tuple(chunks), tuple(symbols), tuple(find_links(scan.lines, scan.fences)))


def _scan(text: str) -> BlockScanner:
    """Return the block structure of a document after its front matter."""
    normal = normalize_text(text)
    return BlockScanner(normal, front_matter_end(normal))


def _with_title_paths(raw_headings: Sequence[RawHeading]) -> list[Heading]:
    """Return the headings with the titles they stand under. A skipped level leaves no gap in the path."""
    stack: list[RawHeading] = []
    headings = []
    for raw in raw_headings:
        while stack and stack[-1].level >= raw.level:
            stack.pop()
        stack.append(raw)
        path = tuple(open_heading.title for open_heading in stack)
        headings.append(Heading(raw.line + 1, raw.end, raw.level, raw.title, path))
    return headings


def _intro(document: DocumentLines, text: str, end: int, max_chars: int) -> list[Chunk]:
    """Return the chunks of the text before the first heading."""
    first = 1
    while first <= end and document.blank(first):
        first += 1
    if first > end:
        return []
    parts = split_section(document, first, first - 1, document.trim_end(first, end), max_chars)
    return [Chunk(ChunkKind.SECTION, (INTRO,), *part, document.text(text, *part)) for part in parts]


def _section(
    document: DocumentLines, text: str, heading: Heading, end: int, max_chars: int
) -> Iterator[Chunk]:
    """Yield the chunks of one section. The heading is not part of the body of the first one."""
    last = document.trim_end(heading.end_line, end)
    body_offset = document.size(heading.line, heading.end_line)
    for part in split_section(document, heading.line, heading.end_line, last, max_chars):
        path, level = heading.title_path, heading.level
        yield Chunk(ChunkKind.SECTION, path, *part, document.text(text, *part), level, body_offset)
        body_offset = 0


def _symbol(heading: Heading, signature: str, end_line: int) -> Symbol:
    """Return the symbol of a heading."""
    name = TITLE_SEPARATOR.join(heading.title_path)
    return Symbol(heading.title, name, ChunkKind.SECTION, heading.line, end_line, signature)


def _parse(text: str, language: str) -> Parsed:
    return chunk_markdown(text)


def find_links(lines: Sequence[str], fences: Sequence[tuple[int, int]]) -> list[Reference]:
    """Return the links of a document by line. `lines` have no line ends; `fences` are (first, after) indexes
    of lines."""
    visible = list(lines)
    for first, after in fences:
        visible[first:after] = [""] * (after - first)
    found = [*_inline_links(visible), *_definitions(visible)]
    return sorted(found, key=lambda reference: reference.line)


def _inline_links(lines: Sequence[str]) -> Iterator[Reference]:
    """Yield the inline links of a document."""
    done = 0
    for number, line in enumerate(lines):
        if "](" in line and number >= done and _CANDIDATE.search(line):
            first, done = _paragraph(lines, number, done)
            yield from _links_in("\n".join(lines[first:done]), first + 1)


def _paragraph(lines: Sequence[str], number: int, floor: int) -> tuple[int, int]:
    """Return the range of lines around a line that a link or code span could reach, starting at `floor` at
    the earliest."""
    first, after = number, number + 1
    while first > floor and not _STARTS_BLOCK.match(lines[first]) and lines[first - 1].strip():
        first -= 1
    while after < len(lines) and lines[after].strip() and not _STARTS_BLOCK.match(lines[after]):
        after += 1
    return first, after


def _links_in(text: str, first_line: int) -> Iterator[Reference]:
    """Yield the links in the text of a paragraph."""
    tokens = list(_TOKEN.finditer(text))
    runs = _tick_runs(tokens)
    brackets: list[str] = []
    index = counted = 0
    line = first_line  # of the character `counted`
    while index < len(tokens):
        token = tokens[index]
        kind = token.lastgroup
        if kind == "ticks":
            index = _after_code_span(token, index, runs)
            continue
        index += 1
        if kind == "opening":
            brackets.append(token[0])
        elif token[0][0] == "]" and brackets and brackets.pop() == "[" and kind:
            target = _target(token[kind])
            if target:
                line += text.count("\n", counted, token.start())
                counted = token.start()
                yield Reference(target, Label.LINKS_TO, line)


def _tick_runs(tokens: Sequence[re.Match[str]]) -> dict[int, list[int]]:
    """Return a mapping from the length of a run of backticks to the tokens that are such a run."""
    runs: dict[int, list[int]] = {}
    for index, token in enumerate(tokens):
        if token.lastgroup == "ticks":
            runs.setdefault(len(token["ticks"]), []).append(index)
    return runs


def _after_code_span(token: re.Match[str], index: int, runs: dict[int, list[int]]) -> int:
    """Return the index of the token after the code span that opens here, or of the next token if nothing
    closes it."""
    same = runs.get(len(token["ticks"]) - len(token["escaped"]), [])
    position = bisect_right(same, index)
    return same[position] + 1 if position < len(same) else index + 1


def _definitions(lines: Sequence[str]) -> Iterator[Reference]:
    """Yield the targets of link reference definitions."""
    for number, line in enumerate(lines):
        if "]:" in line:
            # The target may stand on the next line.
            if line.rstrip().endswith("]:"):
                line = f"{line} {''.join(lines[number + 1 : number + 2]).strip()}"
            found = _DEFINITION.match(line)
            target = _target(found[1] or found[2] or "") if found else ""
            if target:
                yield Reference(target, Label.LINKS_TO, number + 1)


def _target(destination: str) -> str:
    """Return the path of a destination as written, empty if it leads to no file of the repository."""
    path = destination.partition("#")[0].partition("?")[0]
    return "" if _SCHEME.match(path) else path


CHUNKER = Chunker("markdown", _parse)
