"""Chunk a notebook by cells. A chunk is lines of the JSON file; `render_cell` shows the source that they
hold.

Values come from the JSON decoder, positions from the JSON syntax tree. Code cells are parsed in the language
of the notebook, and their symbols point to lines of the file. This works because a notebook is written with
one string for each line of source.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import msgspec
import tree_sitter

from satchel import languages, plugins
from satchel.chunking import syntax, windows
from satchel.chunking.chunk_layout import DefinitionLines, lay_out_chunks
from satchel.chunking.chunker import Chunker
from satchel.chunking.markdown import chunk_markdown, find_headings
from satchel.chunking.parsers import load_grammar, normalize_text
from satchel.chunking.section_splitting import Heading
from satchel.lines import split_lines
from satchel.parsed import Parsed
from satchel.types import ByLines, ChunkKind, Reference, Symbol

_SOURCE = re.compile(r'"source"\s*:\s*')
_MAGIC = re.compile(r"^(\s*)[%!?](?!%)", re.MULTILINE)  # a command to the notebook, not code
_AFTER_CELL = ", ]\t\r\n"  # what may follow the last brace of a cell on its lines
_CELL_MAGIC = "%%"  # hands the whole cell to another program


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell with its lines in the file."""

    value: dict[str, Any]
    first: int
    last: int
    source_lines: tuple[int, ...]  # the line of each string of the source


def parse(text: str, name: str) -> Parsed:
    """Return the cells of one notebook. A file that is not a notebook is cut into windows."""
    notebook = _load_json(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        return windows.parse(text, name)
    lines = split_lines(text)
    cells = list(_locate_cells(notebook["cells"], text, lines))
    definitions, levels = _cell_definitions(cells)
    chunks = lay_out_chunks(lines, definitions, languages.get(name).module_kind)
    symbols: list[Symbol] = []
    references: list[Reference] = []
    by_lines = ByLines.NO
    code_language = _code_language(notebook)
    for cell in cells:
        found = _parse_cell(cell, code_language)
        by_lines = by_lines or found.by_lines
        symbols += found.symbols
        references += found.all_references()
    return Parsed(
        chunks=tuple(
            msgspec.structs.replace(chunk, level=levels.get(chunk.title_path, 0)) for chunk in chunks
        ),
        symbols=tuple(symbols),
        references=tuple(references),
        by_lines=by_lines,
    )


def render_cell(text: str) -> str:
    """Return the source of a cell from its JSON lines, or the lines themselves if they hold no source."""
    cell = _load_json(text.strip().rstrip(","))
    if isinstance(cell, dict) and "source" in cell:
        return _join_source(cell["source"])
    # A long cell is cut into parts; its source is in the last one.
    places = list(_SOURCE.finditer(text))
    for place in reversed(places):
        try:
            return _join_source(json.JSONDecoder().raw_decode(text, place.end())[0])
        except ValueError:
            continue
    return text


def render_cells(text: str) -> str:
    """Return the sources of the cells in some lines of a notebook, or in all of it. If several cells are
    incomplete, return the lines themselves, so that nothing is lost."""
    found = _load_json(text)
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        cells = _load_json(f"[{text.rstrip(_AFTER_CELL)}]")
    if cells and all(isinstance(cell, dict) and "source" in cell for cell in cells):
        return "\n\n".join(_join_source(cell["source"]) for cell in cells)
    return render_cell(text) if len(_SOURCE.findall(text)) == 1 else text


def _load_json(text: str) -> Any:
    """Return the decoded JSON, None if the text is not JSON."""
    try:
        # The decoder refuses a byte order mark.
        return json.loads(normalize_text(text))
    except (ValueError, RecursionError):
        return None


def _join_source(source: object) -> str:
    """Return the source of a cell as one string."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def _locate_cells(values: Sequence[Any], text: str, lines: Sequence[str]) -> Iterator[_Cell]:
    """Yield each cell that is a JSON object, with its lines."""
    starts = [0, *accumulate(len(line.encode("utf-8", "surrogatepass")) for line in lines)]
    tree = load_grammar("json").parser.parse(text.encode("utf-8", "surrogatepass"))
    root = tree.root_node.named_children[0]
    for value, node in zip(values, _array_items(_member(root, "cells")), strict=False):
        if isinstance(value, dict):
            strings = _array_items(_member(node, "source"))
            yield _Cell(
                value,
                bisect_right(starts, node.start_byte),
                bisect_right(starts, node.end_byte - 1),
                tuple(bisect_right(starts, string.start_byte) for string in strings),
            )


def _member(node: tree_sitter.Node | None, key: str) -> tree_sitter.Node | None:
    """Return the value of a key. If the key is repeated the last value counts, as it does for the decoder."""
    found = None
    for pair in node.named_children if node else ():
        name = pair.child_by_field_name("key")
        if name is not None and name.text == f'"{key}"'.encode():
            found = pair.child_by_field_name("value")
    return found


def _array_items(node: tree_sitter.Node | None) -> list[tree_sitter.Node]:
    """Return the items of a JSON array, none for any other node."""
    return list(node.named_children) if node is not None and node.type == "array" else []


def _cell_definitions(cells: Sequence[_Cell]) -> tuple[list[DefinitionLines], dict[tuple[str, ...], int]]:
    """Return a definition for each cell, and the heading level of cells that start with a heading."""
    definitions = []
    levels: dict[tuple[str, ...], int] = {}
    open_titles: list[tuple[int, str]] = []
    for number, cell in enumerate(cells, start=1):
        title_path: tuple[str, ...] = (f"cell {number}",)
        is_prose = cell.value.get("cell_type") == "markdown"
        heading = _heading(_join_source(cell.value.get("source", ""))) if is_prose else None
        if heading:
            open_titles = [item for item in open_titles if item[0] < heading.level]
            open_titles.append((heading.level, heading.title))
            title_path = tuple(title for _, title in open_titles)
            levels[title_path] = heading.level
        kind = ChunkKind.SECTION if is_prose else ChunkKind.MODULE
        definitions.append(DefinitionLines(kind, title_path, cell.first, cell.last))
    return definitions, levels


def _heading(source: str) -> Heading | None:
    """Return the heading that a cell starts with, None if it starts with something else."""
    first = next(iter(find_headings(source)), None)
    starts_cell = first is not None and not "".join(split_lines(source)[: first.line - 1]).strip()
    return first if starts_cell else None


def _code_language(notebook: dict[str, Any]) -> str:
    """Return the language of the code cells if its syntax is known, otherwise an empty string. The default is
    Python."""
    metadata = notebook.get("metadata")
    stated = metadata.get("language_info") if isinstance(metadata, dict) else None
    name = str(stated.get("name", "python") if isinstance(stated, dict) else "python").lower()
    known = name in plugins.names("language") and languages.get(name).chunker == "syntax"
    return name if known else ""


def _parse_cell(cell: _Cell, code_language: str) -> Parsed:
    """Return what a cell defines, uses and links to, at lines of the file; nothing if its strings are not
    lines."""
    strings = cell.value.get("source")
    source = _join_source(strings)
    shift = cell.source_lines[0] - 1 if cell.source_lines else 0
    in_order = all(line == shift + number for number, line in enumerate(cell.source_lines, start=1))
    if not in_order or split_lines(source) != strings:
        return Parsed(chunks=())
    kind = cell.value.get("cell_type")
    if kind == "markdown":
        return _shifted(msgspec.structs.replace(chunk_markdown(source), symbols=()), shift)
    if kind == "code" and code_language and not source.startswith(_CELL_MAGIC):
        return _shifted(syntax.parse(_MAGIC.sub(r"\1#", source), code_language), shift)
    return Parsed(chunks=())


def _shifted(parsed: Parsed, shift: int) -> Parsed:
    """Return symbols and references moved down by `shift` lines."""
    return Parsed(
        chunks=(),
        symbols=tuple(
            msgspec.structs.replace(
                symbol, start_line=symbol.start_line + shift, end_line=symbol.end_line + shift
            )
            for symbol in parsed.symbols
        ),
        references=tuple(Reference(use.name, use.label, use.line + shift) for use in parsed.all_references()),
        by_lines=parsed.by_lines,
    )


CHUNKER = Chunker("notebooks", parse)
